package comparison

import (
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
)

func (w *writer) verdicts() {
	w.heading(2, w.Word("note.verdict"))
	loads := w.note.Comparison.Workloads
	if len(loads) == 0 {
		w.paragraph(w.Word("note.nothing"))
		return
	}
	if w.laidOut() {
		w.experimentVerdict()
		return
	}
	why := whyUndecided(loads[0])
	if slices.ContainsFunc(loads, func(l compare.Workload) bool { return whyUndecided(l) != why }) {
		why = ""
	}
	if why != "" {
		w.paragraph(w.Word(why))
	}
	for i, load := range loads {
		w.loadHeading(i)
		w.verdict(load, why == "")
	}
	if slices.ContainsFunc(loads, func(l compare.Workload) bool { return whyUndecided(l) != "" }) {
		if len(loads) > 1 {
			w.heading(3, w.Word("note.next"))
		}
		w.paragraph(w.Word("note.advice", "runs", w.note.Comparison.Enough))
	}
}

// verdict is what a colleague can act on; why says what nothing can be decided for,
// if that is so.
func (w *writer) verdict(load compare.Workload, why bool) {
	w.warnings(load)
	if len(load.Variants) < 2 {
		for _, v := range load.Variants {
			w.paragraph(w.Word("note.alone", "variant", escape(v.Name)))
		}
		return
	}
	switch reason := whyUndecided(load); {
	case basisOf(load).Decides() && !load.Differs():
		w.paragraph(w.Word("note.nothing-found"))
	case reason != "" && why:
		w.paragraph(w.Word(reason))
	}
	evidence, alike := w.evidence(load)
	w.paragraph(w.Word("note.against", "baseline", escape(load.Variants[0].Name), "evidence", evidence))
	var lines []string
	for i, v := range load.Variants[1:] {
		name := "**" + escape(w.Called(v)) + "**"
		if !alike {
			name = w.Beside(name, w.Runs(v))
		}
		lines = append(lines, w.Of(name, w.ofVariant(load, i+1)))
	}
	w.bullets(lines...)
	w.noise(load)
	w.runOrder(load)
	w.claims(load)
}

// whyUndecided is why nothing is decided in a workload, "" where something may be.
func whyUndecided(load compare.Workload) plan.Code {
	switch basis := basisOf(load); {
	case basis == "" || basis.Decides():
		return ""
	case basis == compare.Within:
		return "note.within-basis"
	}
	return "note.no-basis"
}

// basisOf is the best that a change of a workload rests on, "" if there is none.
func basisOf(load compare.Workload) (best compare.Basis) {
	for _, v := range load.Variants {
		if v.Tally != nil && (best == "" || v.Tally.Basis != "" && v.Tally.Basis.Better(best)) {
			best = v.Tally.Basis
		}
	}
	return best
}

// evidence is what there is of the baseline, or of each variant, if that is alike.
func (w *writer) evidence(load compare.Workload) (said string, alike bool) {
	said = w.Runs(load.Variants[0])
	if slices.ContainsFunc(load.Variants, func(v compare.Variant) bool { return w.Runs(v) != said }) {
		return said, false
	}
	return w.Word("note.each", "runs", said), true
}

// ofVariant are the sentences on a variant: first on failures, if too many failed to judge by the rest.
func (w *writer) ofVariant(load compare.Workload, variant int) string {
	said := w.ofFigures(load, variant)
	if failed := w.Failures(load, variant); failed != "" {
		said = w.Join("sentence", w.sentence(escape(failed)), said)
	}
	return said
}

// ofFigures are the sentences on the figures of a variant.
func (w *writer) ofFigures(load compare.Workload, variant int) string {
	t, all := load.Variants[variant].Tally, findings(load, variant)
	switch {
	case len(all) == 0:
		return w.sentence(w.Word("note.incomparable"))
	case all[0].Basis.Decides():
		return w.decided(load, variant)
	case all[0].Basis == compare.Within:
		return w.sentence(w.within(all))
	}
	said := w.list(all[:min(briefly, len(all))], briefly, false)
	if unusual := w.Unusual(*t); unusual != "" {
		said = w.Join("stop", said, escape(unusual))
	}
	return w.sentence(said)
}

