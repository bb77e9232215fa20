package search

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
)

// A search is one under way: all of it follows from the legs.
type search struct {
	Settings
	all     []MeasuredLeg // that were made
	legs    []MeasuredLeg // those of them that say something of the server
	match   *match
	best    []estimate // by objective
	learned int        // how often Learn was asked
}

// Measure makes a leg.
type Measure func(context.Context, Leg) (Outcome, error)

// RunCapacity searches. told, if not nil, is called with each leg. To resume a search, measure returns the outcomes
// of its legs again: the same ones are asked for.
func RunCapacity(ctx context.Context, s Settings, measure Measure, report func(MeasuredLeg)) (*Result, error) {
	x := &search{Settings: s}
	for {
		if err := x.estimate(ctx); err != nil {
			return nil, err
		}
		leg, end := x.next()
		if end != "" {
			return x.result(end), nil
		}
		if s.Begins != nil {
			s.Begins(leg, x.result(""))
		}
		o, err := measure(ctx, leg)
		if err != nil {
			return nil, err
		}
		made := MeasuredLeg{leg, o}
		if x.all = append(x.all, made); len(o.Client) == 0 {
			x.legs = append(x.legs, made)
		}
		if report != nil {
			report(made)
		}
	}
}

// An End is why a search ends.
type End string

// The ends.
const (
	Found      End = "found"      // as precisely as was asked for
	OutOfTime  End = "budget"     // the result is less precise
	Nothing    End = "nothing"    // the lightest load does not meet the objectives
	Everything End = "everything" // the heaviest load of the search does
	Client     End = "client"     // the client was in the way, of a load and of its repetition
)

// The bounds of a search, in multiples of the load that has one request in flight.
const (
	lightest = 1. / 16
	heaviest = 4096
)

// leastDue is how many requests are due, on average, in the Count of a leg.
const leastDue = 20

// next is the next leg, or why there is none.
func (x *search) next() (Leg, End) {
	switch n := len(x.all); {
	case n >= 2 && len(x.all[n-1].Client) > 0 && len(x.all[n-2].Client) > 0:
		return Leg{}, Client
	case n >= 1 && len(x.all[n-1].Client) > 0: // once more
		last := x.all[n-1]
		return x.affordable(x.leg(last.Load, last.Why, last.By))
	case n == 0:
		return x.leg(1, Light, Concurrency), ""
	}
	light := &x.legs[0]
	if hopeless(light, x.Settings) {
		return Leg{}, Nothing
	}
	unit := x.unit()
	load, why := x.seek(unit)
	switch {
	case load > unit*heaviest:
		return Leg{}, Everything
	case load > 0 && load < unit*lightest, why == Seek && load < 1 && x.By == Concurrency:
		return Leg{}, Nothing
	case why != Seek:
		var end End
		if load, why, end = x.side(); end != "" {
			return Leg{}, end
		}
	}
	return x.affordable(x.leg(load, why, x.By))
}

// affordable is a leg, or that there is no time for it.
func (x *search) affordable(l Leg) (Leg, End) {
	answer := 0.0
	if len(x.legs) > 0 {
		answer = x.legs[0].E2EL
	}
	if x.Spent()+l.Length()+seconds(answer) > x.Budget {
		return Leg{}, OutOfTime
	}
	return l, ""
}

// hopeless reports whether a light leg is far beyond an objective.
func hopeless(light *MeasuredLeg, s Settings) bool {
	for i, o := range s.Objectives {
		t := light.Tail(i)
		if bad := float64(t.Above[centre]); bad > 0.3*float64(t.N) && bad > 10*allowed(o)*float64(t.N) {
			return true
		}
	}
	return light.Requests == 0 || 2*light.Failed > light.Requests
}

// unit is the load that has one request in flight.
func (x *search) unit() float64 {
	if x.By == Concurrency {
		return 1
	}
	return 1 / max(x.legs[0].E2EL, 1e-3)
}

// Spent is the time of all legs.
func (x *search) Spent() (sum time.Duration) {
	for _, l := range x.all {
		sum += l.Spent
	}
	return sum
}

