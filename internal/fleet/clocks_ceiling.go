package fleet

import (
	"math"
	"slices"
)

type mark struct {
	at   int64
	sent int64 // when the exchange began that it is from
	read int64 // as it was added
	// least is the bound at this instant by read and all other marks.
	least int64
}

// A ceiling is an upper bound of a function that changes by at most MaxRate, known at some
// instants. Each mark bounds the function at every instant, the less the farther away:
//
//	\   /          /
//	 \ /  \   \   /
//	  x    \   \ /        the ceiling is the lowest line at each instant
//	        \   x
//
// Of many marks it keeps those that matter most: see thin.
type ceiling struct {
	marks []mark // in the order of their instants
	width int64  // of a slot in nanoseconds; a slot has two marks at most
}

const (
	// mostMarks is how many marks a ceiling keeps: at four exchanges a second all of them for 17
	// minutes, and those of a second for over half an hour.
	mostMarks = 4096
	// firstWidth is a little over the quarter of a second between two Beats, in nanoseconds.
	firstWidth = 1 << 28
	// unbounded is a ceiling without marks.
	unbounded = math.MaxInt64
)

// widening is how much a function can change in a time, in nanoseconds, rounded up.
func widening(d int64) int64 {
	const perNanosecond = int64(1 / MaxRate)
	if d < 0 {
		d = -d
	}
	return (d + perNanosecond - 1) / perNanosecond
}

// after returns the position of the first mark later than t.
func (c *ceiling) after(t int64) int {
	i, _ := slices.BinarySearchFunc(c.marks, t, func(m mark, t int64) int {
		if m.at <= t {
			return -1
		}
		return 1
	})
	return i
}

func (c *ceiling) at(t int64) int64 {
	i, v := c.after(t), int64(unbounded)
	if i > 0 {
		v = c.marks[i-1].reach(t)
	}
	if i < len(c.marks) {
		v = min(v, c.marks[i].reach(t))
	}
	return v
}

// reach is the bound of the mark at another instant.
func (m mark) reach(t int64) int64 { return m.least + widening(t-m.at) }

// highest is the highest that the ceiling is between two instants.
func (c *ceiling) highest(from, to int64) int64 {
	if len(c.marks) == 0 || from == to {
		return c.at(from)
	}
	last, top := mark{at: from, least: c.at(from)}, int64(math.MinInt64)
	step := func(m mark) {
		rise := widening(m.at - last.at)
		// A line up from last and one down to m cross halfway in height; 2 rounds up.
		top = max(top, last.least+(m.least-last.least+rise+2)/2)
		last = m
	}
	for _, m := range c.marks[c.after(from):] {
		if m.at >= to {
			break
		}
		step(m)
	}
	step(mark{at: to, least: c.at(to)})
	return top
}

func (c *ceiling) add(at, sent, read int64) {
	i := c.after(at)
	c.marks = slices.Insert(c.marks, i, mark{at: at, sent: sent, read: read, least: min(read, c.at(at))})
	c.spread(i)
	if c.width == 0 {
		c.width = firstWidth
	}
	from, to := i, i+1
	for from > 0 && c.sameSlot(from-1, i) {
		from--
	}
	for to < len(c.marks) && c.sameSlot(to, i) {
		to++
	}
	c.marks = slices.Replace(c.marks, from, to, best(c.marks[from:to])...)
	for len(c.marks) > mostMarks {
		c.width *= 2
		c.thin()
	}
}

// spread lowers the marks on both sides of one as far as it reaches.
func (c *ceiling) spread(i int) {
	for k := i - 1; k >= 0 && c.marks[k].least > c.marks[k+1].reach(c.marks[k].at); k-- {
		c.marks[k].least = c.marks[k+1].reach(c.marks[k].at)
	}
	for k := i + 1; k < len(c.marks) && c.marks[k].least > c.marks[k-1].reach(c.marks[k].at); k++ {
		c.marks[k].least = c.marks[k-1].reach(c.marks[k].at)
	}
}

func (c *ceiling) sameSlot(i, k int) bool { return c.marks[i].at/c.width == c.marks[k].at/c.width }

func (c *ceiling) thin() {
	marks := c.marks[:0]
	for i := 0; i < len(c.marks); {
		k := i + 1
		for k < len(c.marks) && c.sameSlot(i, k) {
			k++
		}
		marks = append(marks, best(c.marks[i:k])...)
		i = k
	}
	c.marks = marks
}

// best returns, of the marks of a slot, the one that says most of later instants and the one that
// says most of earlier ones. As all reach by the same rate, nothing is lost outside of the slot.
func best(slot []mark) []mark {
	if len(slot) <= 2 {
		return slices.Clone(slot)
	}
	first, last := slot[0].at, slot[len(slot)-1].at
	later, earlier := 0, 0
	for i, m := range slot {
		if m.read+widening(last-m.at) <= slot[later].read+widening(last-slot[later].at) {
			later = i
		}
		if m.read+widening(m.at-first) < slot[earlier].read+widening(slot[earlier].at-first) {
			earlier = i
		}
	}
	if later == earlier {
		return []mark{slot[later]}
	}
	return []mark{slot[min(later, earlier)], slot[max(later, earlier)]}
}

// beyond finds the latest mark that contradicts a lower bound: the function is at least floor at an
// instant, and less by that mark. It returns when the exchange of that mark began.
func (c *ceiling) beyond(at, floor int64) (sent int64, found bool) {
	if c.at(at) >= floor {
		return 0, false
	}
	for _, m := range slices.Backward(c.marks) {
		if m.read+widening(at-m.at) < floor {
			return m.sent, true
		}
	}
	return -farthest, true // the mark was dropped, which happens only if at is within its slot
}

// cut forgets all later than an instant.
func (c *ceiling) cut(end int64) {
	c.marks = slices.Clip(c.marks[:c.after(end)])
	for i := range c.marks {
		m := &c.marks[i]
		if m.least = m.read; i > 0 {
			m.least = min(m.least, c.marks[i-1].reach(m.at))
		}
	}
	for i := len(c.marks) - 2; i >= 0; i-- {
		m := &c.marks[i]
		m.least = min(m.least, c.marks[i+1].reach(m.at))
	}
}
