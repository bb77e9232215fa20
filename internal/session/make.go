package session

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/show/live"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// Options are those of a run that is stored.
type Options struct {
	Store    string     // file of the store, as a command line names it
	View     *View      // shows the run; nil: a brief one, by the next two
	Quiet    bool       // print nothing on the way
	Progress live.Mode  // how a terminal shows the run; empty: Auto
	Leg      *trace.Leg // of an experiment; nil: none
	Apart    bool       // the Result need not have the records, see run.Deps.Stored
	Sinks    []run.Sink // see the events of the run, besides the store and the view
	Ends     *Ends      // end the run; nil: interrupts do
	// Enough, if not nil and closed, ends the sending as a first interrupt does.
	Enough <-chan struct{}
}

// Ends end a run: Preparing ends the steps before the first request, Stop the sending, Run the requests in flight.
type Ends struct {
	Run, Preparing context.Context
	Stop           <-chan struct{}
}

// Made is a run that was made, and how to see it again.
type Made struct {
	*run.Result
	StoredHint string // empty: it is not stored
}

// Make makes a run and stores it. Its end before the first request is ErrInterrupted; later it is the result of an
// interrupted run. With an error there may be a result: the measurements so far.
func (s *Session) Make(l experiment.VariantLoad, o Options) (Made, error) {
	view := o.View
	if view == nil {
		view = s.NewView(ViewOptions{Quiet: o.Quiet, Progress: o.Progress, Brief: true})
	}
	keep, err := s.newStoreSink(o.Store, view.Unsaved)
	if err != nil {
		return Made{}, err
	}
	defer keep.close()
	deps := s.Deps(l.Given, keep.path)
	deps.Before = func(r *trace.Run, same func(*plan.Spec) bool) string { return keep.store.Before(*r, same) }
	deps.Notes, deps.Machine.Invocation, deps.Leg, deps.Serving, deps.MarkKey = l.Notes, l.Args, o.Leg, l.Serving, keep.store.MarkKey
	if o.Apart {
		deps.Stored = func() iter.Seq2[[]*trace.Record, error] { return keep.writer.Records() }
	}
	sinks := append([]run.Sink{keep, view}, o.Sinks...)
	deps.OnEvent = func(e run.Event) {
		for _, s := range sinks {
			_ = s.Handle(e)
		}
	}
	if deps, err = s.fleet.Into(deps, l.Spec.Target.Simulated, view.Print); err != nil {
		return Made{}, err
	}
	defer view.End()
	result, err := s.execute(l.Spec, deps, o, sinks)
	if errors.Is(err, run.ErrStopped) || result == nil && errors.Is(err, context.Canceled) { // one interrupt, or two
		return Made{}, ErrInterrupted
	}
	return s.made(keep, result, InWords(l.Front, err))
}

func (s *Session) made(keep *storeSink, result *run.Result, err error) (Made, error) {
	if result == nil {
		return Made{}, err
	}
	return Made{result, keep.hint(result.Trace.Run.ID, err, s.Words())}, err
}

// execute prepares a run and executes it, until its ends.
func (s *Session) execute(spec plan.Spec, deps run.Deps, o Options, sinks []run.Sink) (*run.Result, error) {
	ends, stop := o.Ends, func() <-chan struct{} { return o.Ends.Stop }
	if ends == nil {
		signals := s.WatchSignals()
		defer signals.Release()
		ends, stop = &Ends{Run: signals.Run, Preparing: signals.Preparing}, signals.Executing
	}
	prepared, err := prepare(ends.Preparing, spec, deps)
	if err != nil {
		return nil, err
	}
	defer prepared.Close()
	stopped := stop()
	if o.Enough != nil {
		stopped = either(ends.Run, stopped, o.Enough)
	}
	return prepared.Execute(ends.Run, stopped, sinks...)
}

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

// SignalGrace is how soon a command must take a signal.
const SignalGrace = time.Second

// prepare is run.Prepare, but leaves it behind where an interrupt does not reach it: a file
// may be a pipe without a writer.
func prepare(ctx context.Context, spec plan.Spec, deps run.Deps) (*run.Prepared, error) {
	type outcome struct {
		*run.Prepared
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		p, err := run.Prepare(ctx, spec, deps)
		done <- outcome{p, err}
	}()
	var left <-chan time.Time
	for interrupted := ctx.Done(); ; {
		select {
		case o := <-done:
			return o.Prepared, o.err
		case <-interrupted:
			interrupted, left = nil, time.After(SignalGrace)
		case <-left:
			return nil, context.Cause(ctx)
		}
	}
}

