// Package control is the controller of a fleet: it finds workers, has them prepare a run, starts
// them at one instant, watches them, and gathers their records.
//
//	Assemble   who is there ── Order ── inputs that they lack ── the same requests everywhere?
//	Drive      who is still there ── Start to each ── all have it: Go ── watch ── all ended or lost
//
// A goroutine for each member of the crew asks for its pulse four times a second; Drive looks at their pulses, and
// decides.
package control

import (
	"context"
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/fleet/delivery"
	"github.com/pitot-bench/pitot/internal/fleet/inputs"
	"github.com/pitot-bench/pitot/internal/run"
)

// Options are those of a controller.
type Options struct {
	Bus     *bus.Bus
	Pitot   string // version of this program
	Workers int    // how many to use; 0: all that are idle
	// Wait is how long to wait for that many, and for another one in place of one that is lost
	// before the start; Fewer starts with those that are there then.
	Wait  time.Duration
	Fewer bool
	// Grace is how long a worker may be silent until it counts as lost; 0: DefaultGrace.
	Grace time.Duration
	// Lead is how far ahead the instant of the start is; 0: DefaultLead.
	Lead time.Duration
	// Away is how long the server of the fleet may be away during a run; 0: DefaultAway.
	Away time.Duration
	// Tolerate: a worker that is lost in the run makes it doubtful, not invalid.
	Tolerate bool
	Ledger   *inputs.Ledger // of the run's inputs; nil: none
	Log      func(string)   // one line for people; may be nil
}

// DefaultGrace is how long a worker may be silent, and DefaultAway how long the server of the fleet:
// as long as workers try to deliver. DefaultLead is enough for every worker to have its
// Start, and to hear that all have theirs.
const (
	DefaultGrace = 5 * time.Second
	DefaultLead  = 2 * time.Second
	DefaultAway  = 30 * time.Minute
)

// A Fleet sends the requests of one run after the other. It is a run.Fleet.
type Fleet struct {
	o      Options
	job    run.Job
	inputs []fleet.Input
	digest string
	run    string        // id among the workers; empty: none is prepared
	lead   time.Duration // of the start
	roots  int           // requests that wait for no other
	want   int           // workers that the run is to have, as far as is known
	crew   []*member
	begun  *beginning // nil before Start

	stored   bool // there is a stream for the run
	followed bool // its records are gathered
	gathered bool // all of them were
	resumes  bool // a run that another controller began
}

// New returns a Fleet. Nothing is asked of anybody yet.
func New(o Options) *Fleet {
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	if o.Lead <= 0 {
		o.Lead = DefaultLead
	}
	if o.Away <= 0 {
		o.Away = DefaultAway
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.Ledger == nil {
		o.Ledger = new(inputs.Ledger)
	}
	return &Fleet{o: o}
}

// Assemble finds workers and has them prepare the run.
func (f *Fleet) Assemble(ctx context.Context, j run.Job) error {
	f.job, f.run, f.begun, f.roots, f.want = j, newID(), nil, j.Requests.Starts(), 0
	f.stored, f.followed, f.gathered = false, false, false
	f.o.Ledger.Plan(j.Spec)
	var err error
	if f.digest, err = inputs.Digest(j.Requests, j.Due); err != nil {
		return err
	}
	if f.inputs, err = f.o.Ledger.Inputs(ctx); err != nil {
		return err
	}
	return f.fill(ctx)
}

// Close lets the workers go, and removes the run's streams from the server of the fleet, unless there are records
// that were not gathered: `pitot fleet resume` finds those. Another Assemble may follow.
func (f *Fleet) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), f.o.Grace)
	defer cancel()
	over := f.gathered || !f.followed && !f.resumes // else workers go on, for the next controller
	f.each(func(_ int, m *member) {
		m.stopBeats()
		if over {
			m.dismiss(ctx)
		}
	})
	f.crew = nil
	if f.run == "" || f.resumes && !f.gathered {
		return
	}
	if f.stored && (f.gathered || !f.followed) {
		_ = delivery.Remove(ctx, f.o.Bus.Stream(), f.run)
	}
	if len(f.inputs) > 0 || f.resumes {
		_ = inputs.Remove(ctx, f.o.Bus.Stream(), f.run)
	}
	f.run, f.stored = "", false
}

// awaitUp waits for a connection to the server of the fleet, and returns since when there is one.
func (f *Fleet) awaitUp(ctx context.Context) (since time.Time, err error) {
	for {
		up, since := f.o.Bus.Up()
		switch {
		case up:
			return since, nil
		case time.Since(since) > f.o.Away:
			return since, fmt.Errorf("there was no connection to %s for %v", f.o.Bus.Address(), f.o.Away)
		}
		if err := run.Pause(ctx, pollEvery); err != nil {
			return since, err
		}
	}
}

// upFor is how long the connection to the server of the fleet has been up; 0: it is not.
func (f *Fleet) upFor() time.Duration {
	up, since := f.o.Bus.Up()
	if !up {
		return 0
	}
	return time.Since(since)
}

func (f *Fleet) logf(format string, args ...any) { f.o.Log(fmt.Sprintf(format, args...)) }
