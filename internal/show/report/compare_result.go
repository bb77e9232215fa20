package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// results are the bottom lines of a workload, one for variants of which the same can
// be said.
func (w words) results(load compare.Workload) (lines []line) {
	if len(load.Variants) < 2 {
		return []line{{Label: w.result, Text: w.alone}}
	}
	i := 0
	tones := map[string]tone{}
	groups := alikeIn(load.Variants, 1, func(compare.Variant) string {
		i++
		said, t := w.bottomLine(load, i)
		tones[said] = t
		return said
	})
	for _, g := range groups {
		said := g.of
		if len(groups) > 1 {
			said = strings.Join(g.names, w.comma) + w.colon + said
		}
		lines = append(lines, line{w.result, said, tones[g.of]})
	}
	return lines
}

// A tally is the changes of a variant, those of figures that can be good or bad, or
// that did change.
type tally struct {
	all, better, worse, changed, same, unknown, apart []compare.Row
	fresh                                             []compare.Row // of which the baseline has none at all
	ofRuns, within                                    bool
}

func tallyOf(load compare.Workload, variant int, margin float64) (t tally) {
	for _, r := range load.Rows {
		if isFresh(r, variant) {
			t.fresh = append(t.fresh, r)
		}
		if variant >= len(r.Cells) || r.Cells[variant].Change == nil || r.Constant {
			continue
		}
		c := r.Cells[variant].Change
		if r.Quantity.Better == metrics.Neither && c.Verdict != compare.Changed {
			continue
		}
		t.all = append(t.all, r)
		t.ofRuns = t.ofRuns || c.Basis == compare.Replicates || c.Basis == compare.Pairs || c.Basis == compare.Borrowed
		t.within = t.within || c.Basis == compare.Within
		if c.Apart {
			t.apart = append(t.apart, r)
		}
		list := map[compare.Verdict]*[]compare.Row{
			compare.Better: &t.better, compare.Worse: &t.worse, compare.Changed: &t.changed, compare.Same: &t.same,
		}[c.Verdict]
		switch {
		case list == nil:
			list = &t.unknown
		case isSmall(*c, margin):
			list = &t.same
		}
		*list = append(*list, r)
	}
	return t
}

// isSmall: there is a difference, and it is smaller than what is of interest.
func isSmall(c compare.Change, margin float64) bool {
	return c.Verdict != compare.CannotTell && !c.Plain && c.Bound > 0 && c.Bound <= margin
}

// isFresh: what was 0 is not any more, as failures, and no verdict tells it.
func isFresh(r compare.Row, variant int) bool {
	if variant >= len(r.Cells) || r.Quantity.Better == metrics.Neither {
		return false
	}
	a, b := r.Cells[0], r.Cells[variant]
	if b.Change != nil && b.Change.Verdict != compare.CannotTell {
		return false
	}
	return len(a.Values) > 0 && len(b.Values) > 0 && a.Center == 0 && b.Center != 0
}

// bottomLine is what can be said of a variant in a line.
func (w words) bottomLine(load compare.Workload, variant int) (said string, t tone) {
	tally := tallyOf(load, variant, w.limit)
	for _, r := range tally.fresh {
		s := scaleOf(r)
		said += fmt.Sprintf(w.fresh, w.title(r.Quantity), s.value(r.Cells[variant]), s.value(r.Cells[0])) + w.stop
	}
	rest, t := w.sumUp(load, variant, tally)
	if slices.ContainsFunc(tally.fresh, func(r compare.Row) bool { return r.Quantity.Better == metrics.Lower }) {
		t = bad
	}
	return said + rest, t
}

