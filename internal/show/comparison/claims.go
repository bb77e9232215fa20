package comparison

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// gate is what became of a gate, with the figure, and why.
func (w Phrases) gate(g compare.GateResult) doc.Line {
	of, why := g.Variant, w.whyGate(g)
	if g.Workload != "" {
		of = w.Join("clause", g.Variant, g.Workload)
	}
	if g.Interval != nil || g.Value != 0 {
		why = w.Join("stop", w.gateValue(g), why)
	}
	l := w.line(plan.Code("outcome."+string(g.Outcome)), w.Of(w.InBrackets(g.Gate.Text, of), why))
	l.Tone = toneOf[g.Outcome]
	return l
}

// GateLine says what became of a gate on a run.
func GateLine(g compare.GateResult, lang *words.Language) string {
	l := NewPhrases(compare.Comparison{}, lang).gate(g)
	return l.Label + " " + l.Text
}

// whyGate is why a gate ends as it does, and that nobody measured it where that is so.
func (w Phrases) whyGate(g compare.GateResult) string {
	if !g.Predicted {
		return w.Say(g.Why)
	}
	return w.Join("stop", w.Say(g.Why), w.Word("gate.predicted"))
}

func (w Phrases) gateValue(g compare.GateResult) string {
	if g.Gate.Relative || g.Gate.Points {
		c := compare.Change{Relative: g.Value, Interval: g.Interval, Plain: g.Plain}
		s := scaleOf(compare.Row{Quantity: compare.GateFigure(g.Gate.Name), Cells: []compare.Cell{{Values: []float64{g.Value}, Center: g.Value}}})
		if said := doc.Join(" ", w.change(c, s, changePlaces(c)), w.interval(c, s, changePlaces(c))); g.Plain {
			return doc.Join(" ", said, s.unit)
		} else {
			return said
		}
	}
	c := compare.Cell{Values: []float64{g.Value}, Center: g.Value, Interval: g.Interval}
	s := scaleOf(compare.Row{Quantity: compare.GateFigure(g.Gate.Name), Cells: []compare.Cell{c}})
	said := doc.Join(" ", s.value(c), s.unit)
	if within := w.valueRange(s, c); within != "" {
		return w.InBrackets(said, within)
	}
	return said
}

// claims are what an author stated, where, and what the tables make of it.
func (w Phrases) claims(load compare.Workload) (lines doc.Lines) {
	var more []string
	for _, c := range load.Claims {
		if c.Agrees && len(lines) >= mostClaims {
			more = append(more, strconv.Itoa(c.Claim.Line))
			continue
		}
		lines = append(lines, w.claim(c, len(filesOf(load)) > 1))
	}
	if more != nil {
		l := w.line("label.claim", w.Word("claim.more", "n", len(more), "lines", w.few(more)))
		l.Tone = doc.Unclear
		lines = append(lines, l)
	}
	return lines
}

// mostClaims is how many claims are listed; of more only those that do not agree with the tables.
const mostClaims = 6

// claim has the file of its place if there are several.
func (w Phrases) claim(c compare.ClaimCheck, several bool) doc.Line {
	place := w.Word("claim.place", "line", c.Claim.Line)
	if several && c.File != "" {
		place = w.Word("claim.place-in", "file", c.File, "line", c.Claim.Line)
	}
	parts := []string{w.matches(c)}
	if c.Meanings > 1 && !c.Agrees {
		parts = append(parts, w.Word("claim.which", "n", c.Meanings))
	}
	if len(c.Matches) > 0 {
		parts = append(parts, w.Word(noiseOf(c), "margin", w.margin()))
	}
	standing, tone := w.standing(c)
	l := w.line("label.claim", w.Word("claim.line", "standing", standing, "text", c.Claim.Text, "place", place, "said", w.Join("stop", parts...)))
	l.Tone = tone
	return l
}

// standing says whether a claim is what the tables say, and if so whether noise could be all of it.
func (w Phrases) standing(c compare.ClaimCheck) (text string, tone doc.Tone) {
	switch {
	case len(c.Matches) == 0:
		return w.Word("claim.absent"), doc.Unclear
	case !c.Agrees:
		return w.Word("claim.disagrees", "size", w.claimed(c, c.Matches[0])), doc.Bad
	case c.Stands:
		return w.Word("claim.proved"), doc.Good
	}
	return w.Word("claim.unproven"), doc.Unclear
}

// matches are the changes in the tables that a claim may mean.
func (w Phrases) matches(c compare.ClaimCheck) string {
	if len(c.Matches) == 0 {
		return w.Word("claim.no-figure")
	}
	var said, changes []string
	all := c.Matches[:min(3, len(c.Matches))]
	for i, m := range all {
		size := unsigned(w.claimed(c, m))
		changes = append(changes, w.Word(sizeOf(m, size), "size", size, "other", m.Against))
		if i == len(all)-1 || all[i+1].Name != m.Name {
			said = append(said, w.Word("claim.figure", "figure", w.Title(figure.Lookup(m.Name)), "variant", c.Variant, "changes", changes))
			changes = nil
		}
	}
	return w.Join("comma", said...)
}

func unsigned(s string) string { return strings.TrimLeft(s, "+-") }

