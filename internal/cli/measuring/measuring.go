// Package measuring is what commands of other packages have of package cli to make runs: a
// command line compiled, the run of it made and kept, or only simulated.
package measuring

import (
	"context"
	"io"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/show/progress"
)

// A Maker makes runs. Package cli binds one for the commands below it.
type Maker interface {
	// Command and Spec compile a load, and check all of it that can be checked without
	// traffic. A Load may be changed in its Spec and made many times.
	experiment.Compiler
	// Make makes a run and keeps it. An interrupt before the run ends it with
	// console.ErrInterrupted; during the run it ends sending, and the result is that of an
	// interrupted run. A result may come beside an error: what was measured.
	Make(l experiment.Load, o Options) (*run.Result, error)
	// Fleet has the runs that are made from now on sent by the fleet that flags or the environment
	// name, if they do, until end is called. Simulated says that all are simulations.
	Fleet(f flags.Fleet, simulated bool) (end func(), err error)
	// Deps is the world around runs that this process sends a share of; folder has room for prompts.
	Deps(folder string) run.Deps
	// Collect keeps and reports a run that another process began and died of: collect brings it
	// to its end, and tells it to sinks.
	Collect(begun trace.Run, o Options, collect func(ctx context.Context, sinks ...run.Sink) (*run.Result, error)) error
	// Simulate makes a run in virtual time that is not kept. Its Spec must be of a simulation.
	Simulate(ctx context.Context, s plan.Spec) (*run.Result, error)
	// Line makes the run of a command line of `vllm bench serve`, words after vllm, as that
	// command does: it is kept, and its report and its files are written.
	Line(words []string, stdout io.Writer) error
	// Requests are the requests of a Spec as the engine of a profile takes them, and the run
	// that simulates them, before its first request. The Spec must be of a simulation.
	Requests(ctx context.Context, s plan.Spec, p *profile.Profile) (sim.Plan, trace.Run, error)
	// Like are the runs in the store that want says yes to, the newest first, at most limit
	// of them; a store that is not there has none.
	Like(store string, limit int, want func(*trace.Run) bool) ([]*trace.Trace, error)
	// Traces are the runs that arguments stand for: stored ones, files and folders.
	Traces(args []string, store string) ([]*trace.Trace, error)
}

// Options are those of a run that is kept.
type Options struct {
	Store string     // file of the store, as a command line names it
	Quiet bool       // nothing is said on the way
	Leg   *trace.Leg // of an experiment; nil: none
	// Progress is how the run is shown while it goes on, if a terminal shows it; empty: Auto.
	Progress progress.Mode
	// Watch, if not nil, sees the events of the run too, and closing Enough ends its sending: the
	// result is then that of an interrupted run.
	Watch  run.Sink
	Enough <-chan struct{}
	// Until, if not nil, ends the run in place of interrupts, of which each reaches only one of
	// several runs that are made at once.
	Until context.Context
}
