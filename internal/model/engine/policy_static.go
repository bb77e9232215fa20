package engine

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
		c.decodeAll()
		c.plan.Decodes = p.batch - len(c.running)
		return
	}
	for p.batch = 0; p.batch < p.MaxSequences && c.waiting.len() > 0; p.batch++ {
		s := c.waiting.at(0)
		whole := max(min(s.PromptTokens+int(s.last)+c.drafts, c.context), s.length)
		if whole > c.available() || !c.adapters.fit(s.Adapter) || c.admit(0, s.length, true, nil) == 0 {
			return
		}
		c.grow(s, whole)
	}
}
