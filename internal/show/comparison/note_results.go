package comparison

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/report"
)

// results are the tables, folded where they are many.
func (w *writer) results() {
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
				w.add(doc.Folded{Title: w.Beside(v.Name, w.Runs(v)), Items: w.tables(runs)})
			default:
				w.section(min(len(w.note.Comparison.Workloads), 2)+1, w.Called(v))
				w.add(w.tables(runs)...)
			}
		}
	}
}

// unfolded is how many tables a note shows at once.
const unfolded = 2

func (w *writer) tables(runs []Run) (items []doc.Item) {
	for _, r := range runs {
		items = append(items, w.table(r)...)
	}
	return items
}

// table is the result table of a run, after its name.
func (w *writer) table(r Run) []doc.Item {
	said := doc.Join(" · ", doc.Code(r.ID), stamp(r.Started))
	if o := r.Origin; o != nil {
		said = doc.Code(report.Place(o.File, o.Line))
	}
	return []doc.Item{doc.Prose(said), doc.Pre{Language: "text", Text: r.Table}}
}

// method is how the figures were come by, in three lines.
func (w *writer) method() {
	lines := doc.List{w.Word("note.no-tests")}
	if tests := w.tests(); len(tests) > 0 {
		c := w.note.Comparison
		lines = doc.List{w.Word("note.level", "level", w.Share(c.Level), "margin", w.Share(c.Margin)), w.Word("note.tests", "tests", tests)}
	}
	lines = append(lines, w.definitions()...)
	if slices.ContainsFunc(w.note.Runs, func(r Run) bool { return len(r.Digest.TTFT) > 0 }) {
		lines = append(lines, w.Word("note.plot-rules"))
	}
	w.section(1, w.Word("note.method"))
	w.add(lines)
}

// tests are what changes rest on, each once.
func (w *writer) tests() (tests []string) {
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
func (w *writer) definitions() (lines []string) {
	var groups doc.Groups
	for _, load := range w.note.Comparison.Workloads {
		for _, r := range load.Rows {
			metric, _, _ := strings.Cut(r.Quantity.Name, ".")
			if slices.Contains(defined, metric) && r.Definition.Says != "" {
				groups.Add(r.Definition.ID, w.Of(strings.ToUpper(metric), w.Word(r.Definition.Says)))
			}
		}
	}
	for _, g := range groups {
		lines = append(lines, w.Join("sentence", w.Word("note.definitions", "tool", g.Said), w.sentence(w.Join("stop", g.Names...))))
	}
	return lines
}

// defined are the metrics whose definitions tell tools apart.
var defined = []string{"ttft", "tpot", "itl", "icl"}