// Collect completes a stored run that another process began and died of: collect brings it to its end, and reports it
// to sinks.
func (s *Session) Collect(begun trace.Run, o Options, collect func(context.Context, ...run.Sink) (*run.Result, error)) (Made, error) {
	view := s.NewView(ViewOptions{Quiet: o.Quiet, Progress: o.Progress})
	keep, err := s.newStoreSink(o.Store, view.Unsaved)
	if err != nil {
		return Made{}, err
	}
	defer keep.close()
	signals := s.WatchSignals()
	defer signals.Release()
	if err := keep.reopen(signals.Preparing, begun.ID); err != nil {
		return Made{}, err
	}
	result, err := collect(signals.Preparing, keep, view)
	view.End()
	if cause := context.Cause(signals.Preparing); result == nil && cause != nil {
		return Made{}, cause
	}
	return s.made(keep, result, err)
}

// DepsOfShare is the world around runs of which this process sends a share; folder has room for prompts.
func (s *Session) DepsOfShare(folder string) run.Deps {
	d := s.Deps(nil, filepath.Join(folder, "prompts"))
	d.Inspect, d.Collectors = false, nil // the controller's
	return d
}

// Simulate makes a run in virtual time that is not stored. Its Spec must be of a simulation.
func (s *Session) Simulate(ctx context.Context, spec plan.Spec) (*run.Result, error) {
	prepared, err := run.Prepare(ctx, spec, s.Deps(nil, ""))
	if err != nil {
		return nil, err
	}
	defer prepared.Close()
	return prepared.Execute(ctx, nil)
}

// Requests are the requests of a Spec as the engine of a profile takes them, and the run that simulates them, before
// its first request. The Spec must be of a simulation.
func (s *Session) Requests(
	ctx context.Context, spec plan.Spec, p *profile.Profile,
) (sim.SimulationPlan, trace.Run, error) {
	deps := s.Offline().Deps(nil, "")
	deps.Profile = p
	prepared, err := run.Prepare(ctx, spec, deps)
	if err != nil {
		return sim.SimulationPlan{}, trace.Run{}, err
	}
	defer prepared.Close()
	made, err := prepared.Simulation(ctx)
	return made, prepared.Run(), err
}

// Command compiles a command line, and looks into its files.
func (s *Session) Command(words []string) (experiment.VariantLoad, error) {
	if len(words) == 0 {
		return experiment.VariantLoad{}, errors.New("no command; use bench, sim, vllm, sglang or python")
	}
	own := *s
	own.Args = words
	return s.Compile(&own, words)
}

// Spec checks a Spec.
func (s *Session) Spec(spec plan.Spec) (experiment.VariantLoad, error) {
	if problems := run.Check(spec, Kinds()); problems != nil {
		return experiment.VariantLoad{}, problems
	}
	c := tool.Compiled{Spec: spec, Front: plan.ByPath{}, Given: map[string]string{}}
	return experiment.VariantLoad{Compiled: c}, nil
}

// Draft is the draft of a command line of bench or sim.
func (s *Session) Draft(words ...string) (*pitot.Draft, error) { return s.Parse(s, words) }

// Load compiles and checks a draft.
func (s *Session) Load(d *pitot.Draft) (experiment.VariantLoad, error) {
	c, err := d.Compile()
	if err != nil {
		return experiment.VariantLoad{}, Usage(err)
	}
	if problems := run.Check(c.Spec, Kinds()); problems != nil {
		return experiment.VariantLoad{}, Usage(c.Explain(problems))
	}
	return experiment.VariantLoad{Compiled: tool.Compiled{Spec: c.Spec, Front: c, Given: c.Given, Args: pitot.MaskedArgs(d.Words())}}, nil
}

// Signals are the interrupts of a run: while it is prepared the first ends it; afterwards the first stops it, and
// the second cancels requests in flight.
type Signals struct {
	Run       context.Context // its execution
	Preparing context.Context
	Release   func()
	begin     chan chan struct{} // hands over the channel to close
}

// WatchSignals begins to listen.
func (s *Session) WatchSignals() *Signals {
	ctx, cancel := context.WithCancel(context.Background())
	preparing, interrupt := context.WithCancelCause(ctx)
	w := &Signals{Run: ctx, Preparing: preparing, begin: make(chan chan struct{}), Release: cancel}
	go func() {
		var stop chan struct{}
		for stop == nil {
			select {
			case <-s.Signals:
				interrupt(ErrInterrupted)
			case stop = <-w.begin:
			case <-ctx.Done():
				return
			}
		}
		for _, next := range []func(){func() { close(stop) }, cancel} {
			select {
			case <-s.Signals:
				next()
			case <-ctx.Done():
				return
			}
		}
	}()
	return w
}

// Executing says that the run is prepared. The channel is closed to stop it.
func (s *Signals) Executing() <-chan struct{} {
	stop := make(chan struct{})
	s.begin <- stop
	return stop
}
