package workload

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Random draws prompts of exact token lengths. Each is a run of consecutive
// ids of the vocabulary from a random start, after a prefix common to all. The
// recipe, down to the order of draws, is that of the dataset "random" of the
// vLLM benchmark (2026), in which prompts can start alike (see Distinct).
type Random struct {
	Requests int
	Input    int // prompt tokens without the prefix; special tokens count
	Output   int
	// InputRange and OutputRange widen a length L to [L(1-r), L(1+r)], uniform;
	// each in [0, 1).
	InputRange, OutputRange float64
	// Inputs and Outputs, unless nil, are the lengths of each request, in place of Input,
	// Output and their ranges: without a draw.
	Inputs, Outputs []int32
	Prefix          int // common to all prompts, in addition to Input
	Seed            uint64
	IDPrefix        string
	// Exact continues where that benchmark gives up bringing a prompt to its length, with
	// draws that no other prompt depends on.
	Exact bool
	// Distinct draws no start twice and takes ids at a distance that follows from the seed, so that
	// a prefix cache knows next to none of the prompts, from this run or from one with another seed.
	Distinct bool
	// Batch is the number of prompts in a request, for servers that embed, score or rank;
	// 0 and 1 are the same. Ranked: the first prompt of a request is a query, which the
	// model reads with each of the others.
	Batch  int
	Ranked bool

	Spool *Spool // for prompts that are too many for memory; nil keeps them there
	// Window is the number of requests beyond which prompts are made as they are due; 0: none is.
	Window int
}

// Check reports everything wrong with r: under requests, input_len, output_len, prefix_len,
// input_range and output_range.
func (r Random) Check() (p plan.Problems) {
	p.Count("requests", r.Requests, 1)
	p.If(r.Inputs != nil && len(r.Inputs) < r.Requests, "input_len", len(r.Inputs),
		"has fewer values than there are requests")
	p.If(r.Outputs != nil && len(r.Outputs) < r.Requests, "output_len", len(r.Outputs),
		"has fewer values than there are requests")
	p.Tokens("input_len", r.Input, 0)
	if r.Outputs == nil {
		p.Tokens("output_len", r.Output, 1)
	}
	p.Tokens("prefix_len", r.Prefix, 0)
	p.If(!(r.InputRange >= 0 && r.InputRange < 1), "input_range", r.InputRange, "must be at least 0 and less than 1")
	if lo, _ := spread(float64(r.Input), r.InputRange, 0); p == nil && r.Inputs == nil && int64(r.Prefix)+lo < 1 {
		p = r.emptyPrompt(0)
	}
	p.If(!(r.OutputRange >= 0 && r.OutputRange < 1), "output_range", r.OutputRange, "must be at least 0 and less than 1")
	if p == nil {
		p.Product("input_len", plan.MaxTotal, "tokens", r.Requests, r.Prefix+r.longest())
	}
	return p
}

// longest is the longest length of a prompt without the prefix.
func (r Random) longest() int {
	if len(r.Inputs) > 0 {
		return int(slices.Max(r.Inputs))
	}
	_, hi := spread(float64(r.Input), r.InputRange, 0)
	return int(hi)
}

// emptyPrompt is the problem when the shortest prompt has no tokens except those
// that the tokenizer adds around it.
func (r Random) emptyPrompt(around int) (p plan.Problems) {
	adds := ""
	if around > 0 {
		adds = fmt.Sprintf("of which the tokenizer adds %d itself, ", around)
	}
	p.If(true, "input_len", r.Input, "%swith range %v allows an empty prompt; raise it or the prefix", adds, r.InputRange)
	return p
}

// Build draws the workload. Without a tokenizer the prompts are token ids.
func (r Random) Build(ctx context.Context, v Vocabulary, tok Tokenizer) (Workload, error) {
	d, err := r.begin(ctx, v, v.Special, tok)
	if err != nil {
		return Workload{}, err
	}
	if r.Batch > 1 {
		return r.batched(ctx, d)
	}
	if r.Window > 0 && r.Requests > r.Window {
		return d.due(ctx), nil
	}
	requests := make([]Request, r.Requests)
	err = d.each(ctx, func(i int, req Request) error {
		requests[i] = req
		return r.Spool.Spill(&requests[i])
	})
	number(requests, r.IDPrefix)
	return Workload{Requests: requests, Notes: d.notes()}, err
}

// A draw is a random workload in the making.
type draw struct {
	rng              *pyrand.Generator
	random           Random
	inputs, outputs  []int32
	offsets          []int32
	step             int64 // from one id of a prompt to the next; 1 unless prompts are distinct
	allowed          []int32
	prefix           []int32
	fix              fixer
	surplus, inexact int
	hopeless         int // prompts for which no other end had the right length
}

// begin makes the draws that precede the prompts.
func (r Random) begin(ctx context.Context, v Vocabulary, forbidden []int32, tok Tokenizer) (*draw, error) {
	if err := r.Check().Err(); err != nil {
		return nil, err
	}
	d := &draw{rng: pyrand.NewGenerator(r.Seed), random: r, step: 1, allowed: Without(consecutive(v.Size), forbidden...)}
	d.fix = fixer{tok: tok, rng: d.rng, vocab: int64(v.Size)}
	if err := d.lengths(r, v); err != nil {
		return nil, err
	}
	if r.Distinct {
		d.part()
	}
	if err := d.drawPrefix(ctx, r.Prefix); err != nil {
		return nil, err
	}
	return d, nil
}

