package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/cli/foreign"
	"github.com/pitot-bench/pitot/internal/cli/live"
	"github.com/pitot-bench/pitot/internal/cli/measuring"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
)

// A runner makes runs for commands of other packages.
type runner struct{ compiler }

var _ measuring.Maker = runner{}

// Make makes a run and keeps it.
func (r runner) Make(l experiment.Load, o measuring.Options) (*run.Result, error) {
	made := *l.Made.(*compiled)
	made.spec = l.Spec
	view := r.p.view(live.Options{Quiet: o.Quiet, Progress: o.Progress, Brief: true})
	m, err := r.p.newMaking(&made, o.Store, view)
	if err != nil {
		return nil, err
	}
	defer m.close()
	m.leg = o.Leg
	if o.Until != nil {
		return m.makeUntil(context.Background(), o.Until, o.Until.Done)
	}
	if o.Watch == nil {
		return m.make()
	}
	m.sinks = append(m.sinks, o.Watch)
	s := r.p.console().WatchSignals()
	defer s.Release()
	return m.makeUntil(s.Run, s.Preparing, func() <-chan struct{} { return either(s.Run, s.Executing(), o.Enough) })
}

// Fleet joins a fleet.
func (r runner) Fleet(f flags.Fleet, simulated bool) (end func(), err error) {
	return r.p.joinFleet(f, simulated)
}

// Deps are those of a run of which this process sends a share.
func (r runner) Deps(folder string) run.Deps {
	d := r.p.deps(nil, filepath.Join(folder, "prompts"))
	d.Inspect, d.Collectors = false, nil // which the controller does
	return d
}

// Collect completes a stored run.
func (r runner) Collect(begun trace.Run, o measuring.Options, collect func(context.Context, ...run.Sink) (*run.Result, error)) error {
	view := r.p.view(live.Options{Quiet: o.Quiet, Progress: o.Progress})
	keep, err := r.p.newKeeper(o.Store, view.Unsaved)
	if err != nil {
		return err
	}
	defer keep.close()
	s := r.p.console().WatchSignals()
	defer s.Release()
	if err := keep.reopen(s.Preparing, begun.ID); err != nil {
		return err
	}
	result, err := collect(s.Preparing, keep, view)
	view.End()
	if result == nil {
		return cmp.Or(context.Cause(s.Preparing), err)
	}
	printed := r.p.printReports(result.Trace, result.Summary, []string{"pitot"}, "")
	m := making{p: r.p, keep: keep, live: view}
	return m.end(result, err, errors.Join(printed, result.Unanswered()), false)
}

// either is closed with the first of two channels.
func either(ctx context.Context, a, b <-chan struct{}) <-chan struct{} {
	first := make(chan struct{})
	go func() {
		select {
		case <-a:
		case <-b:
		case <-ctx.Done():
		}
		close(first)
	}()
	return first
}

// Simulate makes a run that is not kept.
func (r runner) Simulate(ctx context.Context, s plan.Spec) (*run.Result, error) {
	prepared, err := run.Prepare(ctx, s, r.p.deps(nil, ""))
	if err != nil {
		return nil, err
	}
	defer prepared.Close()
	return prepared.Execute(ctx, nil)
}

// Line makes the run of a command line of vllm, and what that leaves behind.
func (r runner) Line(words []string, stdout io.Writer) error {
	own := *r.p
	own.Args, own.Stdout = words, stdout
	l, err := foreign.Of(words)
	if err != nil {
		return err
	}
	return runVLLM(l, &own)
}

// Requests are those of a Spec, as the engine of a profile takes them.
func (r runner) Requests(ctx context.Context, s plan.Spec, p *profile.Profile) (sim.Plan, trace.Run, error) {
	deps := r.p.offline().deps(nil, "")
	deps.Profile = p
	prepared, err := run.Prepare(ctx, s, deps)
	if err != nil {
		return sim.Plan{}, trace.Run{}, err
	}
	defer prepared.Close()
	made, err := prepared.Simulation(ctx)
	return made, prepared.Run(), err
}

// Like are stored runs that want says yes to.
func (r runner) Like(file string, limit int, want func(*trace.Run) bool) (traces []*trace.Trace, err error) {
	path, err := r.p.console().StorePath(file)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	err = r.p.with(file, func(runs *store.Store) error {
		list, err := runs.List(store.Filter{Kind: trace.Measured, Status: trace.Complete})
		for _, l := range list {
			if len(traces) == limit {
				break
			}
			header, err := runs.Run(l.ID)
			if err != nil || !want(&header) { // a damaged one is no evidence
				continue
			}
			t, err := runs.Load(l.ID)
			if err != nil {
				continue
			}
			traces = append(traces, t)
		}
		return err
	})
	return traces, err
}

// Traces are the runs that arguments stand for, whole.
func (r runner) Traces(args []string, file string) (traces []*trace.Trace, err error) {
	k := &picker{process: r.p, file: file}
	defer func() { err = errors.Join(err, k.close()) }()
	picks, err := k.pick(args)
	if err != nil {
		return nil, err
	}
	for _, one := range picks {
		t, err := one.Load()
		if err != nil {
			return nil, err
		}
		traces = append(traces, t)
	}
	return traces, nil
}
