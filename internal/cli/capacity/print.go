package capacity

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/report"
)

// line is the outcome of a leg in a line.
func line(l search.MeasuredLeg, s search.Settings) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%2d  %-6s %12s  ", l.Number, l.Why, loadName(l.Leg))
	for i, o := range s.Objectives {
		fmt.Fprintf(&b, "%s ≤ %v: %s  ", o.Metric, o.Limit, percent(l.Attained(i)))
	}
	verdict, _ := l.Judge(s.Objectives)
	fmt.Fprintf(&b, "of %d  %s", l.Requests, verdict)
	if reason := l.Reason(); reason != "" {
		fmt.Fprintf(&b, ": %s", session.English.Say(plan.Msg(reason)))
	}
	return b.String()
}

func percent(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }

func writeJSON(w io.Writer, a *search.Answer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(a)
}

func writeText(w io.Writer, a *search.Answer) error {
	for _, m := range a.Text {
		fmt.Fprintln(w, session.English.Say(m))
	}
	if a.Below.Legs+a.Above.Legs > 0 {
		fmt.Fprintln(w)
		if err := table(w, a); err != nil {
			return err
		}
	}
	if a.Cost != nil {
		fmt.Fprintln(w, session.English.Word("capacity.cost", "load", search.LoadWords(a.By, a.CostLoad), "cost", report.Cost(a.Cost, session.English)))
	}
	_, err := fmt.Fprintf(w, "\n%d runs, %v of measuring; they are kept: pitot runs list '%s/*'\n", len(a.Runs), a.Spent.Round(time.Second), a.Search)
	return err
}

// table shows both sides.
func table(w io.Writer, a *search.Answer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "SIDE\tLOAD\tRUNS\tREQUESTS")
	for _, o := range a.Objectives {
		fmt.Fprintf(t, "\t%s", o)
	}
	fmt.Fprintln(t)
	for _, s := range []struct {
		name string
		search.Side
	}{{"passes", a.Below}, {"fails", a.Above}} {
		switch {
		case s.Legs == 0:
			continue
		case s.name == "passes" && !s.Met:
			s.name = "below"
		case s.name == "fails" && s.Met:
			s.name = "above"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d", s.name, session.English.Say(search.LoadWords(a.By, s.Load)), s.Legs, s.Requests)
		for i, v := range s.Attained {
			fmt.Fprintf(t, "\t%s (%s to %s)", percent(v), percent(s.Low[i]), percent(s.High[i]))
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t, session.English.Word("capacity.shares"))
	return t.Flush()
}
