package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// judgeGates holds every variant but the baseline to every gate, by the interval and
// not by the point.
func judgeGates(tables []*table, o Options) ([]GateResult, error) {
	var out []GateResult
	var problems plan.Problems
	names := namesIn(tables)
	for i, g := range o.Gates {
		problems.If(!slices.Contains(names, g.Name), plan.Item("gates", i), strconv.Quote(g.Text), "no run has %s; there are %s", g.Name, strings.Join(names, ", "))
		for _, t := range tables {
			out = append(out, t.judge(g)...)
		}
	}
	return out, problems.Err()
}

// JudgeRun holds the figures of one run to gates on values. They are taken as they are: a
// threshold asks what this run did, and not what another one would do. An invalid run tells
// nothing.
func JudgeRun(gates []Gate, t trace.Run, figures []trace.ReportedFigure) (out []GateResult) {
	failed := failuresIn(figures)
	for _, g := range gates {
		r := GateResult{Gate: g, Variant: cmp.Or(t.Name, t.ID), Outcome: Inconclusive, Why: plan.Msg("gate.no-figure", "figure", g.Name)}
		i := slices.IndexFunc(figures, func(f trace.ReportedFigure) bool { return f.Name == g.Name })
		if i >= 0 && !math.IsNaN(figures[i].Value) {
			r.Value = figures[i].Value
			switch r.exactly(plan.Msg("gate.of-run")); {
			case t.Verdict != nil && t.Verdict.Validity == trace.Invalid:
				r.Outcome, r.Why = Inconclusive, plan.Msg("gate.invalid-run")
			case r.Outcome == Pass && survives(g.Name, failed) && figure.Lookup(g.Name).Better != figure.Neither:
				r.Outcome, r.Why = Inconclusive, plan.Msg("gate.failures", "variant", r.Variant, "share", failed.share())
			}
		}
		out = append(out, r)
	}
	return out
}

