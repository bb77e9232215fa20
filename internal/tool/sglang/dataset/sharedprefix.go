package dataset

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/workload"
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
	all       []int32 // what ids are drawn from
	systems   []part
	questions []int // their lengths, by group, prompt and turn
	outputs   []int
	counts    []int // tokens of each question, as the tokenizer counts them
}

// A part is what prompts are put together from.
type part struct {
	ids   []int32
	text  string
	count int // tokens, as the tokenizer counts them
}

// Build draws lengths and system prompts, then question by question the requests.
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
	if err := p.begin(ctx); err != nil {
		return Built{}, err
	}
	talks, err := p.talks(ctx)
	if err != nil {
		return Built{}, err
	}
	b := Built{Turns: d.Turns > 1, Lines: append(p.opening(), p.statistics(talks)...)}
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

// begin draws lengths and system prompts.
func (p *prefixes) begin(ctx context.Context) (err error) {
	n := p.Groups * p.PerGroup
	systems := p.s.lengths(p.System, p.Ratio, p.Groups)
	p.questions = p.s.lengths(p.Question, p.Ratio, n*p.Turns)
	p.outputs = p.s.lengths(p.Output, p.Ratio, n)
	p.counts = make([]int, len(p.questions))
	if p.all, err = p.s.everyID(); err != nil {
		return err
	}
	p.systems = make([]part, p.Groups)
	for i, n := range systems {
		p.systems[i].ids = p.s.draw(p.all, n)
	}
	return workload.Each(ctx, p.Groups, func(ctx context.Context, i int) error { return p.spell(ctx, &p.systems[i]) })
}

// spell makes the text of a part, whose ids are not needed any more, and counts it.
func (p *prefixes) spell(ctx context.Context, part *part) (err error) {
	part.count = len(part.ids)
	if p.asIDs {
		return nil
	}
	part.text, err = p.s.Tokenizer.Decode(ctx, part.ids)
	part.ids = nil
	if err != nil || p.Fast {
		return err
	}
	ids, err := p.s.Tokenizer.Encode(ctx, part.text, true)
	part.count = len(ids)
	return err
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

// promptsAtOnce bounds the prompts held as ids.
const promptsAtOnce = 64

// talks draws the questions in order and makes requests of them beside that: for each
// prompt its turns.
func (p *prefixes) talks(ctx context.Context) ([][]workload.Request, error) {
	talks := make([][]workload.Request, len(p.outputs))
	groups := p.groups()
	makers, each := errgroup.WithContext(ctx)
	makers.SetLimit(promptsAtOnce)
	for i := range talks {
		if each.Err() != nil {
			break
		}
		questions := make([]part, p.Turns)
		for t := range questions {
			questions[t].ids = p.s.draw(p.all, p.questions[i*p.Turns+t])
		}
		makers.Go(func() (err error) {
			talks[i], err = p.turns(each, i, groups[i], questions)
			return err
		})
	}
	if err := makers.Wait(); err != nil {
		return nil, err
	}
	return talks, context.Cause(ctx)
}

// turns makes the requests of prompt i.
func (p *prefixes) turns(ctx context.Context, i, group int, questions []part) ([]workload.Request, error) {
	for t := range questions {
		if err := p.spell(ctx, &questions[t]); err != nil {
			return nil, err
		}
		p.counts[i*p.Turns+t] = questions[t].count
	}
	turns := make([]workload.Request, p.Turns)
	var err error
	if turns[0], err = p.first(ctx, p.systems[group], questions[0]); err != nil {
		return nil, err
	}
	for t := range turns {
		if t > 0 {
			turns[t].Text = questions[t].text
		}
		if p.Turns > 1 {
			turns[t].Messages, turns[t].Text = userMessage(turns[t].Text), ""
		}
		turns[t].OutputTokens = p.outputs[i]
		if p.RoutingKey {
			turns[t].Header = map[string]string{routingHeader: fmt.Sprintf("%s_%s_%d", p.Run, p.Start, group)}
		}
		if err := p.s.Spool.Keep(&turns[t]); err != nil {
			return nil, err
		}
	}
	return turns, nil
}

// first is the first turn: system prompt and question.
func (p *prefixes) first(ctx context.Context, system, question part) (workload.Request, error) {
	if p.asIDs {
		ids := slices.Concat(system.ids, question.ids)
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
