package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/session"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// calibrateCmd is `pitot calibrate`.
type calibrateCmd struct {
	Runs   []string `arg:"" optional:"" help:"${picks} With --url: flags of bench for all loads, after --."`
	URL    string   `name:"url" placeholder:"URL" help:"Server to measure: twelve runs of seven loads, about 70 s."`
	Output string   `short:"o" placeholder:"FILE" help:"File to write the profile to. Default: none."`
	Title  string   `placeholder:"TEXT" help:"Title of the profile. Default: the model of the runs."`
	flags.StoreFlag
}

// Run finds the engine behind runs, and writes its profile.
func (c calibrateCmd) Run(sess *session.Session) (err error) {
	if c.Output != "" {
		if err := files.TryAppend(c.Output); err != nil { // before a minute of measuring
			return session.Usagef("--output: %w", err)
		}
	}
	var traces []*trace.Trace
	name := "calibrate-" + time.Now().Format("20060102-150405")
	if c.URL != "" {
		if traces, err = c.measure(sess, name); err == nil {
			defer func() {
				if err != nil { // the runs are worth more than what could be made of them
					err = errors.Join(err, resumeHint(name, len(traces)))
				}
			}()
		}
	} else if err = session.RequireArgs("run", "calibrate", c.Runs); err == nil {
		traces, err = sess.Traces(c.Runs, c.Store)
	}
	if err != nil {
		return err
	}
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	found, err := calibrate.FromTraces(ctx, traces)
	little := (*calibrate.TooLittleError)(nil)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &little), errors.Is(err, calibrate.ErrElsewhere), errors.Is(err, calibrate.ErrBlurred):
		return fmt.Errorf("nothing can be said of this engine: %w", err)
	case err != nil:
		return session.Usage(err)
	}
	if err := report.Calibrated(sess.Stdout, found); err != nil {
		return err
	}
	if c.Output == "" {
		fmt.Fprintln(sess.Stderr, "pitot: -o FILE keeps it as a profile")
		return nil
	}
	page := found.Profile(cmp.Or(c.Title, traces[0].Run.Plan.Model, "a calibrated engine"))
	return session.WriteBytes("--output", c.Output, []byte(sess.Secrets.Hide(page)))
}