// decided is the verdict where noise is known.
func (w *writer) decided(load compare.Workload, variant int) string {
	of := func(is func(finding) bool) []finding {
		return slices.DeleteFunc(findings(load, variant), func(f finding) bool { return !is(f) })
	}
	same := func(f finding) bool { return f.Verdict == compare.Same || f.Small }
	large := func(v compare.Verdict) []finding {
		return of(func(f finding) bool { return f.Verdict == v && !same(f) })
	}
	var parts []string
	add := func(code plan.Code, all []finding, said func([]finding) string) {
		if len(all) > 0 {
			parts = append(parts, w.Word(code, "figures", said(all), "margin", w.Share(w.note.Comparison.Margin)))
		}
	}
	changes := func(all []finding) string { return w.list(all, noteListed, true) }
	add("note.better", large(compare.Better), changes)
	add("note.worse", large(compare.Worse), changes)
	add("note.same", of(same), func(all []finding) string {
		return w.enumerate(all, noteListed, func(f finding) string { return w.title(f.row) })
	})
	add("note.unknown", large(compare.CannotTell), func(all []finding) string { return w.open(load, variant, all) })
	return w.Join("sentence", parts...)
}

// open names what is not decided, and what would decide some of it.
func (w *writer) open(load compare.Workload, variant int, all []finding) string {
	said := w.list(all, briefly, true)
	var parts []string
	for _, f := range findingsIn(load, variant, load.Variants[variant].Tally.Settling) {
		parts = append(parts, w.Word("note.settle", "figure", w.title(f.row), "runs", f.More))
	}
	if parts == nil {
		return said
	}
	return w.Join("stop", said, w.Word("note.settling", "figures", parts[:min(noteSettled, len(parts))]))
}

// within is what single runs with records show.
func (w *writer) within(all []finding) string {
	apart := slices.DeleteFunc(slices.Clone(all), func(f finding) bool { return !f.Apart })
	if len(apart) == 0 {
		return w.Word("note.within-none")
	}
	return w.Word("note.apart", "figures", w.list(apart, noteListed, true))
}

// list names figures with their changes, and where those lie.
func (w *writer) list(all []finding, most int, intervals bool) string {
	return w.enumerate(all, most, func(f finding) string {
		said := w.title(f.row) + " " + w.Change(f.row, f.Change)
		if at := w.Interval(f.row, f.Change); intervals && at != "" {
			said += " " + escape(at)
		}
		return said
	})
}

// enumerate names the first few.
func (w *writer) enumerate(all []finding, most int, name func(finding) string) string {
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = name(f)
	}
	return w.Few(names, most)
}

// noise is how much repeated runs differ.
func (w *writer) noise(load compare.Workload) {
	var parts, sentences []string
	for _, f := range findings(load, 1) {
		if f.Noise > 0 && f.Basis.Decides() && !f.Plain && len(parts) < noteListed {
			parts = append(parts, w.title(f.row)+" "+w.Share(rounded(f.Noise)))
		}
	}
	if parts != nil {
		sentences = append(sentences, w.Word("note.noise", "figures", parts))
	}
	borrowed := func(v compare.Variant) bool { return v.Tally != nil && v.Tally.Basis == compare.Borrowed }
	if slices.ContainsFunc(load.Variants, borrowed) {
		sentences = append(sentences, w.Word("note.borrowed"))
	}
	if sentences != nil {
		w.paragraph(w.Join("sentence", sentences...))
	}
}

// runOrder is what is to be minded of the order of the runs.
func (w *writer) runOrder(load compare.Workload) {
	for _, n := range load.Notes {
		if strings.HasPrefix(string(n.Code), "order.") {
			w.paragraph("**" + w.Of(w.Word("note.order-of-runs")+"**", w.sentence(escape(w.Say(n)))))
		}
	}
}

// findings are the changes of a variant that are to be quoted.
func findings(load compare.Workload, variant int) []finding {
	if t := load.Variants[variant].Tally; t != nil {
		return findingsIn(load, variant, t.Main)
	}
	return nil
}

func findingsIn(load compare.Workload, variant int, rows []int) (all []finding) {
	for _, i := range rows {
		all = append(all, finding{*load.Rows[i].Cells[variant].Change, load.Rows[i]})
	}
	return all
}

// A finding is a figure with its change.
type finding struct {
	compare.Change
	row compare.Row
}

// How many figures a sentence names: at most, of which nothing is known, and of which it
// says what would settle them.
const (
	noteListed  = 6
	briefly     = 4
	noteSettled = 3
)

// title is what a figure is called.
func (w *writer) title(r compare.Row) string { return escape(w.Title(r.Quantity)) }

// rounded is a share with two digits.
func rounded(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Round(v/p) * p
}

// claims are what an author stated, and whether it stands.
func (w *writer) claims(load compare.Workload) {
	if len(load.Claims) == 0 {
		return
	}
	w.paragraph(w.Word("note.claims"))
	var lines []string
	for _, c := range load.Claims {
		lines = append(lines, escape(w.Claim(c, w.files() > 1)))
	}
	w.bullets(lines...)
}

// files is from how many the runs are.
func (w *writer) files() int {
	var files []string
	for _, r := range w.note.Runs {
		if r.Origin != nil && !slices.Contains(files, r.Origin.File) {
			files = append(files, r.Origin.File)
		}
	}
	return len(files)
}
