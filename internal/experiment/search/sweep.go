package search

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
)

// A PointLoads is points with the load of each.
type PointLoads struct {
	Name    string
	Points  []curve.Point
	Loads   []experiment.VariantLoad // by point
	Skipped map[int]bool             // points of which no run is made, by index
	Repeats int
	Seed    uint64 // of the order and of the loads
	// Lasting is as in curve.Design: how long the requests of points are sent of which the flags
	// do not say it.
	Lasting []time.Duration
}

// A PointRun is one run of a sweep: a repetition of a point. Both count as indices, the first
// repetition is 0.
type PointRun struct{ Point, Repeat int }

// Order is the order of the turns: each repetition visits all points that are not skipped, in another order.
func (p *PointLoads) Order() (all []PointRun) {
	for r := range p.Repeats {
		dice := arrival.Dice(p.Seed, "sweep.order", uint64(r))
		for _, i := range rand.New(&dice).Perm(len(p.Points)) {
			if !p.Skipped[i] {
				all = append(all, PointRun{i, r})
			}
		}
	}
	return all
}

// Load is the load of a turn, under the name that its run has. Its seeds are those of no other
// turn: a server's cache of prompts must not have seen them. They do not depend on how many
// repetitions there are.
func (p *PointLoads) Load(t PointRun) experiment.VariantLoad {
	l := p.Loads[t.Point]
	nth := t.Repeat*len(p.Points) + t.Point
	l.Workload = p.Points[t.Point].String()
	l.Spec.Name = p.RunName(t)
	l.Spec.Seed = design.LoadSeed(p.Seed, 1, nth+1)
	if l.Spec.Target.URL == "" {
		l.Spec.Target.Engine = reseeded(l.Spec.Target.Engine, design.LoadSeed(p.Seed+1, 1, nth+1))
	}
	return l
}

// Light is the load of a point sent one request at a time, before all turns: it measures how long the answers of
// the point take.
func (p *PointLoads) Light(point int) experiment.VariantLoad {
	l := p.Loads[point]
	l.Workload, l.Spec = "light", experiment.LightLoad(l.Spec)
	l.Spec.Name = p.Name + " / light"
	l.Spec.Seed = design.LoadSeed(p.Seed+2, 1, point+1)
	return l
}

// RunName is the name of the run of a turn: those of a sweep, and those of a point, are found
// by the beginning that they share.
func (p *PointLoads) RunName(t PointRun) string {
	return curve.RunName(p.Name, p.Points[t.Point], t.Repeat+1)
}

// reseeded are settings of the engine with another seed; settings that are no object stay for the engine to refuse.
func reseeded(settings json.RawMessage, seed uint64) json.RawMessage {
	all := map[string]json.RawMessage{}
	if settings != nil && json.Unmarshal(settings, &all) != nil {
		return settings
	}
	all["seed"], _ = json.Marshal(seed & math.MaxUint32)
	b, _ := json.Marshal(all) // of raw messages that were read
	return b
}

// leg is the leg as which the run of a turn is stored.
func (p *PointLoads) leg(t PointRun, position int) trace.Leg {
	return trace.Leg{
		Experiment: p.Name, Workload: p.Points[t.Point].String(), Block: t.Repeat + 1, Position: position, Slot: (position-1)%len(p.Points) + 1, Repeat: 1,
	}
}

// Deps are what a sweep depends on.
type Deps struct {
	// Make makes a run and stores it. With AtOnce several goroutines call it.
	Make func(experiment.VariantLoad, trace.Leg) (*run.Result, error)
	// AtOnce is the number of turns made at the same time, at most; 0 is 1. Only simulations
	// do not disturb each other.
	AtOnce int
	// Begins and Ended report a turn, the n-th of all, in order; made is its result.
	Begins func(n int, t PointRun)
	Ended  func(t PointRun, made curve.Observation)
}

// ErrInterrupted says that a sweep was interrupted, and can be gone on with.
var ErrInterrupted = errors.New("interrupted")

