package engine

import "math"

// static takes a batch of waiting sequences, prefills them together, and takes
// no other until the last of them is done. Those that are done before it go on
// as padding and cost as much. Memory is set aside for whole answers.
type static struct {
	Scheduler
	batch int // sequences of the batch under way, padding among them
}

// Plan fills the step.
func (p *static) Plan(c *Core) {
	if len(c.running) > 0 {
		c.decode(0, math.MaxInt)
		c.plan.Decodes = p.batch - len(c.running)
		return
	}
	for p.batch = 0; p.batch < p.MaxSequences && p.fits(c); p.batch++ {
		if c.admit(0, c.waiting.at(0).length, true) == 0 {
			return
		}
	}
}

// fits reports whether the next sequence has room for all it may become.
func (p *static) fits(c *Core) bool {
	if c.waiting.len() == 0 || !c.adapters.fit(c.waiting.at(0).Adapter) {
		return false
	}
	s := c.waiting.at(0)
	return c.grow(s, s.PromptTokens+s.OutputTokens+c.drafts)
}