// leg makes the next leg at a load. A ramp fills the server: nearly all requests in flight at its end arrived
// during it.
func (x *search) leg(load float64, why LegPurpose, by LoadUnit) Leg {
	l := Leg{Number: len(x.all) + 1, Load: round(load, by), By: by, Why: why}
	l.Seed = x.Seed + uint64(l.Number)*1009
	if why == Light {
		l.Count = x.Budget / 60
		return l
	}
	p := experiment.PartsFor(seconds(x.long()))
	l.Ramp = min(max(p.Ramp, 2*time.Second), x.Budget/15)
	l.Rest = l.Ramp / 2
	l.Count = min(max(p.Count, x.Budget/60), x.Budget/20)
	if why != Seek {
		l.Count = x.Budget * 3 / 40
	}
	if by == Rate {
		l.Count = max(l.Count, seconds(leastDue/l.Load))
	}
	return l
}

// long is how long requests take, most of them, at the load that is searched.
func (x *search) long() float64 {
	at, near := x.legs[0].Long, math.Inf(1)
	about := x.about()
	for _, l := range x.legs[1:] {
		if d := math.Abs(math.Log(l.Load) - about); !l.Growing && l.Long > 0 && d < near {
			at, near = max(l.Long, x.legs[0].Long), d
		}
	}
	return at
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// round is a load as it can be sent and read.
func round(load float64, by LoadUnit) float64 {
	if by == Concurrency {
		return max(1, math.Round(load))
	}
	v, _ := strconv.ParseFloat(strconv.FormatFloat(load, 'g', 3, 64), 64) // of a number
	return v
}

// seek is the next load until the capacity is known well enough for legs at its two sides; why
// is empty from then on.
func (x *search) seek(unit float64) (load float64, why LegPurpose) {
	up, down, top := x.bracket()
	about := x.about()
	if x.match != nil && !math.IsNaN(about) {
		return x.seekByTwin(up, down, math.Exp(about))
	}
	switch {
	case down == 0 && up == 0:
		return 2 * unit, Seek
	case down == 0:
		return up * x.stride(top), Seek
	case up == 0:
		return down / 3, Seek
	case down/up > 2:
		return math.Sqrt(up * down), Seek
	}
	return 0, ""
}

// boldest is how far beyond passed loads a model is believed.
const boldest = 8

// seekByTwin goes where the model has its capacity, until a leg is near it.
func (x *search) seekByTwin(up, down, about float64) (load float64, why LegPurpose) {
	for _, l := range x.legs {
		if l.By == x.By && math.Abs(math.Log(l.Load/about)) < 0.15 {
			return 0, ""
		}
	}
	if up > 0 {
		about = min(about, boldest*up)
	}
	if down > 0 && about > 1.5*down {
		about = math.Sqrt(max(up, down/4) * down)
	}
	return about, Seek
}

// bracket is the highest load that passed below all that failed, the least that failed, and
// the leg of the former.
func (x *search) bracket() (up, down float64, top *MeasuredLeg) {
	for i := range x.legs {
		l := &x.legs[i]
		if l.By != x.By {
			continue
		}
		if v, _ := l.Judge(x.Objectives); v != Met && (down == 0 || l.Load < down) {
			down = l.Load
		}
	}
	for i := range x.legs {
		l := &x.legs[i]
		if v, _ := l.Judge(x.Objectives); l.By == x.By && v == Met && l.Load > up && (down == 0 || l.Load < down) {
			up, top = l.Load, l
		}
	}
	return up, down, top
}

// stride is the next step upwards: a long one while all latencies are far from their limits.
func (x *search) stride(top *MeasuredLeg) float64 {
	if top == nil {
		return 2
	}
	for i, o := range x.Objectives {
		t := top.Tail(i)
		if t.at(math.Log(0.6)) > allowed(o)*float64(t.N) {
			return 1.6
		}
	}
	return 4
}

// about is the logarithm of the capacity as far as it is known; NaN if it is not.
func (x *search) about() float64 {
	if e, _ := x.binding(); !math.IsInf(e.sd, 1) {
		return e.log
	}
	return math.NaN()
}

// binding is the least of the estimates, and its objective.
func (x *search) binding() (least estimate, which int) {
	least = estimate{log: math.Inf(1), sd: math.Inf(1)}
	for i, e := range x.best {
		if !math.IsInf(e.sd, 1) && e.log < least.log {
			least, which = e, i
		}
	}
	return least, which
}

// side is the next load of the two sides of the answer, those of a load that is met and of one
// that is not; or the end.
func (x *search) side() (load float64, why LegPurpose, end End) {
	e, _ := x.binding()
	if math.IsInf(e.sd, 1) {
		return 0, "", OutOfTime
	}
	lo, hi := x.sides(e)
	sure := e.sd * sureAt(e.df)
	within := e.log-math.Log(lo) >= sure && math.Log(hi)-e.log >= sure
	below, above := x.sideOf(Passes, lo), x.sideOf(Fails, hi)
	if x.By == Concurrency && hi-lo <= 1 && below.Legs+above.Legs >= 6 {
		within = true // there is no load between
	}
	switch passed, failed := x.met(below), !x.met(above); {
	case below.Legs > 0 && above.Legs > 0 && within && passed && (failed || e.twin && above.Legs >= believed):
		return 0, "", Found
	case above.Legs > 0 && within && below.Legs > 0 && passed != failed: // that side again
		if failed {
			return lo, Passes, ""
		}
		return hi, Fails, ""
	case x.count(Passes) <= x.count(Fails):
		return lo, Passes, ""
	}
	return hi, Fails, ""
}

// believed is after how many legs above the capacity a twin is believed that has them fail, though by luck they met
// the objectives: requests beyond the limits come in clusters.
const believed = 2

// sureAt is the one-sided 95 % bound in standard deviations, the larger the less is known of them.
func sureAt(df float64) float64 {
	if df <= 0 {
		return 1.645
	}
	return 1.645 + 1.5/df // within 2 % of Student's from 3 on
}

// sideDistance is how far from the capacity the sides are, as a share of the precision asked for.
const sideDistance = 0.8

// sides are the two loads, which stay where they are while the estimate stays between them.
func (x *search) sides(e estimate) (lo, hi float64) {
	h := sideDistance * x.Precision
	for i := len(x.legs) - 1; i >= 0 && (lo == 0 || hi == 0); i-- {
		switch l := x.legs[i]; {
		case l.Why == Passes && lo == 0:
			lo = l.Load
		case l.Why == Fails && hi == 0:
			hi = l.Load
		}
	}
	wide := math.Log(hi) - math.Log(lo)
	if lo > 0 && hi > lo && (x.By == Concurrency || wide < 2.2*h) && e.log > math.Log(lo)+0.5*h && e.log < math.Log(hi)-0.5*h {
		return lo, hi
	}
	if newLo := round(math.Exp(e.log-h), x.By); lo == 0 || math.Abs(math.Log(newLo/lo)) > 0.1*h {
		lo = newLo
	}
	if newHi := round(math.Exp(e.log+h), x.By); hi == 0 || math.Abs(math.Log(newHi/hi)) > 0.1*h {
		hi = newHi
	}
	if x.By == Concurrency && hi <= lo {
		lo = max(1, math.Floor(math.Exp(e.log)))
		hi = lo + 1
	}
	return lo, hi
}

// count is how many legs were made for a purpose.
func (x *search) count(why LegPurpose) (n int) {
	for _, l := range x.legs {
		if l.Why == why {
			n++
		}
	}
	return n
}

func (x *search) estimate(ctx context.Context) error {
	if len(x.legs) == 0 {
		return nil
	}
	if err := x.fitModel(ctx); err != nil {
		return err
	}
	x.byCurve()
	if x.match == nil {
		return nil
	}
	return x.byTwin(ctx)
}

func (x *search) byCurve() {
	x.best = make([]estimate, len(x.Objectives))
	var before estimate // between the loads that passed and those that failed, more or less
	if up, down, _ := x.bracket(); up > 0 && down > 0 {
		before = estimate{log: math.Log(up*down) / 2, sd: max(0.3, math.Log(down/up))}
	}
	for i, o := range x.Objectives {
		e := estimate{log: math.NaN(), sd: math.Inf(1)}
		for range 3 {
			if !x.touched(i, o) {
				break
			}
			e = capacityCurve(x.legs, x.By, i, allowed(o), e.log, before)
		}
		x.best[i] = e
	}
}

// touched reports whether a leg came near the limit of an objective. Until one does the
// capacity by it may be anywhere above.
func (x *search) touched(i int, o metrics.Objective) bool {
	return slices.ContainsFunc(x.legs, func(l MeasuredLeg) bool {
		t := l.Tail(i)
		return l.By == x.By && (l.Reason() != "" || float64(t.Above[centre]) > allowed(o)*float64(t.N)/2)
	})
}
