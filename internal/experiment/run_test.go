package experiment

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/experiment/server"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/sys/proc"
	"github.com/pitot-bench/pitot/internal/tool"
)

// A lab is a world for experiments: servers that take 2 s to start and 1 s to stop, and runs
// that take 10 s.
type lab struct {
	t       *testing.T
	log     []string
	figures map[string]trace.Run // runs, by id
	void    []string
	kept    Journal
	up      map[string]*fakeServer

	// What goes wrong, by the number of the leg; may be nil.
	run   func(leg trace.Leg) error
	start func(n int) error
	dies  func(leg trace.Leg) bool
	// value is a figure of a run.
	value func(leg trace.Leg) float64
	after func(leg trace.Leg) // called in the middle of a run

	starts int
}

type fakeServer struct {
	lab  *lab
	name string
	done chan struct{}
	fail error
}

func (s *fakeServer) Ready(ctx context.Context) (time.Duration, error) {
	select {
	case <-time.After(2 * time.Second):
		return 2 * time.Second, s.fail
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}
func (s *fakeServer) Done() <-chan struct{} { return s.done }
func (s *fakeServer) Ended() server.End {
	return server.End{Exit: &proc.Exit{Code: 1}, Lines: []string{"out of memory"}}
}
func (s *fakeServer) Life() server.Lifetime { return server.Lifetime{} }
func (s *fakeServer) Stop(context.Context) (server.Stopped, error) {
	time.Sleep(time.Second)
	s.lab.say("stop %s", s.name)
	delete(s.lab.up, s.name)
	return server.Stopped{}, nil
}

func (l *lab) say(format string, a ...any) { l.log = append(l.log, fmt.Sprintf(format, a...)) }

func (l *lab) deps() Deps {
	return Deps{
		Measure: l.measure, Start: l.startServer, Now: time.Now,
		Log:  func(leg *Leg) string { return fmt.Sprintf("leg-%d.log", leg.Position) },
		Keep: func(j *Journal) error { l.kept = *j; return nil },
		Void: func(leg *Leg) error {
			for _, made := range leg.Runs {
				l.void = append(l.void, made.ID)
			}
			return nil
		},
		Observed: func(legs []*Leg) (out []compare.ComparedRun, err error) {
			for _, leg := range legs {
				for _, made := range leg.Runs {
					r := l.figures[made.ID]
					out = append(out, compare.Observe(&trace.Trace{Run: r}, compare.Needed([]trace.Run{r}, compare.Options{}), metrics.Rules{}))
				}
			}
			return out, nil
		},
	}
}

func (l *lab) startServer(_ context.Context, s design.ServerSetup, o server.Options) (Server, error) {
	l.starts++
	name := path.Base(s.Command)
	if l.up[name] != nil {
		l.t.Errorf("%s is started twice", name)
	}
	if err := o.SaveHandle(server.Handle{Runner: design.Docker, Container: name}); err != nil {
		return nil, err
	}
	l.say("start %s", name)
	f := &fakeServer{lab: l, name: name, done: make(chan struct{})}
	if l.start != nil {
		f.fail = l.start(l.starts)
	}
	l.up[name] = f
	return f, nil
}

func (l *lab) measure(ctx context.Context, stop <-chan struct{}, load VariantLoad, leg trace.Leg) (*run.Result, error) {
	if asked := load.Spec.Before.Ready.Ask; len(l.up) > 0 && asked != plan.AskSmall {
		l.t.Errorf("leg %d: a server that was started is asked for %q", leg.Position, asked)
	}
	if at := load.Serving.Site.Name; l.up[leg.Variant] != nil && at != leg.Variant {
		l.t.Errorf("leg %d: the server is looked for in %q", leg.Position, at)
	}
	time.Sleep(5 * time.Second)
	if l.after != nil {
		l.after(leg)
	}
	if l.dies != nil && l.dies(leg) {
		close(l.up[leg.Variant].done)
	}
	select {
	case <-stop:
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
	}
	if l.run != nil {
		if err := l.run(leg); err != nil {
			return nil, err
		}
	}
	id := fmt.Sprintf("run-%d", len(l.figures)+1)
	value := 100.0
	if l.value != nil {
		value = l.value(leg)
	}
	r := trace.Run{
		ID: id, Name: load.Spec.Name, Kind: trace.Imported, Status: trace.Complete, Leg: &leg,
		Origin: &trace.Origin{Tool: "vllm", Detail: trace.Summed, Figures: []trace.ReportedFigure{{Name: "ttft.mean", Value: value}, {Name: "tpot.mean", Value: value / 10}}},
	}
	l.figures[id] = r
	l.say("run %s %d/%d seed %d", leg.Variant, leg.Block, leg.Slot, load.Spec.Seed)
	return &run.Result{Trace: &trace.Trace{Run: r}}, nil
}

func newLab(t *testing.T) *lab {
	return &lab{t: t, figures: map[string]trace.Run{}, up: map[string]*fakeServer{}}
}

// newPlan is a plan of two variants with servers of their own.
func newPlan(d design.Design) (*CheckedExperiment, *Journal) {
	d.Seed = 1
	p := &CheckedExperiment{Experiment: &design.Experiment{Name: "x", Design: d, Workloads: []design.Workload{{Name: "load"}}}}
	for _, name := range []string{"a", "b"} {
		p.Variants = append(p.Variants, design.Variant{Name: name, Server: design.ServerSetup{Command: name, URL: "http://" + name}})
		p.Loads = append(p.Loads, []VariantLoad{{Workload: "load", Compiled: tool.Compiled{Spec: plan.Spec{Target: plan.Target{URL: "http://" + name}}}}})
	}
	j := &Journal{Name: "x"}
	j.Looks = Looks(d)
	return p, j
}

// statuses are those of legs, in order: block, slot, variant, status.
func statuses(j *Journal) (out []string) {
	for _, l := range j.Legs {
		out = append(out, fmt.Sprintf("%d/%d %s %s", l.Block, l.Slot, l.Variant, l.Status))
	}
	return out
}

// variantsOf are the variants of a block, in order.
func variantsOf(d design.Design, block int) (out []string) {
	d.Seed = 1
	for _, v := range design.Order(2, d, block) {
		out = append(out, string(rune('a'+v)))
	}
	return out
}

func TestEachLegHasAServerOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		p, j := newPlan(design.Design{Blocks: 2})
		if _, err := Run(t.Context(), nil, p, j, l.deps()); err != nil {
			t.Fatal(err)
		}
		var want []string
		for block := 1; block <= 2; block++ {
			for slot, v := range variantsOf(p.Design, block) {
				want = append(want, "start "+v, fmt.Sprintf("run %s %d/%d seed %d", v, block, slot+1, design.LoadSeed(1, block, p.Repeat(1, 1, 1))), "stop "+v)
			}
		}
		if diff := cmp.Diff(want, l.log); diff != "" {
			t.Error(diff)
		}
		if j.Status != Done || l.kept.Status != Done || len(j.Legs) != 8 || j.Legs[7].ServerStart != 8 || j.Legs[3].Took != 13*time.Second || j.Spent != 8*13*time.Second {
			t.Errorf("%+v", j)
		}
	})
}

