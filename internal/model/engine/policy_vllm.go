package engine

import "slices"

// policy returns the policy named by s, which has its defaults filled in.
func (s Scheduler) policy() Policy {
	switch s.Policy {
	case "sglang":
		return newSGLang(s)
	case "static":
		return &static{Scheduler: s}
	}
	return vllm{s}
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
// a free slot for its LoRA adapter is skipped. (vLLM 0.30,
// v1/core/sched/scheduler.py)
type vllm struct{ Scheduler }

// Plan fills the step.
func (v vllm) Plan(c *Core) {
	budget, preempted := v.run(c)
	for preempted && len(c.plan.decodes) == 0 && len(c.plan.prompts) == 0 {
		budget, preempted = v.run(c) // an empty step takes no time
	}
	if !preempted {
		v.admit(c, budget)
	}
}

// run gives shares to the running sequences.
func (v vllm) run(c *Core) (budget int, preempted bool) {
	i, budget := c.decode(0, v.TokenBudget)
	for budget > 0 && i < len(c.running) {
		s := c.running[i]
		n := c.wants(s, budget)
		for n > 0 && !c.give(s, n) { // 0: the encoder has no budget for its image
			victim := v.victim(c)
			if slices.Index(c.running, victim) < i {
				i--
			}
			preempted = true
			budget += c.preempt(victim)
			if c.ranked {
				c.enqueue(victim)
			} else {
				c.waiting.pushFirst(victim)
			}
			if victim == s {
				return budget, true
			}
		}
		i, budget = c.decode(i+1, budget-n)
	}
	return budget, preempted
}

// victim is the running sequence to preempt.
func (v vllm) victim(c *Core) *Seq {
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

func (v vllm) admit(c *Core, budget int) {
	for i := 0; i < c.waiting.len() && budget > 0 && len(c.running) < v.MaxSequences; {
		if !c.adapters.fit(c.waiting.at(i).Adapter) {
			i++
			continue
		}
		n := c.admit(i, budget, v.WholePrompts, nil)
		if n == 0 {
			return
		}
		budget -= n
	}
}
