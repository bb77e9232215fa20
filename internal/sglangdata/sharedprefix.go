package sglangdata

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/pitot-bench/pitot/internal/pyrand"
	"github.com/pitot-bench/pitot/internal/workload"
)

// SharedPrefix is the dataset generated-shared-prefix: groups of prompts that begin
// with the same system prompt, both of random ids.
type SharedPrefix struct {
	Groups     int      // --gsp-num-groups
	PerGroup   int      // --gsp-prompts-per-group
	System     int      // --gsp-system-prompt-len
	Question   int      // --gsp-question-len
	Output     int      // --gsp-output-len
	Ratio      float64  // --gsp-range-ratio
	Turns      int      // --gsp-num-turns
	Ordered    bool     // --gsp-ordered
	Fast       bool     // --gsp-fast-prepare: prompts are not counted
	Zipf       *float64 // --gsp-zipf-alpha, with --gsp-group-distribution zipf; nil = uniform
	AsIDs      bool     // --tokenize-prompt
	RoutingKey bool     // --gsp-send-routing-key
	// Run and Start begin a routing key: 8 hex digits, and the local time as
	// YYYYmmddHHMMSS.
	Run, Start string
}

// routingHeader is where SGLang's router looks for the key of a request.
const routingHeader = "X-SMG-Routing-Key"

// Validate reports everything wrong with d at once.
func (d SharedPrefix) Validate() error {
	errs := []error{
		atLeast("--gsp-num-groups", d.Groups, 1),
		atLeast("--gsp-prompts-per-group", d.PerGroup, 1),
		atLeast("--gsp-system-prompt-len", d.System, 0),
		atLeast("--gsp-question-len", d.Question, 0),
		atLeast("--gsp-output-len", d.Output, 0),
		checkRatio("--gsp-range-ratio", d.Ratio),
		atLeast("--gsp-num-turns", d.Turns, 1),
	}
	if d.Zipf != nil && (math.IsInf(*d.Zipf, 0) || !(*d.Zipf > 0)) {
		errs = append(errs, fmt.Errorf("--gsp-zipf-alpha %v: must be finite and above 0", *d.Zipf))
	}
	if d.AsIDs && d.Turns > 1 {
		errs = append(errs, fmt.Errorf("--tokenize-prompt sends token ids, and turns are texts: it takes --gsp-num-turns 1, not %d", d.Turns))
	}
	return errors.Join(errs...)
}

// prefixes is a SharedPrefix in the making.
type prefixes struct {
	SharedPrefix
	s         *Source
	asIDs     bool
	systems   []part
	questions []part // by group, prompt and turn
	outputs   []int
}

// A part is what prompts are put together from.
type part struct {
	ids  []int32
	text string
}

// Build draws lengths, then all parts, and puts them together.
func (d SharedPrefix) Build(ctx context.Context, s *Source) (Built, error) {
	if err := d.Validate(); err != nil {
		return Built{}, err
	}
	if d.Turns > 1 {
		if err := s.needTokenizer("the turns of a conversation are texts"); err != nil {
			return Built{}, err
		}
	}
	p := &prefixes{SharedPrefix: d, s: s, asIDs: d.AsIDs || s.Tokenizer == nil}
	if err := p.draw(ctx); err != nil {
		return Built{}, err
	}
	talks, err := p.assemble(ctx)
	if err != nil {
		return Built{}, err
	}
	b := Built{Turns: d.Turns > 1, Lines: p.opening()}
	stats, err := p.statistics(ctx, talks)
	if err != nil {
		return Built{}, err
	}
	b.Lines = append(b.Lines, stats...)
	if !d.Ordered {
		s.Python.Shuffle(len(talks), func(i, j int) { talks[i], talks[j] = talks[j], talks[i] })
	}
	b.Requests = chained(talks)
	b.Notes = s.drawNotes()
	if p.asIDs && !d.AsIDs {
		b.Notes = append(b.Notes, "prompts are token ids: there is no tokenizer to make text of them")
	}
	return b, nil
}

