package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/control"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/plain"
)

// StatusCmd is `pitot fleet status`.
type StatusCmd struct {
	Server
	Wait time.Duration `default:"2s" placeholder:"TIME" help:"How long to wait for answers (${default})."`
	JSON bool          `name:"json" help:"Print the workers as JSON."`
}

// Run lists the workers.
func (c StatusCmd) Run(sess *session.Session) error {
	if c.Wait <= 0 || c.Wait > plan.MaxSpan {
		return session.Usagef("--wait %v: must be above 0, and at most %v, such as 2s", c.Wait, plan.MaxSpan)
	}
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	b, err := c.connect(ctx, sess, "pitot fleet status", func(string) {})
	if err != nil {
		return session.Cause(ctx, err)
	}
	defer b.Close()
	seen, err := control.Look(ctx, b, sess.Version, c.Wait)
	if err != nil {
		return session.Cause(ctx, err)
	}
	slices.SortFunc(seen, func(a, b control.Seen) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	if c.JSON {
		err = writeJSON(sess.Stdout, seen)
	} else if len(seen) > 0 {
		err = writeTable(sess.Stdout, seen, sess.Version)
	}
	if err == nil && len(seen) == 0 {
		err = errors.New("no worker has answered within " + c.Wait.String() + "; start one with `pitot fleet worker --join URL`, or on this machine with `pitot fleet up --local 2`")
	}
	return err
}

type row struct {
	fleet.Worker
	RoundTrip time.Duration `json:"round_trip_ns"`
	Bound     time.Duration `json:"clock_bound_ns"`
	WallAhead time.Duration `json:"wall_ahead_ns"`
}

func writeJSON(w io.Writer, seen []control.Seen) error {
	rows := []row{}
	for _, s := range seen {
		rows = append(rows, row{s.Worker, s.RoundTrip, s.Bound, s.WallAhead})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(rows)
}

func writeTable(to io.Writer, seen []control.Seen, version string) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WORKER\tZONE\tHOST\tVERSION\tSTATE\tCPUS\tFILES\tCHUNKS/S\tROUND TRIP\tCLOCK\tWALL CLOCK")
	differs := false
	for _, s := range seen {
		mark := ""
		if s.Pitot != version || s.Protocol != fleet.Protocol {
			mark, differs = " *", true
		}
		state := string(s.State)
		if run := cmp.Or(s.StoredID, s.Run); run != "" {
			state += " " + run
		}
		capacity := "-"
		if s.Capacity > 0 {
			capacity = short(s.Capacity)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s%s\t%s\t%d\t%d\t%s\t%s\t±%s\t%+.3f s\n", cell(s.Name), cell(s.Zone), cell(s.Host), cell(s.Pitot), mark, cell(state),
			s.CPUs, s.Files, capacity, rounded(s.RoundTrip), rounded(s.Bound), s.WallAhead.Seconds())
	}
	err := w.Flush()
	if err == nil && differs {
		_, err = fmt.Fprintf(to, "\n* not the version of this program, %s: such a worker takes no run from it\n", version)
	}
	return err
}

func cell(text string) string { return cmp.Or(plain.Line(text), "-") }

// rounded is a duration in three digits or fewer.
func rounded(d time.Duration) string {
	unit := time.Duration(1)
	for d.Abs()/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

// short is a number in about two digits.
func short(n float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(n))-1)
	return fmt.Sprintf("%.0f", math.Round(n/unit)*unit)
}
