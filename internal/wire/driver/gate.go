package driver

import (
	"sync"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A gate limits the requests in flight. Each token in it is a free place and holds
// the instant at which it became free. A nil gate has no limit.
type gate chan trace.Instant

// newGate has room for as many places as there may be during the run.
func newGate(places, most int) gate {
	if places <= 0 && most <= 0 {
		return nil
	}
	g := make(gate, max(places, most))
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

// release returns the place.
func (g gate) release(now trace.Instant) {
	if g != nil {
		g <- now
	}
}

// Places are those of a gate that gets more of them while its run goes on: another machine
// that shared a limit with this one no longer uses its own.
type Places struct {
	mu   sync.Mutex
	have int
	end  int
	run  *run // nil before and after the run
}

// NewPlaces are have places now, and most at the end.
func NewPlaces(have, most int) *Places { return &Places{have: have, end: max(have, most)} }

func (p *Places) most() int {
	if p == nil {
		return 0
	}
	return p.end
}

// begin opens the gate of a run for further places; nil closes it.
func (p *Places) begin(r *run) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run = r
	if r == nil {
		return
	}
	have := p.have
	p.have = min(p.have, r.plan.Concurrency)
	p.raise(have)
}

// Raise has the gate have this many places, if that is more than it has.
func (p *Places) Raise(to int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.raise(to)
}

func (p *Places) raise(to int) {
	to = min(to, p.end)
	if p.run == nil || p.run.gate == nil {
		p.have = max(p.have, to)
		return
	}
	for ; p.have < to; p.have++ {
		p.run.gate.release(p.run.now())
	}
}
