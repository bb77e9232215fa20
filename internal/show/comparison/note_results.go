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
	w.heading(2, w.Word("note.results"))
	level := 3
	for i, load := range w.note.Comparison.Workloads {
		w.loadHeading(i)
		if len(w.note.Comparison.Workloads) > 1 {
			level = 4
		}
		if load.Layout != nil {
			w.legs(load)
			continue
		}
		for _, v := range load.Variants {
			switch runs := w.runsOf(v); {
			case len(runs) == 0:
			case len(w.note.Runs) > unfolded:
				w.folded(w.Beside(v.Name, w.Runs(v)), func() {
					for _, r := range runs {
						w.table(r)
					}
				})
			default:
				w.heading(level, escape(w.Called(v)))
				for _, r := range runs {
					w.table(r)
				}
			}
		}
	}
}

// unfolded is how many tables a note shows at once.
const unfolded = 2

func (w *writer) table(r Run) {
	said := doc.Join(" · ", code(r.ID), stamp(r.Started))
	if o := r.Origin; o != nil {
		said = code(report.Place(o.File, o.Line))
	}
	w.paragraph(said)
	w.paragraph(fence("text", r.Table))
}

// method is how the figures were come by, in three lines.
func (w *writer) method() {
	lines := []string{w.Word("note.no-tests")}
	if tests := w.tests(); len(tests) > 0 {
		c := w.note.Comparison
		lines = []string{w.Word("note.level", "level", w.Share(c.Level), "margin", w.Share(c.Margin)), w.Word("note.tests", "tests", tests)}
	}
	lines = append(lines, w.definitions()...)
	if slices.ContainsFunc(w.note.Runs, func(r Run) bool { return len(r.Digest.TTFT) > 0 }) {
		lines = append(lines, w.Word("note.plot-rules"))
	}
	w.heading(2, w.Word("note.method"))
	w.bullets(lines...)
}

// tests are what changes rest on, each once.
func (w *writer) tests() (tests []string) {
	for _, load := range w.note.Comparison.Workloads {
		for _, c := range load.Changes() {
			if t := escape(w.Say(c.Test)); t != "" && !slices.Contains(tests, t) {
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
				groups.Add(r.Definition.ID, w.Of(strings.ToUpper(metric), escape(w.Word(r.Definition.Says))))
			}
		}
	}
	for _, g := range groups {
		lines = append(lines, w.Join("sentence", w.Word("note.definitions", "tool", escape(g.Said)), w.sentence(w.Join("stop", g.Names...))))
	}
	return lines
}

// defined are the metrics whose definitions tell tools apart.
var defined = []string{"ttft", "tpot", "itl", "icl"}