// namesIn are the figures that there are, or would be if they had been measured.
func namesIn(tables []*table) (names []string) {
	add := func(more ...string) {
		for _, name := range more {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, t := range tables {
		for _, l := range t.lines {
			add(l.Quantity.Name)
		}
		for _, r := range t.runs {
			add(r.unmeasured...)
			if r.answers != nil && !t.o.NoAnswers && len(t.variants) > 1 {
				add(slices.Sorted(maps.Keys(answerFigures))...)
			}
		}
	}
	return names
}

// judge is one gate in one workload. An absolute one is on the only variant, too.
func (t *table) judge(g Gate) (out []GateResult) {
	for i := min(1, len(t.variants)-1); i < len(t.variants); i++ {
		out = append(out, t.judgeVariant(g, i))
	}
	return out
}

// judgeVariant judges by the row of the figure; of several, by different definitions,
// by the one that speaks most against the variant.
func (t *table) judgeVariant(g Gate, i int) GateResult {
	none := GateResult{Gate: g, Workload: t.out.Name, Variant: t.out.Variants[i].Name, Outcome: Inconclusive, Predicted: t.predicted(g, i)}
	none.Why = plan.Msg("gate.no-figure", "figure", g.Name)
	if _, ok := answerFigures[g.Name]; ok && (g.Points || !figure.Known(g.Name)) {
		return t.answersGate(none, i)
	}
	if gradedFigures[g.Name] != nil && len(t.variants) > 1 && !g.Relative {
		return t.gradedGate(none, i)
	}
	var judged []GateResult
	for _, row := range t.out.Rows {
		cell := row.Cells[i]
		if row.Quantity.Name != g.Name || len(cell.Values) == 0 {
			continue
		}
		result := none
		switch {
		case !g.Relative && !g.Points:
			t.judgeValue(&result, row, cell)
		case cell.Change != nil:
			t.judgeChange(&result, row, cell)
		case i == 0:
			none.Why = plan.Msg("gate.alone")
			continue
		default:
			none.Why = plan.Msg("gate.definitions", "baseline", t.out.Variants[0].Name, "figure", g.Name, "definition", row.Definition.ID)
			continue
		}
		t.openFailures(&result, row, i)
		judged = append(judged, result)
	}
	if judged == nil {
		return none
	}
	gravity := []Outcome{Fail, Inconclusive, Pass}
	return slices.MinFunc(judged, func(a, b GateResult) int {
		return slices.Index(gravity, a.Outcome) - slices.Index(gravity, b.Outcome)
	})
}

func (t *table) judgeValue(r *GateResult, row Row, cell Cell) {
	r.Value, r.Interval = cell.Center, cell.Interval
	unit := row.Quantity.Unit
	switch {
	case unit == figure.TokenCount || row.Quantity.Name == figure.RequestsFailed || row.Quantity.Name == figure.RequestsOK:
		r.Interval = nil
		r.Value = slices.Min(cell.Values)
		if r.Gate.Above {
			r.Value = slices.Max(cell.Values)
		}
		r.exactly(plan.Msg("gate.counted"))
	case cell.Interval == nil:
		r.Why = plan.Msg("gate.one-no-noise")
	case len(cell.Values) == 1 && !t.o.SingleRuns:
		r.Why = plan.Msg("gate.one-within")
	default:
		r.byInterval()
	}
}

func (t *table) judgeChange(r *GateResult, row Row, cell Cell) {
	c := cell.Change
	r.Value, r.Interval = c.Relative, c.Interval
	exact := c.Interval == nil && c.Verdict == Same
	if r.Gate.Points && !exact {
		r.points(row.Cells[0].Center, *c)
	} else if c.Plain && !exact {
		base := row.Cells[0].Center
		if base == 0 {
			r.Plain, r.Why = true, plan.Msg("gate.from-zero", "baseline", t.out.Variants[0].Name, "figure", r.Gate.Name)
			return
		}
		r.Value /= base
		if c.Interval != nil {
			i := *c.Interval
			i.Low, i.High = i.Low/base, i.High/base
			r.Interval = &i
		}
	}
	switch {
	case exact:
		r.exactly(plan.Msg("gate.constant"))
	case c.Interval == nil:
		r.Why = plan.Msg("gate.no-noise")
	case c.Open.Code == CachesDiffer:
		r.Why = plan.Msg("gate.caches-differ")
	case c.Basis == Within && !t.o.SingleRuns:
		r.Why = plan.Msg("gate.within")
	default:
		r.byInterval()
	}
}

// points is the change of a share as a difference, from the baseline's.
func (r *GateResult) points(base float64, c Change) {
	if r.Plain = true; c.Plain {
		base = 1
	}
	if r.Value *= base; c.Interval != nil {
		i := *c.Interval
		i.Low, i.High = i.Low*base, i.High*base
		r.Interval = &i
	}
}

func (r *GateResult) exactly(why plan.Message) {
	r.Why, r.Outcome = why, Pass
	if r.Gate.violates(r.Value) {
		r.Outcome = Fail
	}
}

// byInterval fails what violates the gate wherever in its interval the truth is, and
// passes what does nowhere.
func (r *GateResult) byInterval() {
	low, high := r.Gate.violates(r.Interval.Low), r.Gate.violates(r.Interval.High)
	switch level := r.Interval.Level; {
	case low && high:
		r.Outcome, r.Why = Fail, plan.Msg("gate.beyond", "level", level)
	case !low && !high:
		r.Outcome, r.Why = Pass, plan.Msg("gate.inside", "level", level)
	default:
		r.Outcome, r.Why = Inconclusive, plan.Msg("gate.across", "level", level)
	}
}

// violates reports whether a value is what the gate does not allow.
func (g Gate) violates(v float64) bool {
	if g.Above {
		return v > g.Limit
	}
	return v < g.Limit
}