// draw makes all draws but those of the order, and the texts of what was drawn.
func (p *prefixes) draw(ctx context.Context) error {
	n := p.Groups * p.PerGroup
	systems := p.s.lengths(p.System, p.Ratio, p.Groups)
	questions := p.s.lengths(p.Question, p.Ratio, n*p.Turns)
	p.outputs = p.s.lengths(p.Output, p.Ratio, n)
	all, err := p.s.everyID()
	if err != nil {
		return err
	}
	p.systems, p.questions = p.s.parts(all, systems), p.s.parts(all, questions)
	if p.asIDs {
		return nil
	}
	return errors.Join(p.s.spell(ctx, p.systems), p.s.spell(ctx, p.questions))
}

func (s *Source) parts(all []int32, lengths []int) []part {
	parts := make([]part, len(lengths))
	for i, n := range lengths {
		parts[i].ids = s.draw(all, n)
	}
	return parts
}

// spell makes the texts of parts, whose ids are not needed any more.
func (s *Source) spell(ctx context.Context, parts []part) error {
	return workload.Each(ctx, len(parts), func(ctx context.Context, i int) (err error) {
		parts[i].text, err = s.Tokenizer.Decode(ctx, parts[i].ids)
		parts[i].ids = nil
		return err
	})
}

// groups is the group of each prompt. By Zipf's law they are drawn by a generator of
// their own, so that everything else is as without it.
func (p *prefixes) groups() []int {
	groups := make([]int, len(p.outputs))
	for i := range groups {
		groups[i] = i / p.PerGroup
	}
	if p.Zipf != nil {
		rng := pyrand.NewGenerator(uint64(p.s.Seed))
		ranks := pyrand.NewWeights(pyrand.Zipf(p.Groups, *p.Zipf))
		for i := range groups {
			groups[i] = ranks.Index(rng.Float64())
		}
	}
	return groups
}

// assemble makes the requests: for each prompt its turns.
func (p *prefixes) assemble(ctx context.Context) ([][]workload.Request, error) {
	talks := make([][]workload.Request, len(p.outputs))
	groups := p.groups()
	return talks, workload.Each(ctx, len(talks), func(ctx context.Context, i int) (err error) {
		questions := p.questions[i*p.Turns : (i+1)*p.Turns]
		first, err := p.first(ctx, p.systems[groups[i]], questions[0])
		if err != nil {
			return err
		}
		turns := make([]workload.Request, p.Turns)
		turns[0] = first
		for t := 1; t < p.Turns; t++ {
			turns[t].Text = questions[t].text
		}
		for t := range turns {
			turns[t].OutputTokens = p.outputs[i]
			if p.RoutingKey {
				turns[t].Header = map[string]string{routingHeader: fmt.Sprintf("%s_%s_%d", p.Run, p.Start, groups[i])}
			}
			if p.Turns > 1 {
				turns[t].Messages, turns[t].Text = userMessage(turns[t].Text), ""
			}
		}
		talks[i] = turns
		return nil
	})
}

// first is the first turn: system prompt and question.
func (p *prefixes) first(ctx context.Context, system, question part) (workload.Request, error) {
	if p.asIDs {
		ids := append(append(make([]int32, 0, len(system.ids)+len(question.ids)), system.ids...), question.ids...)
		return workload.Request{Tokens: ids, PromptTokens: len(ids)}, nil
	}
	r := workload.Request{Text: system.text + "\n\n" + question.text, PromptTokens: 1}
	if p.Fast {
		return r, nil
	}
	ids, err := p.s.Tokenizer.Encode(ctx, r.Text, true)
	r.PromptTokens = len(ids)
	return r, err
}

// chained makes one list of conversations, in which each turn waits for the answer
// before it.
func chained(talks [][]workload.Request) []workload.Request {
	var out []workload.Request
	for i, turns := range talks {
		for t := range turns {
			if len(turns) > 1 {
				turns[t].Turn = workload.Turn{Session: strconv.Itoa(i), Number: t, Followed: t < len(turns)-1}
			}
			if t > 0 {
				turns[t].After, turns[t].Remember = len(out), true
			}
			out = append(out, turns[t])
		}
	}
	return out
}
