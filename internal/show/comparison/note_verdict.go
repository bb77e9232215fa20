package comparison

import (
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// verdict is what a colleague can act on, what it supposes, and what stands in its way.
func (w *noteWriter) verdict() {
	w.section(1, w.Word("note.verdict"))
	loads := w.note.Comparison.Workloads
	if len(loads) == 0 {
		w.add(doc.Prose(capital(w.sentence(w.Word("result.empty")))))
		return
	}
	var advice []string
	if w.note.Experiment != nil {
		advice = w.note.Experiment.Advice
	}
	all := w.verdictLines(advice)
	if i := slices.IndexFunc(loads, inHeadline); i >= 0 {
		all = append(w.variants(loads[i]), all...)
	}
	for _, load := range loads {
		if inHeadline(load) {
			all = append(all, w.objectives(load)...)
		}
	}
	notes := w.caveats()
	undecided := func(l compare.Workload) bool { return len(l.Variants) > 1 && !decided(l) }
	if all == nil && slices.ContainsFunc(loads, decided) {
		all = doc.Lines{w.line("label.terms", w.Terms())}
	}
	if slices.ContainsFunc(loads, undecided) {
		all = append(all, w.line("note.next", w.Word("note.advice", "runs", w.note.Comparison.Enough)))
	}
	own := func(i int) doc.Lines {
		return slices.Concat(w.variants(loads[i]), w.verdictOn(i), w.objectives(loads[i]), nonempty(w.line("label.tables", w.tablePlaces(loads[i]))), w.claims(loads[i]), w.noise(loads[i]))
	}
	if len(loads) == 1 && loads[0].Layout == nil {
		w.add(slices.Concat(own(0), all, notes))
		return
	}
	if !slices.ContainsFunc(loads, inHeadline) { // else it comes with the verdicts
		overall := w.line("summary.verdict", w.overall())
		overall.Tone = w.overallTone()
		all = append(doc.Lines{overall}, all...)
	}
	w.add(append(all, notes...))
	for i, load := range loads {
		if !inHeadline(load) {
			w.loadSection(i)
			w.add(own(i))
		}
	}
}

// caveats are what a reader has to know before the figures, each once.
func (w *noteWriter) caveats() (all doc.Lines) {
	add := func(load int, said string) {
		if load >= 0 && len(w.note.Comparison.Workloads) > 1 {
			said = w.Of(w.name(load), said)
		}
		if l := w.line("label.note", said); !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	for i, load := range w.note.Comparison.Workloads {
		for _, n := range load.Notes {
			switch laidOut := load.Layout != nil; {
			case n.Code == "compare.doubtful-runs" && laidOut:
				add(i, w.Say(n))
			case laidOut && n.Code != "compare.confirms", strings.HasPrefix(string(n.Code), "order."):
				add(-1, w.Say(n))
			}
		}
		if load.Layout == nil {
			for _, said := range w.warnings(load) {
				add(i, said)
			}
		}
	}
	if e := w.note.Experiment; e != nil && len(e.Lost) > 0 {
		add(-1, w.Word("experiment.lost-legs", "legs", len(e.Lost)))
	}
	return all
}

// warnings are what stands in the way of trusting the figures of a workload.
func (w *noteWriter) warnings(load compare.Workload) (lines []string) {
	var interrupted, others []string
	for _, v := range load.Variants {
		lines = append(lines, w.doubts(v)...)
		if slices.ContainsFunc(w.runsOf(v), func(r NoteRun) bool { return r.Status == trace.Interrupted }) {
			interrupted = append(interrupted, v.Name)
		}
	}
	if interrupted != nil {
		lines = append(lines, w.Word("note.interrupted", "variants", interrupted))
	}
	for _, r := range load.SettingDiffs {
		others = append(others, w.Residue(r))
	}
	if others != nil && len(load.Variants) > 1 {
		lines = append(lines, w.Word("note.residue", "settings", others))
	}
	return lines
}

// doubts are the runs of a variant that are not valid, and why.
func (w *noteWriter) doubts(v compare.Variant) (lines []string) {
	for i, ref := range v.Runs {
		code := map[trace.Validity]plan.Code{trace.Invalid: "note.invalid", trace.Doubtful: "note.doubtful"}[ref.Verdict]
		if code == "" {
			continue
		}
		name := v.Name
		if len(v.Runs) > 1 {
			name = w.InBrackets(name, w.Word("note.run-number", "number", i+1, "of", len(v.Runs)))
		}
		said := w.lead(w.Word(code, "run", name))
		if r, ok := w.run(ref); ok && r.Verdict != nil && len(r.Verdict.Reasons) > 0 {
			said = w.Of(said, w.SayAll("stop", r.Verdict.Reasons))
		}
		lines = append(lines, said)
	}
	return lines
}

// noise is how much repeated runs differ.
func (w *noteWriter) noise(load compare.Workload) doc.Lines {
	var parts []string
	if len(load.Variants) > 1 {
		for r, c := range mainChanges(load, 1) {
			if c.Noise > 0 && c.Basis.Decides() && !c.Plain && len(parts) < listed {
				parts = append(parts, w.Title(r.Quantity)+" "+w.Share(rounded(c.Noise)))
			}
		}
	}
	if parts == nil {
		return nil
	}
	borrowed := slices.ContainsFunc(load.Variants, func(v compare.Variant) bool { return v.Tally != nil && v.Tally.Basis == compare.Borrowed })
	return doc.Lines{w.line("label.noise", w.Word("note.noise", "figures", parts, "borrowed", borrowed))}
}

// rounded is a share with two digits.
func rounded(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Round(v/p) * p
}
