package cli

import (
	"context"
	"errors"

	"github.com/pitot-bench/pitot/internal/cli/measuring"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/plan"
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
	view := r.p.view(o.Quiet, r.p.Width == nil)
	view.Brief = true
	m, err := r.p.newMaking(&made, o.Store, view)
	if err != nil {
		return nil, err
	}
	defer m.close()
	m.leg = o.Leg
	if o.Watch == nil {
		return m.make()
	}
	m.sinks = append(m.sinks, o.Watch)
	s := r.p.watchSignals()
	defer s.release()
	return m.makeUntil(s.ctx, s.preparing, func() <-chan struct{} { return either(s.ctx, s.executing(), o.Enough) })
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

// Traces are the runs that arguments stand for, whole.
func (r runner) Traces(args []string, file string) (traces []*trace.Trace, err error) {
	k := &picker{process: r.p, file: file}
	defer func() { err = errors.Join(err, k.close()) }()
	picks, err := k.pick(args)
	if err != nil {
		return nil, err
	}
	for _, one := range picks {
		t, err := one.load()
		if err != nil {
			return nil, err
		}
		traces = append(traces, t)
	}
	return traces, nil
}
