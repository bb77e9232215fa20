package fleet

import "math"

// A span is where the offset is.
type span struct{ low, high int64 }

var anywhere = span{math.MinInt64, math.MaxInt64}

// newSpan is between two bounds, of which a clock that ran backwards can give the wrong order.
func newSpan(a, b int64) span { return span{min(a, b), max(a, b)} }

func (s span) hull(o span) span { return span{min(s.low, o.low), max(s.high, o.high)} }

// known reports whether both sides are bounded.
func (s span) known() bool { return s.low != math.MinInt64 && s.high != math.MaxInt64 }

// span is where the offset is at an instant of the epoch, or between two of them.
func (e *epoch) span(from, to int64) span {
	high, low := e.upper.highest(from, to), e.lower.highest(from, to)
	if high == unbounded || low == unbounded {
		return anywhere
	}
	return newSpan(-low, high)
}

// gap is where the offset is between two epochs: their clock only runs forwards.
func gap(before, after *epoch, t int64) span {
	first, last := before.lower.at(before.ends), after.upper.at(after.begins)
	if first == unbounded || last == unbounded {
		return anywhere
	}
	return newSpan(before.ends-first-t, after.begins+last-t)
}

// span is where the offset is at every instant from one to another.
func (c *Clock) span(from, to int64) span {
	if len(c.epochs) == 0 || from < c.epochs[0].begins {
		return anywhere
	}
	all := span{math.MaxInt64, math.MinInt64}
	for k := range c.epochs {
		e := &c.epochs[k]
		if a, b := max(from, e.begins), min(to, e.ends); a <= b {
			all = all.hull(e.span(a, b))
		}
		if k+1 == len(c.epochs) {
			break
		}
		next := &c.epochs[k+1]
		if a, b := max(from, e.ends+1), min(to, next.begins-1); a <= b {
			all = all.hull(gap(e, next, a)).hull(gap(e, next, b))
		}
	}
	return all
}

// At returns how far their clock is ahead of ours at an instant of ours, and how far that can be from the truth:
// Unknown without exchanges, right after a step, and of a time before too many steps. The future is extrapolated
// from present exchanges.
func (c *Clock) At(ours int64) (offset, bound int64) {
	t := possible(ours)
	s := c.span(t, t)
	if !s.known() {
		return 0, Unknown
	}
	width := uint64(s.high) - uint64(s.low)
	return s.low + int64(width/2), int64(width/2 + width%2)
}

// Theirs is the time on their clock at an instant of ours, within the bound of At.
func (c *Clock) Theirs(ours int64) int64 {
	offset, _ := c.At(ours)
	return minus(possible(ours), -offset)
}

// MaxOffset is the largest offset between two parts of a run: ours began at zero on our clock, theirs at at on
// theirs. At every instant t of ours from zero to end, theirs(t)-at and t-zero differ by no more. Unknown without a
// bound.
func (c *Clock) MaxOffset(zero, at, end int64) int64 {
	zero, at, end = possible(zero), possible(at), possible(end)
	s := c.span(zero, max(zero, end))
	if !s.known() {
		return Unknown
	}
	agreed := at - zero
	return max(minus(s.high, agreed), minus(agreed, s.low), 0)
}

// RoundTrip is the least time that a message and its answer took on the way, in nanoseconds; 0
// without exchanges.
func (c *Clock) RoundTrip() (least int64) { return c.least }

// Exchanges is how many exchanges were of use.
func (c *Clock) Exchanges() int { return c.exchanges }

// Steps is how often a clock was found to have stepped.
func (c *Clock) Steps() int { return c.steps }

// Drift estimates by how much their clock is faster than ours, in seconds per second, over the
// longest time without a step: from an instant in its first quarter to one in its last, both where
// the offset is known best. It is an estimate without a bound. 0 with fewer than two exchanges.
func (c *Clock) Drift() float64 {
	var from, to int64
	for _, e := range c.epochs {
		if n := len(e.upper.marks); n > 1 && e.upper.marks[n-1].at-e.upper.marks[0].at > to-from {
			from, to = e.upper.marks[0].at, e.upper.marks[n-1].at
		}
	}
	if from == to {
		return 0
	}
	quarter := (to - from) / 4
	early, a := c.best(from, from+quarter)
	late, b := c.best(to-quarter, to)
	if late <= early {
		return 0
	}
	return float64(b-a) / float64(late-early)
}

// best returns the instant at which the offset is known best, among those of exchanges from one
// instant to another, and that offset.
func (c *Clock) best(from, to int64) (instant, offset int64) {
	least := int64(Unknown)
	for _, e := range c.epochs {
		for _, m := range e.upper.marks[e.upper.after(from-1):e.upper.after(to)] {
			if o, bound := c.At(m.at); bound < least {
				instant, offset, least = m.at, o, bound
			}
		}
	}
	return instant, offset
}

// possible is t, clamped to a plausible range.
func possible(t int64) int64 { return min(max(t, -farthest), farthest) }

// minus is a-b, or the nearest number to it.
func minus(a, b int64) int64 {
	d := a - b
	switch {
	case a >= 0 && b < 0 && d < 0:
		return math.MaxInt64
	case a < 0 && b >= 0 && d >= 0:
		return math.MinInt64
	}
	return d
}
