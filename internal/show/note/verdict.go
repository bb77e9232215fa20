package note

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/report"
)

// listed is how many figures a sentence names.
const listed = 6

// briefly is how many it names of which nothing is known.
const briefly = 4

// settled is of how many figures a sentence says what would decide them.
const settled = 3

// mainFigures are those that people look at first, in that order. What else differs
// stands in the table: much of it says the same again.
var mainFigures = []string{
	"throughput.output", "goodput", "requests.failed",
	"ttft.mean", "tpot.mean", "itl.mean", "e2el.mean",
	"ttft.p99", "tpot.p99", "itl.p99", "icl.p99", "e2el.p99",
	"ttft.median", "tpot.median", "itl.median", "e2el.median",
	"throughput.requests",
}

// A finding is a figure with its change.
type finding struct {
	compare.Change
	row compare.Row
}

// findings are the changes of a variant in the main figures, the weightiest first;
// without any of those, in all that should go one way.
func findings(load compare.Workload, variant int) (main []finding) {
	var other []finding
	for _, r := range load.Rows {
		if variant >= len(r.Cells) || r.Cells[variant].Change == nil || r.Quantity.Better == metrics.Neither {
			continue
		}
		f := finding{*r.Cells[variant].Change, r}
		if f.Plain && f.Relative == 0 {
			continue // none here and none there
		}
		if slices.Contains(mainFigures, r.Quantity.Name) {
			main = append(main, f)
		} else {
			other = append(other, f)
		}
	}
	if main == nil {
		return other
	}
	slices.SortStableFunc(main, func(a, b finding) int {
		return cmp.Compare(slices.Index(mainFigures, a.row.Quantity.Name), slices.Index(mainFigures, b.row.Quantity.Name))
	})
	return main
}

// patience is how many more runs somebody may make.
const patience = 50

// of are the findings with a verdict.
func of(all []finding, verdict compare.Verdict) (some []finding) {
	for _, f := range all {
		if f.Verdict == verdict {
			some = append(some, f)
		}
	}
	return some
}

// decidable reports whether a verdict may rest on a basis at all.
func decidable(b compare.Basis) bool {
	return b == compare.Replicates || b == compare.Pairs || b == compare.Borrowed
}

func (w *writer) verdicts() error {
	w.heading(2, w.words.conclusion)
	loads := w.Comparison.Workloads
	if len(loads) == 0 {
		w.paragraph(w.words.nothing)
		return nil
	}
	basis := w.basis(loads[0])
	if slices.ContainsFunc(loads, func(l compare.Workload) bool { return w.basis(l) != basis }) {
		basis = ""
	}
	if basis != "" {
		w.paragraph(basis)
	}
	for i, load := range loads {
		w.loadHeading(i)
		w.verdict(load, basis == "")
	}
	if slices.ContainsFunc(loads, func(l compare.Workload) bool { return w.basis(l) != "" }) {
		if len(loads) > 1 {
			w.heading(3, w.words.next)
		}
		w.paragraph(fmt.Sprintf(w.words.advise, enough(w.Comparison.Level)))
	}
	return nil
}

// basis is why nothing is decided in a workload, "" where something may be.
func (w *writer) basis(load compare.Workload) string {
	bases := basesOf(load)
	switch {
	case len(bases) == 0 || slices.ContainsFunc(bases, decidable):
		return ""
	case slices.Contains(bases, compare.Within):
		return w.words.withinBasis
	}
	return w.words.noBasis
}

// verdict is what a colleague can act on; why says what nothing can be decided for,
// if that is so.
func (w *writer) verdict(load compare.Workload, why bool) {
	w.warnings(load)
	if len(load.Variants) < 2 {
		for _, v := range load.Variants {
			w.paragraph(fmt.Sprintf(w.words.alone, escape(v.Name)))
		}
		return
	}
	switch basis := w.basis(load); {
	case basis == "" && len(basesOf(load)) > 0 && !found(load):
		w.paragraph(w.words.nothingFound)
	case basis != "" && why:
		w.paragraph(basis)
	}
	evidence, alike := w.evidence(load)
	w.paragraph(fmt.Sprintf(w.words.against, escape(load.Variants[0].Name), evidence))
	var lines []string
	for i, v := range load.Variants[1:] {
		line := "- **" + escape(v.Name) + "**"
		if !alike {
			line += w.words.open + w.said.Runs(v) + w.words.shut
		}
		lines = append(lines, line+w.words.colon+w.ofVariant(load, i+1))
	}
	w.paragraph(lines...)
	w.noise(load)
	w.claims(load)
}

