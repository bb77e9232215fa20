package digest

import (
	"math"
	"sort"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// snapshots are the progress of a run, in order.
type snapshots []trace.Snapshot

// after is the place of the first one after an instant.
func (s snapshots) after(seconds float64) int {
	return sort.Search(len(s), func(i int) bool { return s[i].At.Seconds() > seconds })
}

// tokens are those that had come by an instant: between two snapshots as many as lie between theirs.
func (s snapshots) tokens(seconds float64) float64 {
	i := s.after(seconds)
	if i == len(s) {
		return float64(s[i-1].Tokens)
	}
	before := trace.Snapshot{} // the run began without any
	if i > 0 {
		before = s[i-1]
	}
	share := (seconds - before.At.Seconds()) / s[i].At.Sub(before.At).Seconds()
	return float64(before.Tokens) + share*float64(s[i].Tokens-before.Tokens)
}

// flight is the number of requests in flight in a span: the mean of its snapshots, or as many as
// there were at the last one before.
func (s snapshots) flight(from, to float64) (level float64, known bool) {
	i, end := s.after(from), s.after(to)
	switch {
	case i < end:
		for _, one := range s[i:end] {
			level += float64(one.InFlight()) / float64(end-i)
		}
		return level, true
	case i > 0:
		return float64(s[i-1].InFlight()), true
	}
	return 0, false
}

// passed are lines by snapshots.
func (a *axis) passed(s snapshots) (output, flight line) {
	output = func(i int) (float64, bool) {
		from, long := a.from(i), a.long(i)
		return math.Max(0, s.tokens(from+long)-s.tokens(from)) / long, long > 0
	}
	flight = func(i int) (float64, bool) {
		from, long := a.from(i), a.long(i)
		level, known := s.flight(from, from+long)
		return level, known && long > 0
	}
	return output, flight
}