func TestServersOfABlockStayUp(t *testing.T) {
	for restart, want := range map[design.Restart]int{design.PerBlock: 4, design.Never: 2} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t)
			p, j := newPlan(design.Design{Blocks: 2, Restart: restart})
			if _, err := Run(t.Context(), nil, p, j, l.deps()); err != nil {
				t.Fatal(err)
			}
			if l.starts != want || len(l.up) != 0 {
				t.Errorf("%s: %d starts, %d still up", restart, l.starts, len(l.up))
			}
		})
	}
}

func TestAFailedLegIsMadeAgainOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.run = func(leg trace.Leg) error {
			if leg.Position == 2 || leg.Block == 2 && leg.Slot == 1 {
				return errors.New("no answer")
			}
			return nil
		}
		p, j := newPlan(design.Design{Blocks: 2})
		if _, err := Run(t.Context(), nil, p, j, l.deps()); err != nil {
			t.Fatal(err)
		}
		one, two := variantsOf(p.Design, 1), variantsOf(p.Design, 2)
		want := []string{
			"1/1 " + one[0] + " done", "1/2 " + one[1] + " failed", "1/2 " + one[1] + " done", "1/3 " + one[2] + " done", "1/4 " + one[3] + " done",
			"2/1 " + two[0] + " failed", "2/1 " + two[0] + " failed", "2/2 " + two[1] + " done", "2/3 " + two[2] + " done", "2/4 " + two[3] + " done",
		}
		if diff := cmp.Diff(want, statuses(j)); diff != "" {
			t.Error(diff)
		}
		if j.Legs[2].Attempt != 2 || len(l.up) != 0 {
			t.Errorf("%+v", j.Legs[2])
		}
	})
}

