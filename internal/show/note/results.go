package note

import (
	"fmt"
	"slices"
	"strings"
)

// results are the tables, folded where they are many.
func (w *writer) results() error {
	if len(w.note.Runs) == 0 {
		return nil
	}
	w.heading(2, w.Word("note.results"))
	level := 3
	for i, load := range w.note.Comparison.Workloads {
		w.loadHeading(i)
		if len(w.note.Comparison.Workloads) > 1 {
			level = 4
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
				w.heading(level, escape(v.Name))
				for _, r := range runs {
					w.table(r)
				}
			}
		}
	}
	return nil
}

// unfolded is how many tables a note shows at once.
const unfolded = 2

func (w *writer) table(r Run) {
	parts := []string{code(r.ID)}
	if o := r.Origin; o != nil {
		place := o.File
		if o.Line > 0 {
			place = fmt.Sprintf("%s:%d", o.File, o.Line)
		}
		parts = []string{code(place)}
	} else if when := stamp(r.Started); when != "" {
		parts = append(parts, when)
	}
	w.paragraph(strings.Join(parts, " · "))
	w.paragraph(fence("text", r.Table))
}

// method is how the figures were come by, in three lines.
func (w *writer) method() error {
	var lines []string
	if tests := w.tests(); len(tests) > 0 {
		c := w.note.Comparison
		lines = append(lines, "- "+w.Word("note.level", "level", w.Share(c.Level), "margin", w.Share(c.Margin)), "- "+w.Word("note.tests", "tests", tests))
	} else {
		lines = append(lines, "- "+w.Word("note.no-tests"))
	}
	for _, d := range w.definitions() {
		lines = append(lines, "- "+d)
	}
	if slices.ContainsFunc(w.note.Runs, func(r Run) bool { return len(r.Digest.TTFT) > 0 }) {
		lines = append(lines, "- "+w.Word("note.plot-rules"))
	}
	w.heading(2, w.Word("note.method"))
	w.paragraph(lines...)
	return nil
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
	var ids []string
	meanings := map[string][]string{}
	for _, load := range w.note.Comparison.Workloads {
		for _, r := range load.Rows {
			metric, _, _ := strings.Cut(r.Quantity.Name, ".")
			if !slices.Contains(defined, metric) || r.Definition.Says == "" {
				continue
			}
			id := r.Definition.ID
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
			said := w.Of(strings.ToUpper(metric), escape(w.Word(r.Definition.Says)))
			if !slices.Contains(meanings[id], said) {
				meanings[id] = append(meanings[id], said)
			}
		}
	}
	for _, id := range ids {
		lines = append(lines, w.Join("sentence", w.Word("note.definitions", "tool", escape(id)), w.sentence(w.Join("stop", meanings[id]...))))
	}
	return lines
}

// defined are the metrics whose definitions tell tools apart.
var defined = []string{"ttft", "tpot", "itl", "icl"}