// mostLost turns in a row without a run end a sweep: the server is gone, whatever the load.
const mostLost = 3

// RunSweep makes the turns that are not among had, and returns the observations of all turns, in order. An error
// comes with those made until then; turns begun at the same time are awaited. interrupted reports of an error of
// Make that it is an interrupt.
func RunSweep(p *PointLoads, had map[PointRun]curve.Observation, d Deps, interrupted func(error) bool) (all []curve.Observation, err error) {
	results, end := p.ahead(had, d, interrupted)
	defer end()
	lost := 0
	for _, t := range p.Order() {
		if o, ok := had[t]; ok {
			all = append(all, o)
			continue
		}
		if err != nil {
			continue // for those that are had
		}
		r := results()
		if r.ends != nil {
			err = r.ends
			continue
		}
		all = append(all, r.seen)
		d.Ended(t, r.seen)
		if lost++; r.lost == nil {
			lost = 0
		}
		if lost == mostLost {
			err = r.lost
		}
	}
	return all, err
}

type result struct {
	seen curve.Observation
	lost error // why there is no run
	ends error // the sweep
}

// ahead makes the turns that are not among had. Each call of next is the result of the next
// one in order; it begins as many of those behind as may be made at the same time. end awaits
// them.
func (p *PointLoads) ahead(had map[PointRun]curve.Observation, d Deps, interrupted func(error) bool) (next func() result, end func()) {
	var begun []chan result // with results not yet collected
	order := p.Order()
	n := 0 // turns that were made before, or have begun
	begin := func() {
		for ; n < len(order) && len(begun) < max(d.AtOnce, 1); n++ {
			t, number := order[n], n+1
			if _, ok := had[t]; ok {
				continue
			}
			made := make(chan result, 1)
			begun = append(begun, made)
			d.Begins(number, t)
			go func() { made <- p.make(t, number, d, interrupted) }()
		}
	}
	await := func() result {
		r := <-begun[0]
		begun = begun[1:]
		return r
	}
	next = func() result {
		begin()
		return await()
	}
	end = func() {
		for len(begun) > 0 {
			await()
		}
	}
	return next, end
}

// make makes a turn, the n-th of all.
func (p *PointLoads) make(t PointRun, n int, d Deps, interrupted func(error) bool) result {
	r, wrong := d.Make(p.Load(t), p.leg(t, n))
	if interrupted(wrong) || r != nil && r.Trace.Run.Status == trace.Interrupted {
		return result{ends: ErrInterrupted}
	}
	if problems := plan.Problems(nil); errors.As(wrong, &problems) || r != nil && wrong != nil { // setting or store
		return result{ends: wrong}
	}
	if r == nil {
		return result{lost: wrong, seen: curve.Observation{Point: t.Point, Failed: plan.Msg(failed, "why", wrong)}}
	}
	return result{seen: p.Observe(t.Point, r)}
}

// Messages about legs that are not evidence, which experiments have too.
const (
	failed          plan.Code = "experiment.leg-failed"
	invalid         plan.Code = "experiment.leg-invalid"
	sweepUnanswered plan.Code = "experiment.leg-unanswered"
)

// Observe is the observation of a run of a point, maybe a stored one.
func (p *PointLoads) Observe(point int, r *run.Result) curve.Observation {
	o := curve.Observation{Point: point, Run: r.Trace.Run.ID, Unsettled: metrics.Unsettled(r.Trace)}
	if point < len(p.Lasting) && p.Lasting[point] > 0 {
		o.Figures = metrics.SettledFigures(r.Trace)
	} else {
		o.Figures = metrics.PitotDefinitions().Figures(r.Trace, "")
	}
	verdict := r.Summary.Health.Verdict
	switch {
	case r.Unanswered() != nil:
		o.Failed = plan.Msg(sweepUnanswered, "why", r.Unanswered())
	case verdict.Validity == trace.Invalid:
		o.Failed = metrics.Invalid(verdict)
	}
	return o
}