func TestAServerThatNeverStartsEndsTheExperiment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.start = func(n int) error {
			if n > 1 {
				return errors.New("exit status 1: no such flag")
			}
			return nil
		}
		p, j := newPlan(design.Design{Blocks: 3})
		_, err := Run(t.Context(), nil, p, j, l.deps())
		var lost *LostError
		if !errors.As(err, &lost) || lost.Leg.Why.Code != serverFailed || j.Status != Failed || len(j.Legs) != 1+mostLost*attempts || len(l.up) != 0 {
			t.Errorf("%v: %q", err, statuses(j))
		}
		l.start = nil // it was mended
		if _, err := Run(t.Context(), nil, p, j, l.deps()); err != nil || len(j.With(Done)) != 12 {
			t.Errorf("%v: %q", err, statuses(j))
		}
	})
}

func TestAServerThatDiesEndsItsLeg(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.dies = func(leg trace.Leg) bool { return leg.Position == 3 }
		p, j := newPlan(design.Design{Blocks: 2, Restart: design.Never})
		if _, err := Run(t.Context(), nil, p, j, l.deps()); err != nil {
			t.Fatal(err)
		}
		if leg := j.Legs[2]; leg.Status != Failed || leg.Why.Code != serverDied || leg.Took > 8*time.Second {
			t.Errorf("%+v", leg)
		}
		if j.Legs[3].Status != Done || j.Legs[3].ServerStart != 3 || !slices.Equal(l.void, []string{"run-3"}) || len(l.up) != 0 {
			t.Errorf("void %q, %q, %+v", l.void, statuses(j), j.Legs[3])
		}
	})
}

func TestAnExperimentGoesOnWhereItWasStopped(t *testing.T) {
	for what, at := range map[string]int{"in a run": 6, "at the first": 1} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				stop := make(chan struct{})
				l.after = func(leg trace.Leg) {
					if leg.Position == at {
						close(stop)
					}
				}
				p, j := newPlan(design.Design{Blocks: 2})
				if _, err := Run(t.Context(), stop, p, j, l.deps()); !errors.Is(err, ErrInterrupted) || j.Status != Interrupted || len(l.up) != 0 || len(j.Legs) != at || j.Legs[at-1].Status != Interrupted {
					t.Fatalf("%v %s: %q", err, j.Status, statuses(j))
				}
				l.after = nil
				if _, err := Run(t.Context(), nil, p, j, l.deps()); err != nil {
					t.Fatal(err)
				}
				if done := j.With(Done); len(done) != 8 || j.Legs[at].turn() != j.Legs[at-1].turn() || j.Legs[at].Attempt != 2 {
					t.Errorf("%q", statuses(j))
				}
			})
		})
	}
}

// A process that is killed leaves its last journal.
func TestALegThatWasUnderWayIsVoid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		p, j := newPlan(design.Design{Blocks: 2})
		j.Legs = []*Leg{{Variant: variantsOf(p.Design, 1)[0], Block: 1, Slot: 1, Ordinal: 1, Position: 1, Attempt: 1, Status: Running, Runs: []LegRun{{ID: "old"}}, Handle: &server.Handle{}}}
		if _, err := Run(t.Context(), nil, p, j, l.deps()); err != nil {
			t.Fatal(err)
		}
		if j.Legs[0].Status != Interrupted || j.Legs[0].Why.Code != legKilled || j.Legs[0].Handle != nil || !slices.Equal(l.void, []string{"old"}) || len(j.With(Done)) != 8 {
			t.Errorf("%q %q", l.void, statuses(j))
		}
	})
}

func TestABudgetEndsWithAWholeBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		p, j := newPlan(design.Design{Budget: plan.Duration(3 * time.Minute)}) // a block takes 52 s
		if _, err := Run(t.Context(), nil, p, j, l.deps()); err != nil {
			t.Fatal(err)
		}
		if len(j.Legs) != 12 || j.Ended.Code != endedBudget {
			t.Errorf("%d legs, %v", len(j.Legs), j.Ended)
		}
	})
}

func TestAnExperimentEndsWithItsVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.value = func(leg trace.Leg) float64 {
			v := 100 + float64(leg.Position*7%5)/5
			if leg.Variant == "b" {
				v *= 1.2
			}
			return v
		}
		p, j := newPlan(design.Design{Until: design.UntilVerdict})
		out, err := Run(t.Context(), nil, p, j, l.deps())
		if err != nil {
			t.Fatal(err)
		}
		if j.Ended.Code != endedVerdict || j.Blocks() != j.Looks.First() || j.Looks.Done != j.Blocks() || !out.Comparison.Settled() {
			t.Errorf("%v after %d blocks", j.Ended, j.Blocks())
		}
	})
}

func TestTheBestOfSeveralIsConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.value = func(leg trace.Leg) float64 {
			v := 100 + float64(leg.Position*7%5)/5
			if leg.Variant == "c" {
				v *= 0.8
			}
			return v
		}
		p, j := newPlan(design.Design{Blocks: 3})
		p.Variants = append(p.Variants, design.Variant{Name: "c", Server: design.ServerSetup{Command: "c", URL: "http://c"}})
		p.Loads = append(p.Loads, p.Loads[0])
		out, err := Run(t.Context(), nil, p, j, l.deps())
		if err != nil {
			t.Fatal(err)
		}
		legs := j.Legs[9:]
		if len(legs) != 4*design.DefaultConfirm || j.Winner != "c" || out.Confirmation == nil {
			t.Fatalf("%d legs, winner %q", len(legs), j.Winner)
		}
		for _, leg := range legs {
			if !leg.Confirms || !strings.Contains("ac", leg.Variant) || leg.Block < 4 {
				t.Errorf("%+v", leg)
			}
		}
		for _, w := range out.Confirmation.Workloads {
			if n := len(w.Variants[0].Runs) + len(w.Variants[1].Runs); n != 4*design.DefaultConfirm {
				t.Errorf("judged by %d runs", n)
			}
		}
	})
}

// Too little space ends an experiment before a server is started, and it goes on where it stood.
func TestTooLittleSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		d, looks := l.deps(), 0
		d.Space = func() error {
			if looks++; looks == 4 {
				return &SpaceError{"/x", 1 << 20}
			}
			return nil
		}
		p, j := newPlan(design.Design{Blocks: 2})
		_, err := Run(t.Context(), nil, p, j, d)
		space := (*SpaceError)(nil)
		if !errors.As(err, &space) || j.Status != Failed || j.Why.Key() != plan.Msg(legFailed, "why", space.Message()).Key() || l.starts != 3 || len(l.up) != 0 {
			t.Fatalf("%v, %+v, %d starts", err, j.Why, l.starts)
		}
		if _, err := Run(t.Context(), nil, p, j, d); err != nil || len(j.Legs) != 8 || len(j.With(Done)) != 8 {
			t.Errorf("%v: %q", err, statuses(j))
		}
	})
}

// Where a server goes on, its cache has seen the requests of a try that failed: the next one sends others, as do
// variants that share a server. The legs of other servers send the requests of the try that counts, so that they can
// be paired.
func TestASecondTryMeetsAServerThatHasNotSeenItsRequests(t *testing.T) {
	url := func(names ...string) func(p *CheckedExperiment) {
		return func(p *CheckedExperiment) {
			for v := range p.Variants {
				p.Variants[v].Server = design.ServerSetup{URL: names[v]}
				p.Loads[v][0].Spec.Target.URL = names[v]
			}
		}
	}
	never := func(p *CheckedExperiment) { p.Design.Restart = design.Never }
	for _, tt := range []struct {
		what   string
		failed int // the leg that fails, by its position
		change func(*CheckedExperiment)
		draws  []int
	}{
		{"servers that are up", 1, url("http://a", "http://b"), []int{1, 3, 3, 2, 2}},
		{"the second of a pair", 2, url("http://a", "http://b"), []int{1, 1, 3, 2, 2}},
		{"nothing was sent", -1, url("http://a", "http://b"), []int{1, 1, 1, 2, 2}},
		{"one server for both", 2, url("http://a", "http://a"), []int{1, 3, 4, 2, 5}},
		{"a reset before each run", 1, func(p *CheckedExperiment) { url("http://a", "http://a")(p); p.Cache = plan.ColdCache }, []int{1, 1, 1, 2, 2}},
		{"a server of each leg", 2, func(*CheckedExperiment) {}, []int{1, 1, 1, 1, 1}},
		{"a server that is started again", 1, never, []int{1, 1, 1, 2, 2}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				deps := l.deps()
				var seeds []uint64
				deps.Measure = func(ctx context.Context, stop <-chan struct{}, load VariantLoad, leg trace.Leg) (*run.Result, error) {
					seeds = append(seeds, load.Spec.Seed)
					r, err := l.measure(ctx, stop, load, leg)
					switch leg.Position {
					case tt.failed:
						r.Summary.Health.Verdict.Validity = trace.Invalid
					case -tt.failed:
						return nil, errors.New("no answer")
					}
					return r, err
				}
				p, j := newPlan(design.Design{Blocks: 1})
				tt.change(p)
				if _, err := Run(t.Context(), nil, p, j, deps); err != nil {
					t.Fatal(err)
				}
				var want []uint64
				for _, n := range tt.draws {
					want = append(want, design.LoadSeed(1, 1, p.Repeat(n, 1, 1)))
				}
				if diff := cmp.Diff(want, seeds); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}
