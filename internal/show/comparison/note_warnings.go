package comparison

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// warnings are what stands in the way of trusting the figures.
func (w *writer) warnings(load compare.Workload) {
	var lines []string
	for _, v := range load.Variants {
		lines = append(lines, w.doubts(v)...)
	}
	of := func(code plan.Code, is func(Run) bool) {
		if names := w.variantsWith(load, is); len(names) > 0 {
			lines = append(lines, w.Word(code, "variants", names))
		}
	}
	of("note.interrupted", func(r Run) bool { return r.Status == trace.Interrupted })
	var others []string
	for _, r := range load.Residue {
		others = append(others, escape(w.Residue(hideResidue(r))))
	}
	if others != nil {
		lines = append(lines, w.Word("note.residue", "settings", others))
	}
	w.bullets(lines...)
}

// doubts are the runs of a variant that are not valid, and why.
func (w *writer) doubts(v compare.Variant) (lines []string) {
	for i, ref := range v.Runs {
		code := map[trace.Validity]plan.Code{trace.Invalid: "note.invalid", trace.Doubtful: "note.doubtful"}[ref.Verdict]
		if code == "" {
			continue
		}
		name := escape(v.Name)
		if len(v.Runs) > 1 {
			name = w.Beside(name, w.Word("note.run-number", "number", i+1, "of", len(v.Runs)))
		}
		said := w.Word(code, "run", name)
		if r, ok := w.run(ref); ok && r.Verdict != nil && len(r.Verdict.Reasons) > 0 {
			var reasons []string
			for _, reason := range r.Verdict.Reasons {
				reasons = append(reasons, escape(w.Say(reason)))
			}
			said = w.Of(said, w.Join("stop", reasons...))
		}
		lines = append(lines, w.sentence(said))
	}
	return lines
}

// variantsWith are those of which a run is so.
func (w *writer) variantsWith(load compare.Workload, is func(Run) bool) (names []string) {
	for _, v := range load.Variants {
		if slices.ContainsFunc(w.runsOf(v), is) {
			names = append(names, escape(v.Name))
		}
	}
	return names
}
