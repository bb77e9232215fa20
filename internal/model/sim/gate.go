package sim

import "github.com/pitot-bench/pitot/internal/record/trace"

// A gate limits the requests in flight. It is a ring buffer of the instants at
// which its free places became free; an empty one has no limit.
type gate struct {
	free   []trace.Instant
	first  int
	places int // free ones
}

func newGate(places int) gate {
	return gate{free: make([]trace.Instant, max(places, 0)), places: max(places, 0)}
}

func (g *gate) full() bool { return len(g.free) > 0 && g.places == 0 }

// acquire takes the place that has been free the longest, if there is one, and returns
// the instant at which it became free; Never without a gate.
func (g *gate) acquire() trace.Instant {
	if g.places == 0 {
		return trace.Never
	}
	at := g.free[g.first]
	g.first = (g.first + 1) % len(g.free)
	g.places--
	return at
}

// release returns a place.
func (g *gate) release(now trace.Instant) {
	if len(g.free) > 0 {
		g.free[(g.first+g.places)%len(g.free)] = now
		g.places++
	}
}
