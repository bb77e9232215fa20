package engine

// static prefills a batch of waiting sequences together, and starts no other until
// the last of them is done. Finished sequences stay as padding and cost as much.
// Memory is reserved for full answers.
type static struct {
	Scheduler
	batch int // sequences of the current batch, including padding
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

// Repeat lets Plan count the padding.
func (p *static) Repeat(*Core) bool { return false }