// evidence is what there is of the baseline, or of each variant, if that is alike.
func (w *writer) evidence(load compare.Workload) (said string, alike bool) {
	said = w.said.Runs(load.Variants[0])
	if slices.ContainsFunc(load.Variants, func(v compare.Variant) bool { return w.said.Runs(v) != said }) {
		return said, false
	}
	if strings.ContainsAny(said[:1], "0123456789") && w.Lang == report.Zh {
		said = " " + said
	}
	return fmt.Sprintf(w.words.each, said), true
}

// noise is how much repeated runs differ.
func (w *writer) noise(load compare.Workload) {
	var sentences []string
	var parts []string
	for _, f := range findings(load, 1) {
		if f.Noise > 0 && decidable(f.Basis) && len(parts) < listed && !f.Plain {
			parts = append(parts, w.title(f.row)+" "+w.said.Share(rounded(f.Noise)))
		}
	}
	if parts != nil {
		sentences = append(sentences, fmt.Sprintf(w.words.noise, strings.Join(parts, w.words.comma)))
	}
	if slices.Contains(basesOf(load), compare.Borrowed) {
		sentences = append(sentences, w.words.borrowed)
	}
	if sentences != nil {
		w.paragraph(strings.Join(sentences, w.words.gap))
	}
}

// rounded is a share with two digits.
func rounded(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Round(v/p) * p
}

// found reports whether anything was decided but that there is no difference.
func found(load compare.Workload) bool {
	for i := range load.Variants {
		for _, v := range []compare.Verdict{compare.Better, compare.Worse, compare.Changed} {
			if len(of(findings(load, i), v)) > 0 {
				return true
			}
		}
	}
	return false
}

// basesOf are those of a workload's changes.
func basesOf(load compare.Workload) (bases []compare.Basis) {
	for i := range load.Variants {
		for _, f := range findings(load, i) {
			if !slices.Contains(bases, f.Basis) {
				bases = append(bases, f.Basis)
			}
		}
	}
	return bases
}

// enough runs of each are those with which a permutation test can tell anything at a
// level: the two most extreme of all arrangements are few enough.
func enough(level float64) int {
	for n := 2; n < 20; n++ {
		if arrangements := math.Round(math.Gamma(float64(2*n+1)) / math.Pow(math.Gamma(float64(n+1)), 2)); 2/arrangements <= 1-level {
			return n
		}
	}
	return 20
}

// ofVariant are the sentences on a variant.
func (w *writer) ofVariant(load compare.Workload, variant int) string {
	all := findings(load, variant)
	switch {
	case len(all) == 0:
		return w.words.incomparable + w.words.end
	case decidable(all[0].Basis):
		return w.decided(all)
	case all[0].Basis == compare.Within:
		return w.within(all)
	}
	return w.list(all[:min(briefly, len(all))], briefly, false) + escape(w.said.BeyondUsual(load, variant)) + w.words.end
}

// within is what single runs with records show.
func (w *writer) within(all []finding) string {
	var apart []finding
	for _, f := range all {
		if f.Apart {
			apart = append(apart, f)
		}
	}
	if apart == nil {
		return w.words.withinNone + w.words.end
	}
	return fmt.Sprintf(w.words.apart, w.list(apart, listed, true)) + w.words.end
}

// decided is the verdict where noise is known.
func (w *writer) decided(all []finding) string {
	var large, same []finding
	for _, f := range all {
		if f.Verdict == compare.Same || w.said.Small(f.Change) {
			same = append(same, f)
		} else {
			large = append(large, f)
		}
	}
	better, worse := of(large, compare.Better), of(large, compare.Worse)
	changed, unknown := of(large, compare.Changed), of(large, compare.CannotTell)
	var parts []string
	add := func(f []finding, sentence string) {
		if len(f) > 0 {
			parts = append(parts, fmt.Sprintf(sentence, w.list(f, listed, true)))
		}
	}
	add(better, w.words.betterIn)
	add(worse, w.words.worseIn)
	add(changed, w.words.changedIn)
	if len(same) > 0 {
		parts = append(parts, fmt.Sprintf(w.words.sameIn, w.said.Share(w.Comparison.Margin), w.names(same)))
	}
	if len(unknown) > 0 {
		parts = append(parts, fmt.Sprintf(w.words.unknownIn, w.open(unknown)))
	}
	return strings.Join(parts, w.words.gap)
}