// claimed is a change in as many digits as the author of a claim gave: relative, or in the unit of the figure if the
// claim is.
func (w Phrases) claimed(c compare.ClaimCheck, m compare.ClaimMatch) string {
	step := c.Claim.Step
	if c.Claim.Delta != 0 {
		s := unitOf(compare.Row{Quantity: figure.Lookup(m.Name), Cells: []compare.Cell{{Values: []float64{c.Claim.Delta}}}})
		return doc.Join(" ", signedDigits(m.Difference*s.factor, decimalsOf(step*s.factor*1.0001, 1, 6)), s.unit)
	}
	decimals := 2
	if step > 0 {
		decimals = decimalsOf(step*100*1.0001, 1, 6)
	}
	return w.percent(percentage(m.Relative, decimals))
}

func sizeOf(m compare.ClaimMatch, size string) plan.Code {
	switch {
	case !slices.ContainsFunc([]rune(size), func(r rune) bool { return r >= '1' && r <= '9' }):
		return "claim.equal"
	case m.Relative < 0:
		return "claim.lower"
	}
	return "claim.higher"
}

// noiseOf is what is known of the noise of the change that a claim comes nearest to.
func noiseOf(c compare.ClaimCheck) plan.Code {
	m := c.Matches[0]
	switch {
	case m.Basis == compare.Nothing:
		return "claim.noise-unknown"
	case m.Basis == compare.Within:
		return "claim.noise-within"
	case m.Verdict == compare.Same:
		return "claim.small"
	case m.Verdict == compare.CannotTell:
		return "claim.noise"
	case !c.Stands:
		return "claim.other"
	}
	return "claim.true"
}

// toneOf tells how to take an outcome.
var toneOf = map[compare.Outcome]doc.Tone{compare.Pass: doc.Good, compare.Fail: doc.Bad, compare.Inconclusive: doc.Unclear}

// experimentNotes are lines on what an experiment tells beside its changes: by how much figures vary
// without any, how they drift, and what the order of legs did.
func (w Phrases) experimentNotes(load compare.Workload) doc.Lines {
	if load.Layout == nil {
		return nil
	}
	rows := firstRows(load)
	noise := w.line("label.noise", w.spreads(load, rows))
	drift := w.line("label.drift", w.Join("comma", w.shifts(rows, func(r compare.Row) *compare.Shift { return r.Drift })...))
	return nonempty(noise, drift, w.line("label.order", w.orders(load, rows)))
}

// orders are what the order of legs did to the changes. Of several variants only those are
// named whose interval leaves out 0.
func (w Phrases) orders(load compare.Workload, rows []compare.Row) string {
	order := func(i int, apart bool) func(compare.Row) *compare.Shift {
		return func(r compare.Row) *compare.Shift {
			if c := r.Cells[i].Change; c != nil && c.Order != nil && (!apart || leavesOutZero(c.Order.Interval)) {
				return c.Order
			}
			return nil
		}
	}
	if len(load.Variants) == 2 {
		return w.Join("comma", w.shifts(rows, order(1, false))...)
	}
	var parts []string
	seen := 0
	for i, v := range load.Variants {
		seen += len(w.shifts(rows, order(i, false)))
		if said := w.shifts(rows, order(i, true)); said != nil {
			parts = append(parts, w.Of(doc.Clean(v.Name), w.Join("comma", said...)))
		}
	}
	switch {
	case seen == 0:
		return ""
	case parts == nil:
		return w.Word("layout.no-order", "n", seen)
	}
	return w.Word("layout.orders", "effects", parts, "n", seen)
}

func leavesOutZero(i *compare.Interval) bool { return i != nil && i.Low*i.High > 0 }

// firstRows are the figures with a spread that people look at first.
func firstRows(load compare.Workload) (rows []compare.Row) {
	for _, r := range load.Rows {
		if r.Rank > 0 && r.Spread != nil && !r.Input {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b compare.Row) int { return cmp.Compare(a.Rank, b.Rank) })
	return rows[:min(listed, len(rows))]
}

func (w Phrases) spreads(load compare.Workload, rows []compare.Row) string {
	var starts, runs []string
	for _, r := range rows {
		starts = append(starts, w.Title(r.Quantity)+" "+w.deviation(r.Spread.Start))
		if r.Spread.RunDF > 0 {
			runs = append(runs, w.Title(r.Quantity)+" "+w.deviation(r.Spread.Run))
		}
	}
	if starts == nil {
		return ""
	}
	parts := []string{w.Word("layout.spread", "starts", load.Layout.Restarted, "figures", starts, "df", rows[0].Spread.StartDF)}
	if runs != nil {
		parts = append(parts, w.Word("layout.spread-runs", "figures", runs))
	}
	return w.Join("stop", parts...)
}

func (w Phrases) deviation(sd float64) string { return w.rough(math.Expm1(sd)) }

// shifts names figures with the relative changes that a kind of shift has.
func (w Phrases) shifts(rows []compare.Row, of func(compare.Row) *compare.Shift) (parts []string) {
	for _, r := range rows {
		if s := of(r); s != nil {
			c, scale, places := compare.Change{Relative: s.Relative, Interval: s.Interval}, scaleOf(r), placesOfShift(*s)
			parts = append(parts, doc.Join(" ", w.Title(r.Quantity), w.change(c, scale, places), w.interval(c, scale, places)))
		}
	}
	return parts
}

// placesOfShift are its decimals in percent: one, or two where one would leave nothing of it.
func placesOfShift(s compare.Shift) int {
	largest := math.Abs(s.Relative)
	if i := s.Interval; i != nil {
		largest = max(largest, math.Abs(i.Low), math.Abs(i.High))
	}
	if largest < 0.002 {
		return 2
	}
	return 1
}
