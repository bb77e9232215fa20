package engine

import "slices"

// policy returns the policy named by s, which has its defaults filled in.
func (s Scheduler) policy() Policy {
	switch s.Policy {
	case "sglang":
		p := &sglang{Scheduler: s, ratio: s.Reserve, floor: s.Reserve * ratioFloor}
		p.decay = (p.ratio - p.floor) / ratioSteps
		return p
	case "static":
		return &static{Scheduler: s}
	}
	return &vllm{s}
}

// vllm is the scheduler of vLLM's V1 engine. All share one token budget; running
// sequences come first, each with its pending work, then waiting ones, so that
// prompts fill in chunks the budget that decoding leaves:
//
//	budget │ d d d d d d │ chunk of a prompt ──▶│ next prompt, cut ──▶│
//	        running       running, unfinished    admitted
//
// A running sequence without memory preempts the one that came last (or has the
// lowest priority), which is recomputed from the start; then no request is admitted
// in this step. The first waiting one that does not fit ends admission; one without
// a free slot for its LoRA adapter, or that came too late for the plan, is skipped.
// (vLLM 0.30, v1/core/sched/scheduler.py)
//
// With a prefill budget, which vLLM does not have, prompts have tokens of their own. With
// even prompts no prompt has more than its part of them.
type vllm struct{ Scheduler }

// A budget is the tokens left of a step.
type budget struct {
	decodes, prompts int  // for sequences that decode, and for prompts
	shared           bool // they are the same tokens
}

func (v *vllm) budget() budget {
	if v.PrefillBudget > 0 {
		return budget{decodes: v.TokenBudget, prompts: v.PrefillBudget}
	}
	return budget{v.TokenBudget, v.TokenBudget, true}
}

// remaining is the tokens left for a sequence.
func (b *budget) remaining(decodes bool) int {
	if decodes {
		return b.decodes
	}
	return b.prompts
}

// take takes n tokens for a sequence.
func (b *budget) take(n int, decodes bool) {
	if decodes || b.shared {
		b.decodes -= n
	}
	if !decodes || b.shared {
		b.prompts -= n
	}
}

func (b *budget) spent() bool { return b.decodes <= 0 && b.prompts <= 0 }

// decode gives tokens to running sequences from number i on, while they decode.
func (b *budget) decode(c *Core, i int) (next int) {
	next, left := c.decode(i, b.decodes)
	b.take(b.decodes-left, true)
	return next
}

func (v *vllm) Plan(c *Core) {
	if v.EvenPrompts {
		c.part = v.part(c)
	}
	left, preempted := v.run(c)
	for preempted && c.plan.empty() {
		left, preempted = v.run(c) // an empty step takes no time
	}
	if !preempted {
		v.admit(c, left)
	}
}

// Repeat reports whether no waiting sequence can be admitted.
func (v *vllm) Repeat(c *Core) bool {
	return c.waiting.len() == 0 || len(c.running) >= v.MaxSequences
}

// run gives shares to the running sequences.
func (v *vllm) run(c *Core) (b budget, preempted bool) {
	b = v.budget()
	i := b.decode(c, 0)
	for !b.spent() && i < len(c.running) {
		s := c.running[i]
		n := c.wants(s, b.remaining(s.decodes()))
		for n > 0 && !c.give(s, n) { // 0: the encoder has no budget for its image
			victim := v.victim(c)
			if slices.Index(c.running, victim) < i {
				i--
			}
			preempted = true
			decoded := victim.decodes()
			b.take(-c.preempt(victim), decoded)
			if c.ranked {
				c.enqueue(victim)
			} else {
				c.waiting.pushFirst(victim)
			}
			if victim == s {
				return b, true
			}
		}
		b.take(n, s.decodes())
		i = b.decode(c, i+1)
	}
	return b, preempted
}

// victim is the running sequence to preempt.
func (v *vllm) victim(c *Core) *Seq {
	if !c.ranked {
		return c.running[len(c.running)-1]
	}
	return slices.MaxFunc(c.running, func(a, b *Seq) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
}

// crowded reports whether a step has as many prompts as it may.
func (s *Scheduler) crowded(c *Core) bool {
	return s.MaxPrompts > 0 && len(c.plan.prompts) >= s.MaxPrompts
}

func (v *vllm) admit(c *Core, b budget) {
	for i := 0; i < c.waiting.len() && !b.spent() && len(c.running) < v.MaxSequences; {
		s := c.waiting.at(i)
		if !c.eligible(s) {
			i++
			continue
		}
		decodes := s.decodes() // it was prefilled elsewhere
		if b.remaining(decodes) <= 0 || !decodes && v.crowded(c) {
			return
		}
		n := c.admit(i, b.remaining(decodes), v.WholePrompts, nil)
		if n == 0 {
			return
		}
		b.take(n, decodes)
	}
}
