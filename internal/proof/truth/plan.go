package truth

import (
	"math/rand/v2"

	"github.com/pitot-bench/pitot/internal/load/arrival"
)

// A plan gives the due times of one stream's writes. It never looks at a clock:
//
//	spread    start ─ TTFT ─┬─ phase ─┬─ gap ─┬── gap ──┬─   phase: 0 to period
//	                                  1       2         3    gap: period·(1±jitter)
//	lockstep  start ─ TTFT ─┬─ ... ┊──────┊──────┊──         ┊ multiples of the period
//	                               1      2      3
//
// A gap counts from when the write before was due, so that a server which is
// late once does not stay late.
type plan struct {
	lockstep bool
	ttft     int64
	period   int64
	jitter   float64
	dice     rand.PCG
}

// plan is that of the stream which arrived as number n.
func (c *Config) plan(n uint64) plan {
	return plan{
		lockstep: c.Lockstep,
		ttft:     int64(c.TTFT),
		period:   int64(c.Step),
		jitter:   c.Jitter,
		dice:     arrival.Dice(c.Seed, "plan", n),
	}
}

// first is when the first write of a stream that starts at start is due.
func (p *plan) first(start int64) int64 {
	ready := start + p.ttft
	switch {
	case p.period == 0:
		return ready
	case p.lockstep:
		return (ready/p.period + 1) * p.period
	}
	return ready + int64(uniform(&p.dice)*float64(p.period))
}

// next is when the write after the one that was due at due is; now is for
// streams without a step, which take turns.
func (p *plan) next(due, now int64) int64 {
	switch {
	case p.period == 0:
		return now
	case p.lockstep || p.jitter == 0:
		return due + p.period
	}
	return due + int64(float64(p.period)*(1+p.jitter*(2*uniform(&p.dice)-1)))
}

// uniform is a number in [0, 1).
func uniform(d *rand.PCG) float64 { return arrival.Unit(d.Uint64()) }

// draw tells how the request that arrived as number n is to end.
func (f Faults) draw(seed, n uint64) Ending {
	d := arrival.Dice(seed, "fault", n)
	u := uniform(&d)
	for _, s := range []struct {
		share  float64
		ending Ending
	}{{f.HTTP500, HTTP500}, {f.Reset, Reset}, {f.Truncate, Truncate}} {
		if u < s.share {
			return s.ending
		}
		u -= s.share
	}
	return Complete
}
