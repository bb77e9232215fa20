package driver

import "github.com/pitot-bench/pitot/internal/record/trace"

// A gate limits the requests in flight. Each token in it is a free place and holds
// the instant at which it became free. A nil gate has no limit.
type gate chan trace.Instant

func newGate(places int) gate {
	if places <= 0 {
		return nil
	}
	g := make(gate, places)
	for range places {
		g <- 0
	}
	return g
}

// enter waits for a place and returns the instant at which it became free, Never
// without a gate; false means that the run was stopped.
func (g gate) enter(r *run) (trace.Instant, bool) {
	if g == nil {
		return trace.Never, true
	}
	select {
	case free := <-g:
		return free, true
	default:
	}
	select {
	case free := <-g:
		return free, !r.late()
	case <-r.stop:
	case <-r.ctx.Done():
	}
	return trace.Never, false
}

// leave returns the place.
func (g gate) leave(now trace.Instant) {
	if g != nil {
		g <- now
	}
}
