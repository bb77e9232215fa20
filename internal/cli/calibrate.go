package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// calibrateCmd is `pitot calibrate`.
type calibrateCmd struct {
	Runs   []string `arg:"" optional:"" help:"${picks} With --url: further flags of bench for all loads, after --."`
	Output string   `short:"o" placeholder:"FILE" help:"File to write the profile to. Default: none."`
	Title  string   `placeholder:"TEXT" help:"Title of the profile. Default: the model of the runs."`
	Resume string   `placeholder:"NAME" help:"With --url: go on with the calibration of this name, such as calibrate-20260131-093000. Runs of it that are stored and valid are not made again."`
	flags.StoreFlag

	flags.Target    `embed:"" group:"With --url:"`
	flags.Requests  `embed:"" group:"With --url:"`
	flags.Load      `embed:"" group:"With --url:"`
	flags.BeforeRun `embed:"" group:"With --url:"`

	words []string // the load, as flags of bench
}

// calibrateFlags hides the flags of bench that each load has of its own.
func calibrateFlags(k *kong.Kong) error {
	node := flags.Command(k.Model.Node, "calibrate")
	if node == nil {
		return nil
	}
	for _, f := range node.Flags {
		switch path := f.Tag.Get("path"); path {
		case "target.url":
			f.Help = "Server to measure: twelve runs of seven loads, about 70 s."
		default:
			f.Hidden = f.Hidden || slices.Contains(pitot.OfLegs, path)
		}
	}
	return nil
}

// takeLoad takes the flags of the loads, which are of a server.
func (c *calibrateCmd) takeLoad(k *kong.Context) error {
	c.URL = c.Address()
	own := []string{"", "target.url", "target.host", "target.port"}
	given := slices.DeleteFunc(pitot.Given(k), func(s pitot.Setting) bool { return slices.Contains(own, s.Path) })
	c.words = append(pitot.Words(given...), c.Runs...)
	flag := ""
	switch {
	case c.URL != "":
		return nil
	case len(given) > 0:
		flag = given[0].Flag
	case c.Resume != "":
		flag = "--resume"
	default:
		return nil
	}
	return session.Usagef("%s: only applies with --url, the server to measure", flag)
}

// Run finds the engine behind runs, and writes its profile.
func (c calibrateCmd) Run(sess *session.Session, k *kong.Context) (err error) {
	if err := c.takeLoad(k); err != nil {
		return err
	}
	if c.Output != "" {
		if err := files.TryAppend(c.Output); err != nil { // before a minute of measuring
			return session.Usagef("--output: %w", err)
		}
	}
	var traces []*trace.Trace
	name := cmp.Or(c.Resume, "calibrate-"+time.Now().Format("20060102-150405"))
	if c.URL != "" {
		if traces, err = c.measure(sess, name); err == nil {
			defer func() {
				if err != nil { // the runs are worth more than what could be made of them
					err = errors.Join(err, fmt.Errorf("what was measured is kept: pitot calibrate '%s/*'", name))
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
	if err := report.Calibrated(sess.Stdout, found, sess.Words()); err != nil {
		return err
	}
	if c.Output == "" {
		fmt.Fprintln(sess.Stderr, "pitot: "+sess.Word("calibrated.keep"))
		return nil
	}
	page := found.Profile(cmp.Or(c.Title, traces[0].Run.Plan.Model, "a calibrated engine"))
	return session.WriteBytes("--output", c.Output, []byte(sess.Secrets.Hide(page)))
}
