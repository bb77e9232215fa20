package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/console"
	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/cli/measuring"
	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/fleet/control"
	"github.com/pitot-bench/pitot/internal/show/progress"
)

// ResumeCmd is `pitot fleet resume`.
type ResumeCmd struct {
	RunID string `arg:"" optional:"" name:"run" placeholder:"RUN" help:"Id of the run. Default: the one that there is; of several, they are listed."`
	Server
	Tolerate bool `help:"A run that lost a worker is doubtful, not invalid."`
	flags.Shown
	flags.Kept
}

// Help explains it.
func (ResumeCmd) Help() string {
	return "Workers go on with a run whose controller died, and its records wait in the server. This takes them, waits for the rest, and completes the run in the store, with its report.\n\n" +
		"pitot fleet resume --join nats://TOKEN@10.0.0.1:4222"
}

// Run collects the run.
func (c ResumeCmd) Run(con *console.Console, m measuring.Maker) error {
	ctx, release := con.UntilInterrupt(context.Background())
	defer release()
	say := func(line string) { fmt.Fprintln(con.Stderr, "pitot:", line) }
	b, err := c.connect(ctx, con, "pitot fleet resume", say)
	if err != nil {
		return cause(ctx, err)
	}
	defer b.Close()
	left, err := c.which(ctx, con, b)
	if err != nil {
		return cause(ctx, err)
	}
	release() // from here on the run has the signals
	rejoined := control.Rejoin(control.Options{Bus: b, Pitot: con.Version, Tolerate: c.Tolerate, Say: say}, left)
	return m.Collect(rejoined, measuring.Options{Store: c.Store, Progress: progress.Mode(c.Progress)})
}

// which is the run to collect.
func (c ResumeCmd) which(ctx context.Context, con *console.Console, b *bus.Bus) (found fleet.Heading, err error) {
	all, err := control.Left(ctx, b)
	if err != nil {
		return found, err
	}
	left := slices.DeleteFunc(all, func(h fleet.Heading) bool { return !strings.HasPrefix(h.Run.ID, c.RunID) })
	switch {
	case len(left) == 1:
		return left[0], nil
	case len(left) == 0 && c.RunID == "":
		return found, errors.New("no run waits for a controller at the server")
	case len(left) == 0:
		return found, console.Usagef("%s: no run of this id waits for a controller; without it they are listed", c.RunID)
	}
	w := tabwriter.NewWriter(con.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tNAME\tSTARTED\tWORKERS")
	for _, h := range left {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\n", cell(h.Run.ID), cell(h.Run.Name), h.Zero.Local().Format(time.DateTime), len(h.Workers))
	}
	return found, errors.Join(w.Flush(), console.Usagef("%s wait for a controller, or have one; name one of them", console.Counted(len(left), "run")))
}
