package comparison

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/report"
)

// results are the tables, folded where they are many.
func (w *noteWriter) results() {
	if len(w.note.Runs) == 0 {
		return
	}
	w.section(1, w.Word("note.results"))
	for i, load := range w.note.Comparison.Workloads {
		w.loadSection(i)
		if load.Layout != nil {
			w.legs(load)
			continue
		}
		for _, v := range load.Variants {
			switch runs := w.runsOf(v); {
			case len(runs) == 0:
			case len(w.note.Runs) > unfolded:
				w.add(doc.Folded{Title: w.InBrackets(v.Name, w.Runs(v)), Items: w.tables(runs)})
			default:
				w.section(min(len(w.note.Comparison.Workloads), 2)+1, w.Called(v))
				w.add(w.tables(runs)...)
			}
		}
	}
}

// unfolded is how many tables a note shows at once.
const unfolded = 2

func (w *noteWriter) tables(runs []NoteRun) (items []doc.Item) {
	for _, r := range runs {
		items = append(items, w.table(r)...)
	}
	return items
}

// table is the result table of a run, after its name.
func (w *noteWriter) table(r NoteRun) []doc.Item {
	said := doc.Join(" · ", doc.Code(r.ID), stamp(r.Started))
	if o := r.Origin; o != nil {
		said = doc.Code(report.Place(o.File, o.Line))
	}
	return []doc.Item{doc.Prose(said), doc.Pre{Language: "text", Text: r.Table}}
}

// method is how the figures were come by, in three lines.
func (w *noteWriter) method() {
	lines := doc.List{w.Word("note.no-tests")}
	if tests := w.tests(); len(tests) > 0 {
		c := w.note.Comparison
		lines = doc.List{
			w.Word("note.level", "level", w.Share(c.Level), "margin", w.Share(c.Margin)),
			w.Word("note.tests", "tests", tests),
		}
	}
	lines = append(lines, w.definitions()...)
	if slices.ContainsFunc(w.note.Runs, func(r NoteRun) bool { return len(r.Digest.TTFT) > 0 }) {
		lines = append(lines, w.Word("note.plot-rules"))
	}
	w.section(1, w.Word("note.method"))
	w.add(lines)
}

// tests are what changes rest on, each once.
func (w *noteWriter) tests() (tests []string) {
	for _, load := range w.note.Comparison.Workloads {
		for _, c := range load.Changes() {
			if t := w.Say(c.Test); t != "" && !slices.Contains(tests, t) {
				tests = append(tests, t)
			}
		}
	}
	return tests
}

// definitions say by whose rules the figures are, and what those rules are.
func (w *noteWriter) definitions() (lines []string) {
	var groups doc.Groups
	for _, load := range w.note.Comparison.Workloads {
		for _, r := range load.Rows {
			metric, _, _ := strings.Cut(r.Quantity.Name, ".")
			if slices.Contains(defined, metric) && r.Definition.Description != "" {
				groups.Add(r.Definition.ID, w.Of(strings.ToUpper(metric), w.Word(r.Definition.Description)))
			}
		}
	}
	for _, g := range groups {
		lines = append(lines, w.Join("sentence", w.Word("note.definitions", "tool", g.Text),
			w.sentence(w.Join("stop", g.Names...))))
	}
	return lines
}

// defined are the metrics whose definitions tell tools apart.
var defined = []string{"ttft", "tpot", "itl", "icl"}

// legs are the figures of a workload leg by leg, in the order in which they ran, and the
// result table of one run of each variant, all folded.
func (w *noteWriter) legs(load compare.Workload) {
	runs := 0
	for _, v := range load.Variants {
		runs += len(v.Runs)
	}
	w.add(doc.Folded{Title: w.Word("note.legs", "runs", runs), Items: []doc.Item{w.legTable(load)}})
	if load.Layout.Confirms {
		return
	}
	for _, v := range load.Variants {
		if some := w.runsOf(v); len(some) > 0 {
			w.add(doc.Folded{Title: w.Word("note.first-leg", "variant", v.Name, "of", w.Runs(v)), Items: w.table(some[0])})
		}
	}
}

// A legRow is a run in a table of legs.
type legRow struct {
	NoteRun
	variant string
	figures []string
}

// legTable has a row for each run.
func (w *noteWriter) legTable(load compare.Workload) doc.Grid {
	rows := wholeRows(load)
	head := []string{w.Word("experiments.leg"), w.Word("experiments.block"), w.Word("experiments.variant")}
	for _, r := range rows {
		head = append(head, w.ColumnTitle(r))
	}
	var all []legRow
	waves := false
	for i, v := range load.Variants {
		for k, ref := range v.Runs {
			r, ok := w.run(ref)
			if !ok || r.Leg == nil {
				continue
			}
			one := legRow{NoteRun: r, variant: v.Name}
			for _, row := range rows {
				one.figures = append(one.figures, w.Value(row, row.Cells[i].Values[k]))
			}
			waves = waves || r.WarmUp != nil
			all = append(all, one)
		}
	}
	slices.SortStableFunc(all, func(a, b legRow) int {
		return cmp.Or(cmp.Compare(a.Leg.Position, b.Leg.Position), cmp.Compare(a.Leg.Repeat, b.Leg.Repeat))
	})
	if waves {
		head = append(head, w.Word("note.waves"))
	}
	table := doc.Grid{Rows: [][]string{append(head, w.Word("experiments.run"))}}
	for _, r := range all {
		cells := append([]string{fmt.Sprint(r.Leg.Called()), fmt.Sprint(r.Leg.Block), r.variant}, r.figures...)
		if waves {
			cells = append(cells, w.waves(r.NoteRun))
		}
		table.Rows = append(table.Rows, append(cells, doc.Code(r.ID)))
	}
	return table
}

// waves are those of the warm-up of a run, and whether it came to rest.
func (w *noteWriter) waves(r NoteRun) string {
	if r.WarmUp == nil {
		return "-"
	}
	if !r.WarmUp.Steady {
		return w.Word("note.restless", "waves", len(r.WarmUp.Waves))
	}
	return fmt.Sprint(len(r.WarmUp.Waves))
}

// mostLegFigures is how many figures a table of legs has.
const mostLegFigures = 6

// wholeRows are the first figures that every run has.
func wholeRows(load compare.Workload) (rows []compare.Row) {
	for _, r := range load.Rows {
		whole := r.Rank > 0 && !r.Constant && len(r.Cells) == len(load.Variants)
		for i := range load.Variants {
			whole = whole && len(r.Cells[i].Values) == len(load.Variants[i].Runs)
		}
		if whole {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b compare.Row) int { return cmp.Compare(a.Rank, b.Rank) })
	return rows[:min(mostLegFigures, len(rows))]
}