// title is what a figure is called.
func (w *writer) title(r compare.Row) string { return escape(w.said.Title(r.Quantity)) }

// list names figures with their changes, and where those lie.
func (w *writer) list(all []finding, most int, intervals bool) string {
	return w.enumerate(all, most, func(f finding) string {
		said := w.title(f.row) + " " + w.said.Change(f.row, f.Change)
		if at := w.said.Interval(f.row, f.Change); intervals && at != "" {
			said += " " + escape(at)
		}
		return said
	})
}

func (w *writer) names(all []finding) string {
	return w.enumerate(all, listed, func(f finding) string { return w.title(f.row) })
}

// open names what is not decided, and what would decide some of it.
func (w *writer) open(all []finding) string {
	said := w.list(all, briefly, true)
	wanting := slices.DeleteFunc(slices.Clone(all), func(f finding) bool { return f.More == 0 || f.More > patience })
	if len(wanting) == 0 {
		return said
	}
	var parts []string
	for _, f := range wanting[:min(settled, len(wanting))] {
		parts = append(parts, fmt.Sprintf(w.words.settle, f.More, w.title(f.row)))
	}
	return said + w.words.stop + w.words.settling + strings.Join(parts, w.words.comma)
}

// enumerate names the first few.
func (w *writer) enumerate(all []finding, most int, name func(finding) string) string {
	var parts []string
	for _, f := range all[:min(most, len(all))] {
		parts = append(parts, name(f))
	}
	if rest := len(all) - len(parts); rest > 0 {
		parts = append(parts, fmt.Sprintf(w.words.more, rest))
	}
	return strings.Join(parts, w.words.comma)
}

// claims are what an author stated, and whether it stands.
func (w *writer) claims(load compare.Workload) {
	if len(load.Claims) == 0 {
		return
	}
	lines := []string{w.words.claims, ""}
	for _, c := range load.Claims {
		lines = append(lines, "- "+escape(w.said.Claim(c, w.files() > 1)))
	}
	w.paragraph(lines...)
}

// files is from how many the runs are.
func (w *writer) files() int {
	var files []string
	for _, r := range w.Runs {
		if r.Origin != nil && !slices.Contains(files, r.Origin.File) {
			files = append(files, r.Origin.File)
		}
	}
	return len(files)
}

// warnings are what stands in the way of trusting the figures.
func (w *writer) warnings(load compare.Workload) {
	var lines []string
	for _, v := range load.Variants {
		lines = append(lines, w.doubts(v)...)
	}
	p := w.words
	of := func(sentence string, is func(Run) bool) {
		if names := w.variantsWith(load, is); len(names) > 0 {
			lines = append(lines, "- "+fmt.Sprintf(sentence, strings.Join(names, p.comma)))
		}
	}
	of(p.simulated, func(r Run) bool { return r.Kind == trace.Simulated })
	of(p.interrupted, func(r Run) bool { return r.Status == trace.Interrupted })
	var others []string
	for _, r := range load.Residue {
		r.Values = hideAll(r.Setting, r.Values)
		others = append(others, escape(w.said.Residue(r)))
	}
	if others != nil {
		lines = append(lines, "- "+fmt.Sprintf(p.residue, strings.Join(others, p.stop)))
	}
	if lines != nil {
		w.paragraph(lines...)
	}
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

// doubts are the runs of a variant that are not valid, and why.
func (w *writer) doubts(v compare.Variant) (lines []string) {
	for i, ref := range v.Runs {
		sentence := map[trace.Validity]string{trace.Invalid: w.words.invalid, trace.Doubtful: w.words.doubtful}[ref.Verdict]
		if sentence == "" {
			continue
		}
		name, why := escape(v.Name), w.words.end
		if len(v.Runs) > 1 {
			name += w.words.open + fmt.Sprintf(w.words.runNumber, i+1, len(v.Runs)) + w.words.shut
		}
		if r, ok := w.run(ref); ok && r.Verdict != nil && len(r.Verdict.Reasons) > 0 {
			var reasons []string
			for _, reason := range r.Verdict.Reasons {
				reasons = append(reasons, escape(w.said.Foreign(reason)))
			}
			why = w.words.colon + strings.Join(reasons, w.words.stop) + w.words.end
		}
		lines = append(lines, "- "+fmt.Sprintf(sentence, name, why))
	}
	return lines
}
