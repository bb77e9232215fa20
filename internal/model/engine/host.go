package engine

import (
	"math"
	"math/rand/v2"
	"time"
)

// leastHold is the shortest mean time at a level, so that few are drawn for a step.
const leastHold = Seconds(1e-3)

// A processor is the host of one engine. The factor that it is slower by has draws of its own,
// so that it is the same whatever the steps are. Nil has the factor 1.
type processor struct {
	law   Host
	rand  *rand.Rand
	run   float64
	level float64
	until time.Duration // of the present level
}

// newProcessor returns nil if the speed never changes.
func newProcessor(law *Host, dice rand.PCG) *processor {
	if law == nil || law.Factors == nil && law.Run == 0 {
		return nil
	}
	p := &processor{law: *law, rand: rand.New(&dice), run: 1, level: 1}
	p.run = portable(math.Exp(float64(float64(law.Run) * p.rand.NormFloat64())))
	if law.Factors == nil {
		p.until = forever
	}
	return p
}

// at is the factor at now. Calls come in order of now.
func (p *processor) at(now time.Duration) float64 {
	if p == nil {
		return 1
	}
	for p.until <= now {
		p.level = quantile(p.law.Factors, p.rand.Float64())
		p.until = later(p.until, p.law.Hold.times(p.rand.ExpFloat64()).Duration())
	}
	return p.run * p.level
}

func (v *checker) host(path string, h *Host) {
	if h == nil {
		return
	}
	quantiles(v, path+".factors", h.Factors, func(at string, f float64) {
		v.If(!(f > 0 && f <= 1000), at, f, "must be above 0 and at most 1000")
	})
	v.time(path+".hold", h.Hold)
	v.If(h.Factors != nil && h.Hold == 0, path+".hold", nil, "is missing: the mean time at a level, such as 2s")
	v.If(h.Hold > 0 && h.Hold < leastHold, path+".hold", h.Hold, "must be at least %v", leastHold)
	v.If(!(h.Run >= 0 && h.Run <= 1), path+".run", h.Run, "must be from 0 to 100%%")
}
