// Package worker is a placeholder.
package worker

import (
	"context"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/run"
)

// Options are those of a worker.
type Options struct {
	Self   fleet.Worker
	Bus    *bus.Bus
	Deps   func() run.Deps
	Folder string
	Say    func(string)
}

// Serve serves.
func Serve(ctx context.Context, _ Options) error { <-ctx.Done(); return nil }
