package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/steps"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/text"
)

// calibrateCmd is `pitot calibrate`.
type calibrateCmd struct {
	Runs   []string `arg:"" optional:"" help:"${picks} With --url: flags of bench for all loads, after --."`
	URL    string   `name:"url" placeholder:"URL" help:"Server to measure: six loads, about 70 s."`
	Output string   `short:"o" placeholder:"FILE" help:"File to write the profile to. Default: none."`
	Title  string   `placeholder:"TEXT" help:"Title of the profile. Default: the model of the runs."`
	flags.Kept
}

// Run finds the engine behind runs, and writes its profile.
func (c calibrateCmd) Run(p *Process) (err error) {
	var traces []*trace.Trace
	if c.URL != "" {
		traces, err = c.measure(p)
	} else if err = some("run", "calibrate", c.Runs); err == nil {
		traces, err = p.tracesOf(c.Runs, c.Store)
	}
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

// usualLoad is what is sent where the flags say nothing else: prompts and answers of all
// lengths, since what does not vary has no cost of its own.
var usualLoad = []string{"--input-len", "lognormal(400,0.8)", "--output-len", "lognormal(120,0.7)"}

// measure makes the runs that show most of an engine: few and many requests at once, arrivals
// at a quarter of what it was seen to bear, and a burst of at most ten seconds' work.
func (c calibrateCmd) measure(p *Process) (traces []*trace.Trace, err error) {
	base := slices.Concat([]string{"bench", "--url", c.URL}, c.Runs)
	if !slices.ContainsFunc(c.Runs, func(word string) bool {
		return strings.HasPrefix(word, "--input-len") || strings.HasPrefix(word, "--output-len")
	}) {
		base = append(base, usualLoad...)
	}
	name := "calibrate-" + time.Now().Format("20060102-150405")
	bears := 0.0
	legs := []func() []string{}
	for _, n := range []string{"1", "4", "16", "64"} {
		legs = append(legs, func() []string { return []string{"-c", n, "--duration", "8s"} })
	}
	legs = append(legs,
		func() []string {
			return []string{"--rate", fmt.Sprintf("%.3g", max(0.1, bears/4)), "--duration", "12s"}
		},
		func() []string {
			return []string{"--rate", "1000", "-n", strconv.Itoa(min(320, max(40, int(10*bears))))}
		},
	)
	for i, leg := range legs {
		load := leg()
		fmt.Fprintf(p.Stderr, "run %d of %d: %s\n", i+1, len(legs), strings.Join(load, " "))
		words := slices.Concat(base, load, []string{"--seed", strconv.Itoa(i + 1), "--name", fmt.Sprintf("%s/%d", name, i+1)})
		t, err := p.madeOf(words, c.Store)
		if err != nil {
			return nil, err
		}
		if t.Run.Status != trace.Complete {
			return nil, fmt.Errorf("run %s/%d was not completed; what was measured is kept: pitot calibrate '%s/*'", name, i+1, name)
		}
		traces = append(traces, t)
		if t.Run.End > 0 {
			bears = max(bears, float64(len(t.Records))/t.Run.End.Seconds())
		}
	}
	return traces, nil
}

// madeOf makes the run of a command line, without a report.
func (p *Process) madeOf(words []string, file string) (*trace.Trace, error) {
	own := *p
	own.Args = words
	made, err := own.planOf(words)
	if err != nil {
		return nil, err
	}
	m, err := p.newMaking(made, file, p.view(true, true))
	if err != nil {
		return nil, err
	}
	defer m.close()
	r, err := m.make()
	if err != nil {
		return nil, err
	}
	return r.Trace, nil
}
