package comparing

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
)

// Three runs of base and a day later three of new, 10 % slower, after sessions of the same load on
// the same server that differ by as much.
func TestStoredSessionsAreAskedOfASecondDay(t *testing.T) {
	s := newShelf(t)
	put := func(name string, day int, factor float64, change ...func(*trace.Run)) {
		for i := range 3 {
			at := time.Unix(1_800_000_000, 0).AddDate(0, 0, day).Add(time.Duration(i) * time.Minute)
			id := s.put(fmt.Sprintf("%s-%d", name, i+1), factor+0.001*float64(i), append(change, func(r *trace.Run) { r.Started = at })...)
			loaded, err := s.Load(id)
			if err == nil {
				err = s.StoreFigures(loaded, metrics.Pitot, metrics.Version, metrics.PitotDefinitions().Figures(loaded, ""))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	put("base", 0, 1)
	put("new", 1, 1.1)
	compared := func() (view.Comparison, string) {
		c := ask(t, NewPage(s.Store, "", "1"), view.Asked{Runs: []string{"base-*", "new-*"}})
		var notes []string
		for _, n := range c.Loads[0].Notes {
			notes = append(notes, n.Text)
		}
		return c, strings.Join(notes, "\n")
	}
	verdict := func(c view.Comparison) string {
		rows := c.Loads[0].Rows
		return rows[slices.IndexFunc(rows, func(r view.ComparedRow) bool { return r.Name == "ttft.mean" })].Cells[1].Verdict
	}
	c, notes := compared()
	if !strings.Contains(notes, "24 h lie between them, at most 60 s within them") || verdict(c) != "worse ~" || c.Overall.Text != "worse ~" {
		t.Errorf("%s, %s: %s", verdict(c), c.Overall.Text, notes)
	}
	if text := c.Loads[0].Results[0].Text; !strings.HasPrefix(text, "worse ~ in ") || !strings.Contains(text, "all of base-* ran first, so that 60 % of a drift would look like it") {
		t.Error(text)
	}
	if n, _, err := NewPage(s.Store, "", "1").Note(t.Context(), view.Asked{Runs: []string{"base-*", "new-*"}}, english); err != nil || !strings.Contains(n.Markdown, "**note**: all runs of base-") || !strings.Contains(n.Markdown, "is worse ~**") {
		t.Errorf("%v: %s", err, n.Markdown)
	}
	// Another server, another model, another load, and simulations tell nothing.
	for day, change := range []func(*trace.Run){
		func(r *trace.Run) { r.Plan.URL = "http://other:8000" }, func(r *trace.Run) { r.Plan.Model = "other" },
		func(r *trace.Run) { r.Plan.Rate = 5 }, func(r *trace.Run) { r.Kind = trace.Simulated },
	} {
		put("other", -20-day, 1.05, change)
	}
	if c, _ := compared(); verdict(c) != "worse ~" {
		t.Error(verdict(c))
	}
	for day, factor := range []float64{1.08, 0.95, 1.05, 0.94, 1} {
		put("old", -2-day, factor)
	}
	c, notes = compared()
	if !strings.Contains(notes, "(5 stored sessions)") || !strings.HasPrefix(verdict(c), "?") || strings.Contains(c.Loads[0].Results[0].Text, "drift") {
		t.Errorf("%s: %s", verdict(c), notes)
	}
}
