package search

import (
	"context"
	"math"
)

// learnAt is how many legs at the two sides it takes to make a twin, and to make it again.
var learnAt = [...]int{0, 2}

// fitModel takes the twin that was given, or makes one once a leg comes near the limits. One
// that was made of light loads is made again once there are legs at both sides.
func (x *search) fitModel(ctx context.Context) error {
	if x.Twin != nil {
		if x.match == nil {
			x.meet(x.Twin)
		}
		return nil
	}
	_, down, top := x.bracket()
	near := x.count(Passes) + x.count(Fails)
	switch {
	case x.Learn == nil || len(x.legs) < 3:
		return nil
	case x.learned == 0 && down == 0 && (top == nil || x.stride(top) > 2):
		return nil
	case x.learned == len(learnAt), near < learnAt[x.learned]:
		return nil
	}
	x.learned++
	if twin, err := x.Learn(ctx, x.legs); err == nil {
		x.meet(twin)
	}
	return ctx.Err() // an engine that cannot be found is no mistake: the curve goes on
}

// meet holds a twin against the legs from now on.
func (x *search) meet(t Model) {
	m := &match{Model: t, replays: map[int][]Outcome{}, all: map[float64]longRun{}, parts: longFirst, seed: x.Seed, by: x.By}
	if x.match != nil {
		m.seen, m.last = x.match.seen, x.match.last
	}
	x.match = m
}

// contradicted reports whether the counts near an estimate contradict it: several legs above it meet the objectives
// together, or several below it do not, and the twin does not show that as chance.
func (x *search) contradicted(e estimate, objective int) bool {
	const least, surely = 3, 2.5
	load := math.Exp(e.log)
	most := func(s Side) (most float64) {
		for i, o := range x.Objectives {
			most = max(most, (1-s.Attained[i])/allowed(o))
		}
		return most
	}
	above, below := x.sideOf(Fails, load*1.01), x.sideOf(Passes, load*0.99)
	if above.Legs >= least && above.Reason == "" && most(above) < 0.75 {
		return x.match.distance(x.legsOf(Fails, load*1.01), objective, e.slower) < -surely
	}
	if below.Legs >= least && most(below) > 1.4 {
		return below.Reason != "" || x.match.distance(x.legsOf(Passes, load*0.99), objective, e.slower) > surely
	}
	return false
}

// byTwin takes the twin's estimate where it knows more than the curve.
func (x *search) byTwin(ctx context.Context) error {
	about := x.about()
	if !x.match.seen { // its capacity by itself
		var err error
		if about, err = x.twinAlone(ctx); err != nil {
			return err
		}
		x.match.seen, x.match.last = true, about
	} else if !math.IsNaN(x.match.last) {
		about = x.match.last
	}
	if err := x.replayNear(ctx, about); err != nil {
		return err
	}
	curves := x.best
	for range 8 {
		if math.IsNaN(about) {
			return nil
		}
		x.shapeLong()
		if err := x.match.runLong(ctx, about); err != nil {
			return err
		}
		x.best = make([]estimate, len(curves))
		for i, o := range x.Objectives {
			x.best[i] = x.better(curves[i], x.match.estimate(x.legs, i, allowed(o), about))
		}
		next := x.about()
		e, which := x.binding()
		if e.twin && x.contradicted(e, which) {
			x.distrust(curves)
			return nil
		}
		x.match.last = next
		if more := x.moreLong(e); more > x.match.parts {
			x.match.parts = more
		} else if math.Abs(next-about) < 0.01 {
			return nil
		}
		about = next
	}
	return nil
}

// replayNear replays the legs near a load that were not replayed yet.
func (x *search) replayNear(ctx context.Context, about float64) error {
	for _, l := range x.legs {
		if l.By != x.By || math.Abs(math.Log(l.Load)-about) > farthest {
			continue
		}
		if err := x.match.replay(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// moreLong is how many parts the twin's long runs need. A twin that is going to be replaced gets
// few.
func (x *search) moreLong(e estimate) int {
	most, may := longParts, max(longShare*e.sd, x.Precision/longFine)
	if x.learned > 0 && x.learned < len(learnAt) {
		most = longParts / 8
	}
	if !e.twin || e.long <= may {
		return 0
	}
	return min(most, int(math.Ceil(float64(x.match.parts)*min(4, square(e.long/may)))))
}

// distrust takes the curves in place of the twin, and where they know nothing yet the next
// load above all that was met.
func (x *search) distrust(curves []estimate) {
	x.best = curves
	if up, down, _ := x.bracket(); math.IsNaN(x.about()) && down == 0 {
		x.best[0] = estimate{log: math.Log(up * (1 + 2*x.Precision)), sd: 0.3}
	}
}

// better is the estimate that is the more certain one.
func (x *search) better(a, b estimate) estimate {
	if b.sd*sureAt(b.df) < a.sd*sureAt(a.df) {
		return b
	}
	return a
}

// perSecond is how many requests a load has in a second.
func (x *search) perSecond(load float64) float64 {
	if x.By == Concurrency {
		return load / max(x.legs[0].E2EL, 1e-3)
	}
	return load
}

// shapeLong makes the shape of the parts of the twin's long runs, once for all of them.
func (x *search) shapeLong() {
	if x.match.shape.Count > 0 {
		return
	}
	load := x.unit()
	if about := x.about(); !math.IsNaN(about) {
		load = math.Exp(about)
	} else if x.match.seen {
		load = math.Exp(x.match.last)
	}
	x.match.shape = x.simulated(longRequests / x.perSecond(load))
}

// simulated is a leg of the twin that counts for so many seconds.
func (x *search) simulated(secs float64) Leg {
	ramp := seconds(max(2*x.long(), 2))
	return Leg{By: x.By, Ramp: ramp, Count: max(min(max(seconds(secs), longLeast), longMost), ramp), Rest: ramp / 2}
}

// twinAlone is the capacity of the twin, roughly, before any leg came near it.
func (x *search) twinAlone(ctx context.Context) (float64, error) {
	fails := func(load float64) (bool, error) {
		l := x.simulated(longRequests / 2 / x.perSecond(load))
		l.Load, l.Seed = load, x.Seed+9_000_000
		o, err := x.match.Replay(ctx, l, 1)
		v, _ := o.Judge(x.Objectives)
		return v != Met, err
	}
	lo, hi := 0., x.unit()
	for hi < heaviest*x.unit() {
		bad, err := fails(hi)
		if err != nil {
			return 0, err
		}
		if bad {
			break
		}
		lo, hi = hi, 2*hi
	}
	if lo == 0 {
		lo = hi / 8
	}
	for range 5 {
		mid := math.Sqrt(lo * hi)
		bad, err := fails(mid)
		if err != nil {
			return 0, err
		}
		if bad {
			hi = mid
		} else {
			lo = mid
		}
	}
	return math.Log(lo*hi) / 2, nil
}
