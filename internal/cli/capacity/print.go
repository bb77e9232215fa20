package capacity

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// line is the outcome of a leg in a line.
func line(l search.MeasuredLeg, s search.Settings, lang *words.Language) string {
	var b strings.Builder
	load := loadName(l.Leg)
	if l.By == search.Concurrency {
		load = lang.Say(search.LoadWords(l.By, l.Load))
	}
	purpose, width := func(p search.LegPurpose) string { return lang.Word(plan.Code("purpose." + p)) }, 0
	for _, p := range []search.LegPurpose{search.Light, search.Seek, search.Passes, search.Fails} {
		width = max(width, doc.Width(purpose(p)))
	}
	fmt.Fprintf(&b, "%2d  %s %s  ", l.Number, doc.PadRight(purpose(l.Why), width), doc.PadLeft(load, 12))
	for i, o := range s.Objectives {
		fmt.Fprintf(&b, "%s ≤ %v: %s  ", o.Metric, o.Limit, percent(l.Attained(i)))
	}
	verdict, _ := l.Judge(s.Objectives)
	return b.String() + lang.Word("capacity.of", "requests", l.Requests, "verdict", report.Met(string(verdict), lang), "reason", plan.Msg(l.Reason()))
}

func percent(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }

func writeJSON(w io.Writer, a *search.Answer, _ *words.Language) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(a)
}

func writeText(w io.Writer, a *search.Answer, lang *words.Language) error {
	for _, m := range a.Text {
		fmt.Fprintln(w, lang.Say(m))
	}
	if a.Below.Legs+a.Above.Legs > 0 {
		fmt.Fprintln(w)
		if err := table(w, a, lang); err != nil {
			return err
		}
	}
	if a.Cost != nil {
		fmt.Fprintln(w, lang.Word("capacity.cost", "load", search.LoadWords(a.By, a.CostLoad), "cost", report.Cost(a.Cost, lang)))
	}
	_, err := fmt.Fprintf(w, "\n%s\n", lang.Word("capacity.kept", "runs", len(a.Runs), "spent", a.Spent.Round(time.Second), "command", fmt.Sprintf("pitot runs list '%s/*'", a.Search)))
	return err
}

func table(w io.Writer, a *search.Answer, lang *words.Language) error {
	head := []string{lang.Word("capacity.title-side"), lang.Word("capacity.title-load"), lang.Word("capacity.title-runs"), lang.Word("capacity.title-requests")}
	rows := [][]string{append(head, a.Objectives...)}
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
		row := []string{lang.Word(plan.Code("side." + s.name)), lang.Say(search.LoadWords(a.By, s.Load)), fmt.Sprint(s.Legs), fmt.Sprint(s.Requests)}
		for i, v := range s.Attained {
			row = append(row, lang.Word("capacity.share", "share", v, "low", s.Low[i], "high", s.High[i]))
		}
		rows = append(rows, row)
	}
	if err := doc.Columns(w, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, lang.Word("capacity.shares"))
	return err
}
