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
	// Drive sends the requests, and tells progress and record as it gets on; stop and ctx are
	// those of driver.Run. The records of all requests that were sent or lost are in the Outcome.
	// An error before anything was sent comes with a zero Outcome.
	Drive(ctx context.Context, stop <-chan struct{}, r *trace.Run, t Told) (Outcome, error)
	// Close lets the machines go.
	Close()
}

// A Job is the load of a run, ready to be sent.
type Job struct {
	Spec     plan.Spec // complete: server, model, tokenizer and ids are settled
	Requests []workload.Request
	Due      iter.Seq[time.Duration] // of those that wait for no answer
	Chunks   int                     // of all answers together, as expected
	Given    map[string]string       // secrets, by path
	Env      func(name string) (value string, ok bool)
}

// Told is where a Fleet tells what happens. Record may come from many goroutines.
type Told struct {
	Progress *driver.Progress
	Record   func(*trace.Record)
	Note     func(plan.Message)
}

// An Outcome is what a Fleet brings back. Its Client is complete.
type Outcome struct {
	driver.Outcome
	Fleet    *trace.Fleet
	ServedBy string
}
