package engine

import (
	"math"
	"slices"
)

// sglang is the scheduler of SGLang: prompts go first. A step is either a batch of
// prompts, as long as some fit, or one token for every running sequence; with Mixed
// it is both.
//
// The chunk cuts a prompt, the budget never does: a prompt that would exceed it
// goes with the next batch, or alone.
//
// A prompt fits if there is memory for it and its full answer, in addition to the
// expected further output of the running sequences: ratio times their maximum. That
// ratio falls from step to step, and is reset after an idle period. When it has
// fallen too low and memory runs out, running sequences are retracted, those with
// the shortest answers first, and the ratio rises again.
//
// Once a prompt did not fit, or all places were taken, the batch is full: no
// request is admitted, however far the ratio falls, until a decode step has found
// it smaller. A new batch is never full. A request without a free slot for its LoRA
// adapter is skipped, like one that came too late for the plan. (SGLang 0.5, managers/scheduler.py,
// schedule_policy.py and schedule_batch.py)
type sglang struct {
	Scheduler
	ratio, floor, decay float64
	full                bool
	had                 int // sequences of the previous step
}

// Constants of SGLang's new_token_ratio: its floor as a share of the start, the
// steps until it gets there, the largest output of a sequence that it considers,
// and the steps that the ratio makes room for after a retraction.
const (
	ratioFloor   = 0.14
	ratioSteps   = 600
	outputClip   = 4096
	retractSteps = 20
)

// Plan fills the step.
func (p *sglang) Plan(c *Core) {
	if c.rested {
		p.ratio = p.Reserve
	}
	n := len(c.running)
	p.full = p.full && n > 0
	p.prefill(c)
	p.full = p.full && n > 0 && n >= p.had
	if len(c.plan.prompts) == 0 || p.Mixed {
		p.decode(c)
	}
	p.had = len(c.running)
}

// Repeat lowers the ratio if no waiting request can be admitted.
func (p *sglang) Repeat(c *Core) bool {
	n := len(c.running)
	if c.rested || n != p.had || c.waiting.len() > 0 && !p.full {
		return false
	}
	p.lower()
	return true
}

// lower lowers the ratio by a decode step.
func (p *sglang) lower() { p.ratio = max(p.ratio-p.decay, p.floor) }

// prefill gives shares to prompts: first to a partial one, then to waiting ones.
// With disaggregation these include sequences that were prefilled elsewhere and
// only decode.
func (p *sglang) prefill(c *Core) {
	budget, chunk := p.TokenBudget, p.Chunk
	if p.WholePrompts {
		chunk = math.MaxInt
	}
	decodes := p.mixed(c)
	budget, chunk = budget-decodes, chunk-decodes
	for _, s := range c.running[c.lanes.len():] {
		if !s.decodes() {
			n := c.wants(s, chunk)
			if n > 0 && c.give(s, n) {
				budget, chunk = budget-n, chunk-n
			}
		}
	}
	if c.waiting.len() == 0 || p.full {
		return
	}
	if p.Order == "longest-prefix" {
		p.sort(c)
	}
	p.admit(c, budget, chunk, p.reserved(c)+decodes)
}

// admit gives shares to waiting prompts until the batch, the chunk or memory is
// full.
func (p *sglang) admit(c *Core, budget, chunk, reserved int) {
	for i := 0; i < c.waiting.len() && budget > 0 && chunk > 0; {
		s := c.waiting.at(i)
		if !c.eligible(s) {
			i++
			continue
		}
		if p.full = len(c.running) >= p.MaxSequences; p.full || p.crowded(c) {
			return
		}
		n := c.admit(i, chunk, p.WholePrompts, func() bool {
			p.full = len(c.running) > 0 && c.lacks(s) >= c.available()-reserved
			return !p.full && (len(c.plan.prompts) == 0 || s.length-s.computed < budget)
		})
		if n == 0 {
			return
		}
		budget, chunk, reserved = budget-n, chunk-n, reserved+c.lacks(s)
	}
}

// mixed is the number of sequences that decode alongside the prompts, in the same
// budget.
func (p *sglang) mixed(c *Core) (n int) {
	if !p.Mixed {
		return 0
	}
	n = c.lanes.len()
	for _, s := range c.running[n:] {
		if s.decodes() {
			n++
		}
	}
	return n
}

// reserved is the memory reserved for running sequences: the expected output of
// decoding ones, and the maximum of the others.
func (p *sglang) reserved(c *Core) (tokens int) {
	c.settle()
	left := 0
	for _, s := range c.running {
		if s.decodes() {
			left += min(s.remaining(), outputClip)
		} else {
			tokens += c.lacks(s)
		}
	}
	return tokens + int(float64(left)*p.ratio)
}

// lacks is the memory that s still needs, for the rest of its prompt and its
// answer, and for its partial block.
func (c *Core) lacks(s *Seq) int {
	return max(s.length-s.room, 0) + min(s.remaining(), outputClip) + c.block
}

// sort puts the longest cached prefixes first, unless too many requests wait for
// the search to pay off.
func (p *sglang) sort(c *Core) {
	const most = 128
	if c.waiting.len() > most {
		return
	}
	found := make(map[*Seq]int)
	for _, s := range c.waiting.all() {
		found[s] = c.kv.Match(s)
		c.kv.Release(s)
	}
	slices.SortStableFunc(c.waiting.all(), func(a, b *Seq) int { return found[b] - found[a] })
}

// decode gives a token to every running sequence, retracting some if memory is
// insufficient. In a mixed step the ratio stays, and a sequence without memory
// waits.
func (p *sglang) decode(c *Core) {
	if len(c.plan.prompts) == 0 {
		p.lower()
		if p.short(c, 1+c.drafts) {
			p.retract(c)
		}
	}
	c.decodeAll()
}

// short reports whether memory is insufficient for n more tokens of every sequence.
func (p *sglang) short(c *Core, n int) bool {
	need, lanes := 0, c.lanes.len()
	if c.lanes.soonest <= c.lanes.steps { // otherwise each has memory for a token
		c.settle()
		lanes = 0
	}
	for _, s := range c.running[lanes:] {
		if s.decodes() {
			need += max((s.computed+n+c.block-1)/c.block-s.blocks, 0)
		}
	}
	return need*c.block > c.available()
}

// retract sends sequences back to the queue until the others have memory; one
// always remains.
func (p *sglang) retract(c *Core) {
	c.dissolve()
	for len(c.running) > 1 && p.short(c, 1+c.drafts) {
		victim := c.running[0]
		for _, s := range c.running {
			if s.emitted < victim.emitted || s.emitted == victim.emitted && s.PromptTokens >= victim.PromptTokens {
				victim = s
			}
		}
		c.preempt(victim)
		c.waiting.pushLast(victim)
	}
	made, most := 0, 0
	for _, s := range c.running {
		made, most = made+int(s.emitted), most+s.OutputTokens
	}
	p.ratio = min(float64(made+retractSteps*len(c.running))/float64(most+1), 1)
	p.full = false
}
