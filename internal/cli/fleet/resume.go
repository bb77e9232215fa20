package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/fleet/control"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/live"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// ResumeCmd is `pitot fleet resume`.
type ResumeCmd struct {
	RunID string `arg:"" optional:"" name:"run" placeholder:"RUN" help:"Id of the run. Default: the only one that waits; several are listed."`
	Server
	Tolerate bool `help:"Judge a run that lost a worker as doubtful instead of invalid."`
	flags.ProgressFlag
	flags.StoreFlag
}

// Help explains it.
func (ResumeCmd) Help() string {
	return "Workers finish their shares of a run whose controller was killed, and the records wait in the NATS server. This command collects them, completes the run in the store, and prints its report."
}

// Run collects the run.
func (c ResumeCmd) Run(sess *session.Session) error {
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	say := func(line string) { fmt.Fprintln(sess.Stderr, "pitot:", line) }
	b, err := c.connect(ctx, sess, "pitot fleet resume", say)
	if err != nil {
		return session.Cause(ctx, err)
	}
	defer b.Close()
	h, err := c.which(ctx, sess, b)
	if err != nil {
		return session.Cause(ctx, err)
	}
	if err := control.Abandoned(ctx, b, h); err != nil {
		return session.Cause(ctx, err)
	}
	release() // from here on the run has the signals
	folder, remove, err := files.MakeTemporary(session.FleetFolder)
	if err != nil {
		return err
	}
	defer remove()
	o := control.Options{Bus: b, Pitot: sess.Version, Tolerate: c.Tolerate, Log: say}
	made, err := sess.Collect(h.Run, session.Options{Store: c.Store, Progress: live.Mode(c.Progress)}, func(ctx context.Context, sinks ...run.Sink) (*run.Result, error) {
		return control.Resume(ctx, o, h, sess.DepsOfShare(folder), sinks...)
	})
	if errors.Is(err, store.ErrRunEnded) { // its controller died before it could let the fleet go
		control.Discard(o, h)
		fmt.Fprintf(sess.Stderr, "run %s is complete already: pitot runs report %s\n", h.Run.ID, h.Run.ID)
		return nil
	}
	if made.Result == nil {
		return err
	}
	printed := report.Text(sess.Stdout, made.Summary, sess.Words())
	if made.StoredHint != "" {
		fmt.Fprintln(sess.Stderr, made.StoredHint)
	}
	var interrupted error
	if made.Trace.Run.Status == trace.Interrupted {
		interrupted = session.ErrInterrupted
	}
	return errors.Join(printed, made.Unanswered(), err, interrupted)
}

func (c ResumeCmd) which(ctx context.Context, sess *session.Session, b *bus.Bus) (fleet.Heading, error) {
	left, err := control.Orphans(ctx, b)
	switch {
	case err != nil:
		return fleet.Heading{}, err
	case len(left) == 0:
		return fleet.Heading{}, errors.New("the server has no run to resume: no records wait there")
	case c.RunID == "" && len(left) == 1:
		return left[0], nil
	case c.RunID == "":
		for _, h := range left {
			fmt.Fprintf(sess.Stdout, "%s  %d workers, begun %s\n", h.Run.ID, len(h.Workers), h.Zero.Local().Format(time.DateTime))
		}
		return fleet.Heading{}, session.Usagef("records of %s wait there; name one of them", session.Plural(len(left), "run"))
	}
	found := slices.DeleteFunc(left, func(h fleet.Heading) bool { return !strings.HasPrefix(h.Run.ID, c.RunID) })
	if len(found) != 1 {
		return fleet.Heading{}, session.Usagef("%s: the ids of %s begin with this; without it all are listed", c.RunID, session.Plural(len(found), "run"))
	}
	return found[0], nil
}
