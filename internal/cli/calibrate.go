package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/steps"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/text"
)

// calibrateCmd is `pitot calibrate`.
type calibrateCmd struct {
	Runs   []string `arg:"" optional:"" help:"${picks}"`
	Output string   `short:"o" placeholder:"FILE" help:"File to write the profile to. Default: none."`
	Title  string   `placeholder:"TEXT" help:"Title of the profile. Default: the model of the runs."`
	flags.Kept
}

// Run finds the engine behind runs, and writes its profile.
func (c calibrateCmd) Run(p *Process) (err error) {
	if err := some("run", "calibrate", c.Runs); err != nil {
		return err
	}
	traces, err := p.tracesOf(c.Runs, c.Store)
	if err != nil {
		return err
	}
	ctx, release := p.console().UntilInterrupt(context.Background())
	defer release()
	found, err := calibrate.FromTraces(ctx, traces)
	little := (*steps.TooLittleError)(nil)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &little), errors.Is(err, steps.ErrPrefillFirst), errors.Is(err, steps.ErrBlurred):
		return fmt.Errorf("nothing can be said of this engine: %w", err)
	case err != nil:
		return usage(err)
	}
	page := found.Profile(cmp.Or(c.Title, traces[0].Run.Plan.Model, "a calibrated engine"))
	if err := text.Calibrated(p.Stdout, found); err != nil {
		return err
	}
	if c.Output == "" {
		fmt.Fprintln(p.Stderr, "pitot: -o FILE keeps it as a profile")
		return nil
	}
	return writeFile("--output", c.Output, writes([]byte(page)))
}

// tracesOf are the runs that arguments stand for, whole.
func (p *Process) tracesOf(args []string, file string) (traces []*trace.Trace, err error) {
	k := &picker{process: p, file: file}
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
