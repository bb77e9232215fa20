package engine

import (
	"math"
	"slices"
	"time"
)

// The lanes of a core are its first running sequences, as long as each of them only decodes:
// one token in every step in which any of them does. All that such a step changes follows
// from the number of steps, so it is written into the sequences when it is read.
//
//	running  │ a  b  c  d  e │ f  prompts, and decoding sequences behind them │
//	         └──── lanes ────┘
//
// A lane is due when its sequence needs memory for the next token, or is finished. Until
// then a step copies its emission and looks at nothing else.
type lanes struct {
	each    []Emission // of a step, but for the instant
	due     []int      // in steps
	soonest int        // at most the least of due
	steps   int        // that the lanes have taken part in, from the beginning of the core
	context int64      // computed tokens of all lanes
}

func (l *lanes) len() int { return len(l.due) }

// add adds the sequence that runs behind the lanes, which decodes.
func (l *lanes) add(s *Seq) {
	s.since = l.steps
	l.each = append(l.each, s.emission(0, 1))
	l.due = append(l.due, 0)
	l.set(len(l.due)-1, s, max(s.room-s.computed, 0))
	l.context += int64(s.computed)
}

// set makes lane i due when it has used its memory, which lasts for so many steps, or is finished.
func (l *lanes) set(i int, s *Seq, lasts int) {
	l.due[i] = l.steps + min(lasts, int(s.last-s.emitted))
	l.soonest = min(l.soonest, l.due[i])
}

func (l *lanes) settle(s *Seq) {
	n := l.steps - s.since
	s.computed += n
	s.length += n
	s.emitted += int32(n)
	s.since = l.steps
}

// settle writes the steps of all lanes into their sequences.
func (c *Core) settle() {
	for _, s := range c.running[:c.lanes.len()] {
		c.lanes.settle(s)
	}
}

// join makes lanes of the sequences behind them that decode. Draft tokens make every step
// different, so with these there are no lanes.
func (c *Core) join() {
	for n := c.lanes.len(); n < len(c.running) && c.drafts == 0 && c.running[n].decodes(); n++ {
		c.lanes.add(c.running[n])
	}
}

// dissolve makes the sequences of all lanes ordinary ones until the end of the step, with
// shares of their own if the lanes have their tokens.
func (c *Core) dissolve() {
	c.settle()
	n := c.lanes.len()
	if c.plan.lanes {
		c.plan.lanes = false
		c.plan.decodes = slices.Insert(c.plan.decodes, c.plan.before, make([]share, n)...)
		for i, s := range c.running[:n] {
			s.step = c.step
			c.plan.decodes[c.plan.before+i] = share{s, 1}
		}
	}
	l := &c.lanes
	l.each, l.due, l.soonest, l.context = l.each[:0], l.due[:0], math.MaxInt, 0
}

// remove removes lane i, with its sequence s, which is settled.
func (l *lanes) remove(i int, s *Seq) {
	l.context -= int64(s.computed)
	l.each = slices.Delete(l.each, i, i+1)
	l.due = slices.Delete(l.due, i, i+1)
}

// quiet reports whether all running sequences are lanes, with memory for the next token.
func (c *Core) quiet() bool {
	n := c.lanes.len()
	return n > 0 && n == len(c.running) && c.lanes.soonest > c.lanes.steps
}

// decodeLanes gives a token to every lane and returns their number. If memory does not last
// for one of them, they are dissolved.
func (c *Core) decodeLanes() int {
	l := &c.lanes
	if l.len() == 0 {
		return 0
	}
	if l.soonest <= l.steps && !c.growLanes() {
		c.dissolve()
		return 0
	}
	c.plan.lanes, c.plan.before = true, len(c.plan.decodes)
	c.plan.Context += l.context
	return l.len()
}

// growLanes allocates the memory of the lanes that are due; false if there is too little.
func (c *Core) growLanes() bool {
	l := &c.lanes
	l.soonest = math.MaxInt
	for i, due := range l.due {
		if due > l.steps {
			l.soonest = min(l.soonest, due)
			continue
		}
		s := c.running[i]
		l.settle(s)
		if !c.grow(s, s.computed+1) {
			return false
		}
		l.set(i, s, max(s.room-s.computed, 1))
	}
	return true
}

// endLanes ends a step of the lanes: it appends their emissions.
func (c *Core) endLanes(now time.Duration, out []Emission) []Emission {
	l, had := &c.lanes, len(out)
	l.steps++
	l.context += int64(l.len())
	c.counters.Decoded += uint64(l.len())
	out = append(out, l.each...)
	made := out[had:]
	for i := range made {
		made[i].At = now
	}
	if l.soonest <= l.steps {
		c.finishLanes(made)
	}
	return out
}

// finishLanes removes the lanes that have made their last token, with their sequences.
func (c *Core) finishLanes(made []Emission) {
	l, n := &c.lanes, 0
	for i, due := range l.due {
		s := c.running[i]
		if due <= l.steps {
			if l.settle(s); s.emitted == s.last {
				c.finish(s)
				made[i].Done = s.done
				l.context -= int64(s.computed)
				continue
			}
		}
		if n < i {
			l.each[n], l.due[n], c.running[n] = l.each[i], due, s
		}
		n++
	}
	c.running = slices.Delete(c.running, n, l.len())
	l.each, l.due = l.each[:n], l.due[:n]
}
