package engine

import "slices"

// part is how many tokens of one prompt the next step has at most, for equal parts: 0, no
// limit, if it has room for all prompts.
func (v *vllm) part(c *Core) int {
	b, lanes := v.budget(), c.lanes.len()
	b.take(lanes, true)
	var rests []int
	for _, s := range c.running[lanes:] {
		if s.decodes() {
			b.take(1+c.drafts, true)
		} else {
			rests = append(rests, s.length-s.computed)
		}
	}
	places := v.MaxSequences - len(c.running)
	for i := 0; i < c.waiting.len() && places > 0 && (v.MaxPrompts == 0 || len(rests) < v.MaxPrompts); i++ {
		if s := c.waiting.at(i); c.eligible(s) {
			places--
			if rest := c.rest(s); !s.decodes() {
				rests = append(rests, rest)
			}
		}
	}
	return EqualPart(max(b.prompts, 1), rests)
}

// rest is how many tokens of s, which waits, have to be computed.
func (c *Core) rest(s *Seq) int {
	if s.computed > 0 { // it was prefilled elsewhere
		return s.length - s.computed
	}
	found := max(c.kv.Match(s), min(s.Cached, s.PromptTokens-1))
	c.kv.Release(s)
	return s.length - found
}

// EqualPart is the largest part when budget is divided evenly among rests and none gets more
// than it needs, which sorts them; 0 if all fit.
func EqualPart(budget int, rests []int) int {
	slices.Sort(rests)
	for i, rest := range rests {
		part := (budget + len(rests) - i - 1) / (len(rests) - i)
		if rest > part {
			return part
		}
		budget -= rest
	}
	return 0
}