func (w words) sumUp(load compare.Workload, variant int, t tally) (string, tone) {
	evidence := w.evidence(load, variant)
	switch {
	case len(t.all) == 0:
		return w.incomparable, unclear
	case t.ofRuns:
		return w.decided(t, variant), t.tone()
	case t.within && len(t.apart) == 0:
		return fmt.Sprintf(w.withinNone, evidence), unclear
	case t.within:
		return fmt.Sprintf(w.withinSome, evidence, len(t.apart), len(t.all), w.list(t.apart, variant)), unclear
	}
	said := fmt.Sprintf(w.nothingSaid, evidence)
	if large := beyondUsual(t.all, variant); len(large) > 0 {
		said += w.stop + w.unusual(large, t.all) + w.open + w.list(large, variant) + w.shut
	}
	return said, unclear
}

// usual is how much runs of a server that is left alone seldom exceed, as a relative
// standard deviation.
const usual = 0.1

// beyondUsual are differences that nothing decides on, and that noise of the usual size
// would not make.
func beyondUsual(rows []compare.Row, variant int) []compare.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r compare.Row) bool {
		c := r.Cells[variant].Change
		return c.Basis != compare.Nothing || c.Chance < usual
	})
}

func (w words) unusual(large, all []compare.Row) string {
	return fmt.Sprintf(w.onlyLarge, w.share(usual), len(large), len(all))
}

// evidence is what a variant and the baseline have: one table each.
func (w words) evidence(load compare.Workload, variant int) string {
	a, b := w.runsOf(load.Variants[0]), w.runsOf(load.Variants[variant])
	if a == b {
		return fmt.Sprintf(w.each, a)
	}
	return a + w.comma + b
}

func (t tally) tone() tone {
	switch {
	case len(t.worse) > 0 && len(t.better) > 0:
		return plain // the table shows which
	case len(t.worse) > 0:
		return bad
	case len(t.better) > 0:
		return good
	case len(t.unknown) > 0:
		return unclear
	}
	return plain
}

// decided is the bottom line where runs were repeated.
func (w words) decided(t tally, variant int) string {
	var parts []string
	add := func(rows []compare.Row, form string, a ...any) {
		if len(rows) > 0 {
			parts = append(parts, fmt.Sprintf(form, a...))
		}
	}
	switch {
	case len(t.unknown) == len(t.all):
		return fmt.Sprintf(w.cannotAny, len(t.all)) + w.more(t.unknown, variant)
	case len(t.better)+len(t.worse) == 0:
		parts = append(parts, fmt.Sprintf(w.neither, len(t.all)))
	case len(t.better) == 0:
		parts = append(parts, fmt.Sprintf(w.worseOf, len(t.worse), len(t.all), w.list(t.worse, variant)), w.betterNone)
	default:
		parts = append(parts, fmt.Sprintf(w.betterOf, len(t.better), len(t.all), w.list(t.better, variant)))
		if len(t.worse) == 0 {
			parts = append(parts, w.worseNone)
		}
		add(t.worse, w.worseIn, len(t.worse), w.list(t.worse, variant))
	}
	add(t.changed, w.changedIn, len(t.changed), w.list(t.changed, variant))
	add(t.same, w.sameIn, len(t.same), w.margin)
	add(t.unknown, w.cannotIn, len(t.unknown))
	return strings.Join(parts, w.clause) + w.more(t.unknown, variant)
}

// listed is how many figures a bottom line names.
const listed = 4

// headline are the figures that people look at first.
var headline = []string{
	"requests.failed", "goodput", "throughput.output", "ttft.mean", "tpot.mean", "itl.mean", "e2el.mean", "ttft.p99", "tpot.p99", "itl.p99", "e2el.p99",
}

// byWeight are rows with those first that people look at first.
func byWeight(rows []compare.Row) []compare.Row {
	rows = slices.Clone(rows)
	weight := func(r compare.Row) int {
		if i := slices.Index(headline, r.Quantity.Name); i >= 0 {
			return i
		}
		return len(headline)
	}
	slices.SortStableFunc(rows, func(a, b compare.Row) int { return weight(a) - weight(b) })
	return rows
}

