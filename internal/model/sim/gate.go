package sim

import "github.com/pitot-bench/pitot/internal/record/trace"

// A gate lets a fixed number of requests be in flight. It is a queue, in a ring,
// of the instants at which its free places became free; without any place it has
// no limit.
type gate struct {
	free   []trace.Instant
	first  int
	places int // free ones
}

func newGate(places int) gate {
	return gate{free: make([]trace.Instant, max(places, 0)), places: max(places, 0)}
}

func (g *gate) full() bool { return len(g.free) > 0 && g.places == 0 }

// take takes the place that has been free for longest, if there is one, and
// returns since when; Never without a gate.
func (g *gate) take() trace.Instant {
	if g.places == 0 {
		return trace.Never
	}
	at := g.free[g.first]
	g.first = (g.first + 1) % len(g.free)
	g.places--
	return at
}

// leave gives a place back.
func (g *gate) leave(now trace.Instant) {
	if len(g.free) > 0 {
		g.free[(g.first+g.places)%len(g.free)] = now
		g.places++
	}
}
