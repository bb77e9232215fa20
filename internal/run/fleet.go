package run

import (
	"context"
	"iter"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

// A Fleet sends the requests of a run from other machines. All else of the run stays here.
type Fleet interface {
	// Assemble has machines prepare the run. It is called at the end of Prepare, before any load;
	// an error refuses the run.
	Assemble(ctx context.Context, j Job) error
	// Start has them agree on the instant at which the run begins, soon. r is the run as it is then.
	// An error says that nothing was sent, and nothing will be.
	Start(ctx context.Context, r *trace.Run) error
	// Drive follows the requests that are sent from then on, and reports progress and records; stop and ctx are
	// those of driver.Run. All requests that were sent or lost are in the Outcome.
	Drive(ctx context.Context, stop <-chan struct{}, t FleetSink) (Outcome, error)
	// Close lets the machines go.
	Close()
}

// A Job is the load of a run, ready to be sent.
type Job struct {
	Spec     plan.Spec // complete: server, model, tokenizer and ids are settled
	Requests workload.List
	Due      iter.Seq[time.Duration] // of those that wait for no answer
	Given    map[string]string       // secrets, by path
	Env      func(name string) (value string, ok bool)
	Read     func(name string) ([]byte, error) // a small file
	Host     string                            // this machine
	Embedded bool                              // the server is the engine inside this process
	MarkKey  *trace.MarkKey                    // answers are marked under it; nil: they are not
}

// FleetSink receives the events of a Fleet. Record may come from many goroutines.
type FleetSink struct {
	Progress *driver.Progress
	Record   func(*trace.Record)
	Note     func(plan.Message)
}

// An Outcome is the result of a Fleet. Its Client is complete.
type Outcome struct {
	driver.Outcome
	Fleet    *trace.Fleet
	ServedBy string
}
