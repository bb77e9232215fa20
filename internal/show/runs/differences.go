package runs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// longestValue is how many columns a value takes.
const longestValue = 60

// Differences prints what differs between two runs, side by side, the main ones first.
func Differences(w io.Writer, pair [2]trace.Run, found []compare.Difference, l *words.Language) error {
	rows := [][]string{{"", named(pair[0]), named(pair[1])}}
	main := false
	for _, d := range found {
		if main && !d.Main {
			rows = append(rows, []string{""})
		}
		main = d.Main
		row := []string{d.Of + "." + d.Name}
		if d.Of == "plan" {
			row[0] = d.Name
		}
		for _, v := range d.Values {
			row = append(row, doc.Cut(said(v, l), longestValue))
		}
		rows = append(rows, row)
	}
	if len(found) == 0 {
		rows = [][]string{{l.Word("differences.none")}}
	}
	if err := doc.Columns(w, rows); err != nil {
		return err
	}
	for _, side := range []struct {
		code plan.Code
		has  func(trace.Run) bool
	}{
		{"differences.no-server", func(r trace.Run) bool { return r.Env.Serving != nil }},
		{"differences.no-client", func(r trace.Run) bool { return r.Env.Client != nil }},
	} {
		var without []string
		for _, r := range pair {
			if !side.has(r) {
				without = append(without, named(r))
			}
		}
		if without == nil {
			continue
		}
		if _, err := fmt.Fprintln(w, l.Word(side.code, "runs", without)); err != nil {
			return err
		}
	}
	return nil
}

func said(v plan.Message, l *words.Language) string {
	if v.IsZero() {
		v = plan.Say("value.unknown")
	}
	return l.Say(v)
}

// named is what a run is called.
func named(r trace.Run) string { return cmp.Or(r.Name, r.ID) }

// DifferencesJSON writes them as an object.
func DifferencesJSON(w io.Writer, pair [2]trace.Run, found []compare.Difference) error {
	if found == nil {
		found = []compare.Difference{}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Runs        [2]string            `json:"runs"`
		Differences []compare.Difference `json:"differences"`
	}{[2]string{pair[0].ID, pair[1].ID}, found})
}