// each calls f with the requests in order. A few ahead, in parallel, prompts are brought
// to their length as far as that needs no draw.
func (d *draw) each(ctx context.Context, f func(i int, req Request) error) error {
	start := func(ctx context.Context, i int) (sequence, error) {
		return d.fix.start(ctx, d.ids(i), d.wanted(i))
	}
	i := 0
	for s, err := range InOrder(ctx, len(d.inputs), start) {
		if err != nil {
			return err
		}
		req, err := d.request(ctx, i, &s)
		if err == nil {
			err = f(i, req)
		}
		if err != nil {
			return err
		}
		i++
	}
	return nil
}

// lengths draws input lengths, output lengths and starts, in this order.
func (d *draw) lengths(r Random, v Vocabulary) error {
	if len(d.allowed) == 0 {
		return fmt.Errorf("a vocabulary of %d ids leaves none to draw from", v.Size)
	}
	input := float64(max(0, r.Input-v.Around))
	inLo, inHi := spread(input, r.InputRange, 0)
	if r.Inputs == nil && int64(r.Prefix)+inLo < 1 {
		return r.emptyPrompt(v.Around)
	}
	n := r.Requests
	if d.inputs = r.Inputs; d.inputs == nil {
		d.inputs = fill(d.rng, n, inLo, inHi+1)
	} else {
		d.inputs = slices.Clone(d.inputs[:n])
		for i, length := range d.inputs {
			d.inputs[i] = max(length-int32(v.Around), int32(1-min(r.Prefix, 1)))
		}
	}
	if outLo, outHi := spread(float64(r.Output), r.OutputRange, 1); r.Outputs == nil {
		d.outputs = fill(d.rng, n, outLo, outHi+1)
	} else {
		d.outputs = r.Outputs[:n]
	}
	d.offsets = fill(d.rng, n, 0, int64(v.Size))
	return nil
}

// spread is the range of a length: [floor(l(1-r)), ceil(l(1+r))], at least low.
func spread(l, r, low float64) (lo, hi int64) {
	return int64(max(low, math.Floor(l*(1-r)))), int64(max(low, math.Ceil(l*(1+r))))
}

func (d *draw) drawPrefix(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = d.allowed[d.rng.Integers(0, int64(len(d.allowed)))]
	}
	s, err := d.fix.start(ctx, ids, n)
	if err == nil {
		err = d.fix.finish(ctx, &s)
	}
	d.prefix = s.ids
	return err
}

// ids is the prompt of request i before any correction.
func (d *draw) ids(i int) []int32 {
	ids := slices.Grow(slices.Clone(d.prefix), int(d.inputs[i]))
	n := int64(len(d.allowed))
	at, step := (int64(d.offsets[i])+int64(i))%n, d.step+int64(i)/n
	for range d.inputs[i] {
		ids = append(ids, d.allowed[at%n])
		at += step
	}
	return ids
}

// steps is the number of distances that seeds choose from.
const steps = 64

// part takes the prompts apart: each start that was drawn before gives way to the next one
// that was not, and when all have been, they serve again, at another distance.
func (d *draw) part() {
	n := int64(len(d.allowed))
	used := make([]bool, n)
	for i := range d.offsets {
		if int64(i)%n == 0 {
			clear(used)
		}
		at := (int64(d.offsets[i]) + int64(i)) % n
		for used[at] {
			at = (at + 1) % n
		}
		used[at] = true
		d.offsets[i] = int32((at + n - int64(i)%n) % n)
	}
	d.step = pyrand.NewGenerator(d.random.Seed^1<<33).Integers(1, 1+steps)
}

// request completes request i from how far s came; calls must come in order, since
// they draw.
func (d *draw) request(ctx context.Context, i int, s *sequence) (Request, error) {
	if err := d.fix.finish(ctx, s); err != nil {
		return Request{}, err
	}
	if d.random.Exact {
		if err := d.insist(ctx, i, s); err != nil {
			return Request{}, err
		}
	}
	if off := len(s.ids) - s.want; off != 0 {
		d.inexact++
		d.surplus += off
	}
	req := Request{Text: s.text, PromptTokens: len(s.ids), OutputTokens: int(d.outputs[i])}
	if d.fix.tok == nil {
		req.Tokens = s.ids
	}
	return req, nil
}

// The limits for drawing other ends of a prompt that does not have its length.
const (
	otherEnds   = 20 // attempts
	endTokens   = 4
	maxHopeless = 2 // prompts without success before it is given up
)

// insist draws other ends of a prompt until it has its length.
func (d *draw) insist(ctx context.Context, i int, s *sequence) error {
	fix := d.fix
	fix.rng = pyrand.NewGenerator(d.random.Seed ^ uint64(i+1)<<34) // beyond the seeds of a run
	for range otherEnds {
		if len(s.ids) == s.want || d.hopeless > maxHopeless {
			return nil
		}
		keep := max(len(d.prefix), min(len(s.ids), s.want)-endTokens)
		s.ids = s.ids[:min(keep, len(s.ids))]
		s.tries, s.done = corrections, false
		if err := fix.finish(ctx, s); err != nil {
			return err
		}
	}
	if len(s.ids) != s.want {
		d.hopeless++
	}
	return nil
}

func (d *draw) notes() []plan.Message {
	return notesOf(d.inexact, len(d.inputs), d.surplus)
}

// notesOf notes prompts that do not have their length.
func notesOf(inexact, of, surplus int) (notes []plan.Message) {
	Note(&notes, inexact > 0, PromptsInexact, "inexact", inexact, "of", of, "surplus", surplus)
	return notes
}
