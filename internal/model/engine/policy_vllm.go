package engine

import "slices"

// policy makes the policy that s names, defaults filled in.
func (s Scheduler) policy() Policy {
	switch s.Policy {
	case "sglang":
		return newSGLang(s)
	case "static":
		return &static{Scheduler: s}
	}
	return vllm{s}
}

// vllm is the scheduler of vLLM's V1 engine. One budget of tokens serves all;
// running sequences come first, each with what it has to do, then waiting ones,
// so that prompts fill in chunks what decoding leaves:
//
//	budget │ d d d d d d │ chunk of a prompt ──▶│ next prompt, cut ──▶│
//	        running       running, unfinished    admitted
//
// A running sequence for which there is no memory pushes out the one that came
// last (or matters least), which is computed again from the start; then nobody
// is admitted in this step. The first waiting one that does not fit ends
// admission; one whose LoRA adapter finds no slot is passed over. (vLLM 0.30,
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

// victim is the running sequence that makes way.
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
