package search

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/tool"
)

func fourPoints() *PointLoads {
	p := &PointLoads{Name: "s", Repeats: 3, Seed: 7}
	for _, v := range []string{"1", "2", "3", "4"} {
		p.Points = append(p.Points, curve.Point{{Name: "rate", Value: v}})
		p.Loads = append(p.Loads, experiment.VariantLoad{Compiled: tool.Compiled{Spec: plan.Spec{Target: plan.Target{Simulated: true}}}})
	}
	return p
}

// Each repetition visits each point once, and not all of them in the same order.
func TestOrder(t *testing.T) {
	p := fourPoints()
	all, orders := p.Order(), map[string]bool{}
	for r := range p.Repeats {
		order := ""
		for _, turn := range all[4*r : 4*r+4] {
			if turn.Repeat != r {
				t.Errorf("%v is among the turns of repetition %d", turn, r)
			}
			order += p.Points[turn.Point][0].Value
		}
		letters := []byte(order)
		if slices.Sort(letters); string(letters) != "1234" {
			t.Errorf("repetition %d visits %s", r, order)
		}
		orders[order] = true
	}
	if len(orders) < 2 {
		t.Errorf("all repetitions have one order: %v", orders)
	}
}

// No two turns share a seed, and more repetitions leave those of the first ones as they are.
func TestSeeds(t *testing.T) {
	p, more := fourPoints(), fourPoints()
	more.Repeats = 5
	seen := map[uint64]bool{}
	for _, turn := range p.Order() {
		l := p.Load(turn)
		if seen[l.Spec.Seed] {
			t.Errorf("seed %d comes again", l.Spec.Seed)
		}
		seen[l.Spec.Seed] = true
		if m := more.Load(turn); m.Spec.Seed != l.Spec.Seed || string(m.Spec.Target.Engine) != string(l.Spec.Target.Engine) {
			t.Errorf("%v has another seed among more repetitions", turn)
		}
	}
}

func made(id string) *run.Result {
	return &run.Result{Trace: &trace.Trace{Run: trace.Run{ID: id, Status: trace.Complete}}}
}

// A maker makes runs by what it is told to do at each point.
type maker struct {
	*PointLoads
	t     *testing.T
	calls []string
	at    map[string]func() (*run.Result, error)
}

func (m *maker) run(had map[PointRun]curve.Observation) ([]curve.Observation, error) {
	deps := Deps{Begins: func(int, PointRun) {}, Ended: func(PointRun, curve.Observation) {}}
	deps.Make = func(l experiment.VariantLoad, leg trace.Leg) (*run.Result, error) {
		if leg.Workload != l.Workload || leg.Experiment != "s" || leg.Position == 0 || leg.Block == 0 {
			m.t.Errorf("leg %+v of %s", leg, l.Workload)
		}
		m.calls = append(m.calls, l.Workload)
		if do := m.at[l.Workload]; do != nil {
			return do()
		}
		return made(l.Spec.Name), nil
	}
	return RunSweep(m.PointLoads, had, deps, func(err error) bool { return errors.Is(err, errStop) })
}

var errStop = errors.New("stop")

// A point that fails is told, and the others are measured.
func TestAPointThatFailsIsARow(t *testing.T) {
	m := &maker{PointLoads: fourPoints(), t: t, at: map[string]func() (*run.Result, error){
		"rate=3": func() (*run.Result, error) { return nil, errors.New("too much") },
	}}
	all, err := m.run(nil)
	failed := 0
	for _, o := range all {
		if !o.Failed.IsZero() {
			failed++
			if o.Point != 2 || o.Failed.Args["why"] != "too much" {
				t.Errorf("%+v", o)
			}
		}
	}
	if err != nil || len(all) != 12 || failed != 3 {
		t.Errorf("%d observations, %d failed, %v", len(all), failed, err)
	}
}

// An interrupt ends a sweep and keeps what there is; what is had is not made again.
func TestAnInterruptKeepsWhatThereIs(t *testing.T) {
	m := &maker{PointLoads: fourPoints(), t: t}
	first := m.Order()[0]
	had := map[PointRun]curve.Observation{first: {Point: first.Point, Run: "old"}}
	third := m.Points[m.Order()[2].Point].String()
	m.at = map[string]func() (*run.Result, error){third: func() (*run.Result, error) { return nil, errStop }}
	all, err := m.run(had)
	if !errors.Is(err, ErrInterrupted) || len(all) != 2 || all[0].Run != "old" || len(m.calls) != 2 {
		t.Errorf("%v, %v after %v", all, err, m.calls)
	}
}

// A server that is gone is not the fault of a load.
func TestAServerThatIsGoneEndsASweep(t *testing.T) {
	gone := func() (*run.Result, error) { return nil, &run.UnreachableError{Err: errors.New("refused")} }
	m := &maker{PointLoads: fourPoints(), t: t, at: map[string]func() (*run.Result, error){}}
	for _, p := range m.Points {
		m.at[p.String()] = gone
	}
	if all, err := m.run(nil); err == nil || len(all) != 3 || len(m.calls) != 3 {
		t.Errorf("%v, %v", all, err)
	}
}

// Turns made at the same time have the results of turns made one after the other, and in their order.
func TestTurnsAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fourPoints()
		run := func(atOnce int) ([]curve.Observation, int32, time.Duration) {
			var now, most atomic.Int32
			d := Deps{AtOnce: atOnce, Begins: func(int, PointRun) {}, Ended: func(PointRun, curve.Observation) {}}
			d.Make = func(l experiment.VariantLoad, leg trace.Leg) (*run.Result, error) {
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(time.Duration(13-leg.Position) * time.Second) // the first takes longest
				now.Add(-1)
				if leg.Position == 5 {
					return nil, errors.New("too much")
				}
				return made(l.Spec.Name), nil
			}
			begun := time.Now()
			all, err := RunSweep(p, map[PointRun]curve.Observation{p.Order()[1]: {Run: "old"}}, d, func(error) bool { return false })
			if err != nil {
				t.Error(err)
			}
			return all, most.Load(), time.Since(begun)
		}
		want, one, long := run(0)
		got, three, short := run(3)
		if one != 1 || three != 3 || long < 2*short {
			t.Errorf("%d and %d at once, in %v and %v", one, three, long, short)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(- one after the other, + at once)\n%s", diff)
		}
	})
}

// A turn that ends a sweep lets those begun beside it end, and no other begin.
func TestAnInterruptAwaitsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun, ended atomic.Int32
		d := Deps{AtOnce: 3, Begins: func(int, PointRun) { begun.Add(1) }, Ended: func(PointRun, curve.Observation) {}}
		d.Make = func(l experiment.VariantLoad, leg trace.Leg) (*run.Result, error) {
			time.Sleep(time.Duration(leg.Position) * time.Second)
			ended.Add(1)
			if leg.Position == 2 {
				return nil, errStop
			}
			return made(l.Spec.Name), nil
		}
		all, err := RunSweep(fourPoints(), nil, d, func(err error) bool { return errors.Is(err, errStop) })
		if !errors.Is(err, ErrInterrupted) || len(all) != 1 || begun.Load() != 4 || ended.Load() != 4 {
			t.Errorf("%d observations, %v, %d begun, %d ended", len(all), err, begun.Load(), ended.Load())
		}
	})
}
