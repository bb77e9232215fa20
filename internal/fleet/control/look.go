package control

import (
	"context"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
)

// A Seen is a worker that was asked who it is, and its clock.
type Seen struct {
	fleet.Worker
	RoundTrip time.Duration // the least of a few exchanges; 0: it did not answer them
	Bound     time.Duration // how well its clock is known
	WallAhead time.Duration // of its wall clock, against this machine's
}

// Look asks who is there, for at most wait, and measures their clocks.
func Look(ctx context.Context, b *bus.Bus, pitot string, wait time.Duration) ([]Seen, error) {
	all, err := pollWorkers(ctx, b, pitot, wait)
	seen := make([]Seen, len(all))
	var each sync.WaitGroup
	for i, w := range all {
		each.Go(func() {
			m := &member{Worker: w, bus: b} // a beat of no run is answered too
			m.tune(ctx)
			_, bound := m.clock.At(now())
			seen[i] = Seen{Worker: w}
			if m.clock.Exchanges() > 0 {
				seen[i].RoundTrip, seen[i].Bound, seen[i].WallAhead = time.Duration(m.clock.RoundTrip()), time.Duration(bound), m.wall
			}
		})
	}
	each.Wait()
	return seen, err
}
