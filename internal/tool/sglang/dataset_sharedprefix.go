package sglang

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A sharedPrefix is the dataset generated-shared-prefix: groups of prompts that begin
// with the same system prompt, both of random ids.
type sharedPrefix struct {
	common
	Groups   int      `json:"groups" flag:"gsp-num-groups"`
	PerGroup int      `json:"prompts_per_group" flag:"gsp-prompts-per-group"`
	System   int      `json:"system_prompt_len" flag:"gsp-system-prompt-len"`
	Question int      `json:"question_len" flag:"gsp-question-len"`
	Output   int      `json:"output_len" flag:"gsp-output-len"`
	Ratio    float64  `json:"range_ratio" flag:"gsp-range-ratio"` // lengths are uniform in [L·ratio, L]
	Turns    int      `json:"turns" flag:"gsp-num-turns"`
	Ordered  bool     `json:"ordered,omitempty" flag:"gsp-ordered"`        // groups are not mixed
	Fast     bool     `json:"uncounted,omitempty" flag:"gsp-fast-prepare"` // prompts are not counted
	Zipf     *float64 `json:"zipf_alpha,omitempty" flag:"gsp-zipf-alpha"`  // groups are drawn by Zipf's law
	AsIDs    bool     `json:"as_ids,omitempty" flag:"tokenize-prompt"`     // prompts are sent as token ids
	// RoutingKey begins the routing key of a request, its group follows; empty: there is
	// none.
	RoutingKey string `json:"routing_key,omitempty"`
}

// SetRoutingKey has requests say which group they are of.
func (d *sharedPrefix) SetRoutingKey(key string) { d.RoutingKey = key }

// routingHeader is where SGLang's router looks for the key of a request.
const routingHeader = "X-SMG-Routing-Key"

// longOnes is what part of all tokens those may be that stay in memory.
const longOnes = 1 << 6

func (d *sharedPrefix) Check(*workload.Source) plan.Problems {
	p := d.check()
	p.Count("groups", d.Groups, 1)
	p.Count("prompts_per_group", d.PerGroup, 1)
	p.Tokens("system_prompt_len", d.System, 0)
	p.Tokens("question_len", d.Question, 0)
	p.Tokens("output_len", d.Output, 0)
	p.Share("range_ratio", d.Ratio)
	p.Count("turns", d.Turns, 1)
	if p == nil {
		p.Product("prompts_per_group", plan.MaxRequests, "requests", d.Groups, d.PerGroup, d.Turns)
		p.Product("question_len", plan.MaxTotal, "tokens", d.Groups, d.PerGroup, d.Turns, d.System+d.Question)
		p.Product("system_prompt_len", plan.MaxTotal/longOnes, "tokens held", d.Groups, d.System)
	}
	if d.Zipf != nil {
		p.If(math.IsInf(*d.Zipf, 0) || !(*d.Zipf > 0), "zipf_alpha", *d.Zipf, "must be finite and above 0")
	}
	p.If(d.AsIDs && d.Turns > 1, "turns", d.Turns, "turns are texts, and token ids are to be sent")
	return p
}

func (*sharedPrefix) Read(context.Context, *workload.Source) error { return nil }

func (d *sharedPrefix) Describe() plan.Message {
	return workload.Describe("generated-shared-prefix", plan.Msg(loadGroups, "groups", d.Groups, "prompts", d.PerGroup, "prefix", d.System, "suffix", d.Question, "output", d.Output))
}

type prefixes struct {
	*sharedPrefix
	s         *source
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
func (d *sharedPrefix) Build(ctx context.Context, from *workload.Source) (w workload.Workload, err error) {
	s := d.source(from)
	if d.Turns > 1 {
		err = s.needText("the turns of a conversation are texts")
	} else {
		err = s.NeedText(false)
	}
	if err != nil {
		return w, err
	}
	p := &prefixes{sharedPrefix: d, s: s, asIDs: d.AsIDs || s.Tokens == nil}
	if err := p.begin(ctx); err != nil {
		return w, err
	}
	talks, err := p.talks(ctx)
	if err != nil {
		return w, err
	}
	w.Turns, w.Lines = d.Turns > 1, append(p.opening(), p.statistics(talks)...)
	if !d.Ordered {
		s.python.Shuffle(len(talks), func(i, j int) { talks[i], talks[j] = talks[j], talks[i] })
	}
	w.Requests, w.Notes = chained(talks), s.drawNotes()
	if p.asIDs && !d.AsIDs {
		w.Notes = append(w.Notes, plan.Msg(idsForText))
	}
	return s.finished(w), nil
}

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

// spell makes the text of a part, counts it, and drops its ids.
func (p *prefixes) spell(ctx context.Context, part *part) (err error) {
	part.count = len(part.ids)
	if p.asIDs {
		return nil
	}
	part.text, err = p.s.Tokens.Decode(ctx, part.ids)
	part.ids = nil
	if err != nil || p.Fast {
		return err
	}
	part.count, err = p.s.Count(ctx, part.text)
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
		rng := pyrand.NewGenerator(p.s.Seed)
		ranks := pyrand.NewWeights(pyrand.Zipf(p.Groups, *p.Zipf))
		for i := range groups {
			groups[i] = ranks.Index(rng.Float64())
		}
	}
	return groups
}

// promptsAtOnce bounds the prompts held as ids.
const promptsAtOnce = 64

// talks draws the questions in order and makes requests of them in parallel: for each prompt its
// turns.
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
		if p.RoutingKey != "" {
			turns[t].Header = map[string]string{routingHeader: fmt.Sprintf("%s_%d", p.RoutingKey, group)}
		}
		if err := p.s.Spool.Spill(&turns[t]); err != nil {
			return nil, err
		}
	}
	return turns, nil
}

// first is the first turn: system prompt and question.
func (p *prefixes) first(ctx context.Context, system, question part) (r workload.Request, err error) {
	if p.asIDs {
		ids := slices.Concat(system.ids, question.ids)
		return workload.Request{Tokens: ids, PromptTokens: len(ids)}, nil
	}
	r = workload.Request{Text: system.text + "\n\n" + question.text, PromptTokens: 1}
	if !p.Fast {
		r.PromptTokens, err = p.s.Count(ctx, r.Text)
	}
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