// list names figures with their changes.
func (w words) list(rows []compare.Row, variant int) string {
	var parts []string
	for _, r := range byWeight(rows)[:min(len(rows), listed)] {
		parts = append(parts, w.title(r.Quantity)+" "+w.change(*r.Cells[variant].Change, scaleOf(r)))
	}
	if rest := len(rows) - len(parts); rest > 0 {
		parts = append(parts, fmt.Sprintf(w.and, rest))
	}
	return strings.Join(parts, w.comma)
}

// patience is how many more runs somebody may make.
const patience = 50

// more is how many runs would settle what cannot be told, of the first two of those
// figures that people look at first.
func (w words) more(rows []compare.Row, variant int) string {
	wants := func(r compare.Row) int { return r.Cells[variant].Change.More }
	rows = slices.DeleteFunc(byWeight(rows), func(r compare.Row) bool {
		return wants(r) == 0 || wants(r) > patience || isBetween(r.Quantity)
	})
	if len(rows) == 0 {
		return ""
	}
	parts := []string{}
	for i, r := range rows[:min(2, len(rows))] {
		form := w.wouldSettle
		switch {
		case i > 0:
			form = w.alsoSettle
		case wants(r) == 1:
			form = w.oneSettles
		}
		parts = append(parts, fmt.Sprintf(form, wants(r), w.title(r.Quantity)))
	}
	return w.stop + handSpaced(strings.Join(parts, w.clause))
}

// legend explains the marks that occur.
func (w words) legend(c compare.Comparison, all bool) (lines []line) {
	var interval, differs, small, same, cannot, more, apart, borrowed, conditional, corrected bool
	for _, load := range c.Workloads {
		shown, _, _ := divide(load, all, asked(c, load))
		for _, r := range shown {
			for _, cell := range r.Cells {
				ch := unproven(r, cell).Change
				if ch == nil || r.Constant {
					continue
				}
				word, _ := w.bareVerdict(*ch)
				interval = interval || ch.Interval != nil
				small = small || isSmall(*ch, w.limit) && word != w.same
				corrected = corrected || ch.Verdict == compare.CannotTell && !ch.Apart && ch.Interval != nil && ch.Interval.Low*ch.Interval.High > 0
				differs = differs || ch.Verdict == compare.Better || ch.Verdict == compare.Worse || ch.Verdict == compare.Changed
				same = same || word == w.same
				cannot = cannot || word == w.cannotTell
				apart = apart || word == w.apart
				conditional = conditional || isConditional(*ch)
				borrowed = borrowed || ch.Basis == compare.Borrowed && onMixedBases(load)
				more = more || ch.More > 0 && ch.Verdict == compare.CannotTell && !ch.Apart
			}
		}
	}
	add := func(when bool, mark, text string) {
		if when {
			lines = append(lines, line{Label: mark, Text: text})
		}
	}
	add(interval, "[a, b]", fmt.Sprintf(w.markInterval, w.level))
	add(differs, w.better+w.comma+w.worse, fmt.Sprintf(w.markBetter, w.level))
	add(small, fmt.Sprintf(w.lessThan, w.worse, w.margin), w.markSmall)
	add(same, w.same, fmt.Sprintf(w.markSame, w.margin))
	add(cannot, w.cannotTell, w.markCannot)
	add(more, strings.Replace(w.moreMany, "%d", "N", 1), w.markMore)
	add(corrected, w.cannotTell+" [+a, +b]", w.markCorrected)
	add(conditional, fmt.Sprintf(w.ifNoise, fmt.Sprintf(w.percent, "N")), w.markIf)
	add(apart, w.apart, w.markApart)
	add(borrowed, w.borrowed, w.markBorrowed)
	return lines
}

