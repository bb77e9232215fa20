// Package control is a placeholder.
package control

import (
	"context"
	"errors"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/fleet/inputs"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
)

// Options are those of a controller.
type Options struct {
	Bus             *bus.Bus
	Pitot           string
	Workers         int
	Wait, Grace     time.Duration
	Fewer, Tolerate bool
	Ledger          *inputs.Ledger
	Say             func(string)
}

// A Fleet is a run.Fleet.
type Fleet struct{}

// New is one.
func New(Options) *Fleet { return &Fleet{} }

// Assemble assembles.
func (*Fleet) Assemble(context.Context, run.Job) error { return errors.New("placeholder") }

// Drive drives.
func (*Fleet) Drive(context.Context, <-chan struct{}, *trace.Run, run.Told) (run.Outcome, error) {
	return run.Outcome{}, errors.New("placeholder")
}

// Close closes.
func (*Fleet) Close() {}

// Seen is a worker.
type Seen struct {
	fleet.Worker
	RoundTrip, Bound, WallAhead time.Duration
}

// Look looks.
func Look(context.Context, *bus.Bus, string, time.Duration) ([]Seen, error) { return nil, nil }

// Resume resumes.
func Resume(context.Context, Options, string, ...run.Sink) (*run.Result, error) {
	return nil, errors.New("placeholder")
}