// claimLine is a claim with what the tables make of it.
func (w words) claimLine(c compare.ClaimCheck, several bool) line {
	place := fmt.Sprintf(w.place, c.Claim.Line)
	if several && c.File != "" {
		place = fmt.Sprintf(w.placeIn, c.File, c.Claim.Line)
	}
	word, t := w.standing(c)
	parts := []string{handSpaced(w.matches(c))}
	if len(c.Matches) > 0 && !c.Agrees {
		parts = append(parts, fmt.Sprintf(w.notStated, unsigned(w.claimed(c.Claim, c.Claim.Change))))
	}
	if len(c.Matches) > 0 {
		parts = append(parts, w.noiseOf(c))
	}
	head := word + w.colon + fmt.Sprintf(w.quoted, c.Claim.Text) + w.open + place + w.shut
	return line{w.claim, Clean(head + w.period + strings.Join(parts, w.stop)), t}
}

// standing is whether a claim stands. Where noise is not known it is open, whatever
// the numbers.
func (w words) standing(c compare.ClaimCheck) (string, tone) {
	switch {
	case c.Stands:
		return w.stands, good
	case len(c.Matches) == 0 || c.Matches[0].Verdict == compare.CannotTell:
		return w.undecided, unclear
	}
	return w.fails, bad
}

// matches are the changes in the tables that a claim may mean.
func (w words) matches(c compare.ClaimCheck) string {
	if len(c.Matches) == 0 {
		return w.noFigure
	}
	said, name := "", ""
	for _, m := range c.Matches[:min(3, len(c.Matches))] {
		if said != "" {
			said += w.comma
		}
		if m.Name != name {
			name = m.Name
			said += fmt.Sprintf(w.metricOf, w.title(metrics.QuantityOf(name)), c.Variant)
		}
		form := w.higherThan
		if m.Relative < 0 {
			form = w.lowerThan
		}
		size := unsigned(w.claimed(c.Claim, m.Relative))
		if strings.Trim(size, "0.% ") == "" {
			form = w.equalTo
		}
		said += fmt.Sprintf(form, size, m.Against)
	}
	return said
}

// claimed is a change in as many digits as its author gave.
func (w words) claimed(c trace.Claim, v float64) string {
	decimals := 2
	if c.Step > 0 {
		decimals = decimalsOf(c.Step*100*1.0001, 1, 6)
	}
	return fmt.Sprintf(w.percent, percentage(v, decimals))
}

func unsigned(s string) string { return strings.TrimLeft(s, "+-") }

// noiseOf is what is known of the noise of the change that a claim comes nearest to.
func (w words) noiseOf(c compare.ClaimCheck) string {
	m := c.Matches[0]
	switch {
	case m.Basis == compare.Nothing:
		return w.oneRunNothing
	case m.Basis == compare.Within:
		return w.oneRunWithin
	case m.Verdict == compare.Same:
		return fmt.Sprintf(w.claimSame, w.margin)
	case m.Verdict == compare.CannotTell:
		return w.claimUnknown
	case !c.Stands:
		return w.claimOtherWay
	}
	return w.claimTrue
}

// gate is what became of a gate, with the figure, and why.
func (w words) gate(g compare.GateResult) line {
	word, t := w.outcome(g.Outcome)
	of := g.Variant
	if g.Workload != "" {
		of = fmt.Sprintf(w.gateOf, g.Variant, g.Workload)
	}
	why := w.remark(g.Reason, g.Why)
	if g.Interval != nil || g.Value != 0 {
		why = w.gateValue(g) + w.stop + why
	}
	return line{word, Clean(g.Gate.Text + w.open + of + w.shut + w.colon + why), t}
}

func (w words) gateValue(g compare.GateResult) string {
	if g.Gate.Relative {
		c := compare.Change{Relative: g.Value, Interval: g.Interval}
		return strings.TrimSpace(w.change(c, scale{}) + " " + w.interval(c, scale{}))
	}
	cell := compare.Cell{Values: []float64{g.Value}, Center: g.Value, Interval: g.Interval}
	s := scaleOf(compare.Row{Quantity: metrics.QuantityOf(g.Gate.Name), Cells: []compare.Cell{cell}})
	said := strings.TrimSpace(s.value(cell) + " " + s.unit)
	if within := w.valueRange(s, cell); within != "" {
		said += w.open + within + w.shut
	}
	return said
}
