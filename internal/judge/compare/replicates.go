package compare

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
)

// replicates rests the change on several runs of both; their noise may differ.
func (f *finding) replicates() {
	f.groups = [][]float64{f.a, f.b}
	two := stats.TwoGroupsOf(f.a, f.b)
	f.rest(Replicates, noise{runs: min(two.NA, two.NB), two: two}, "")
}

// byFamily gives findings of basis Replicates the degrees of freedom that the ratio of their
// variances has in all figures that are judged together. Of unlike numbers of runs the interval
// is no narrower than with one variance for both.
func byFamily(findings []*finding) {
	var judged []stats.TwoGroups
	for _, f := range findings {
		if f.judged() && f.basis == Replicates {
			judged = append(judged, f.noise.two)
		}
	}
	ratio := stats.FamilyRatio(judged)
	for _, f := range findings {
		if f == nil || f.basis != Replicates {
			continue
		}
		two := f.noise.two
		f.estimate = two.Difference(f.effect, ratio)
		f.noise.sd, f.noise.df = math.Sqrt((two.VA+two.VB)/2), f.estimate.DF
		args := []any{"a", two.NA, "b", two.NB, "df", f.estimate.DF}
		if two.NA != two.NB {
			pooled := two.Pooled(f.effect)
			f.pooled = &pooled
		}
		f.interval = plan.Msg("method.runs", append(args, "pooled", f.pooled != nil, "least", f.least)...)
	}
}

// judged: a verdict is asked for.
func (f *finding) judged() bool { return f != nil && !f.exact && f.decides }

// pooledP is that of no difference with one variance for both, where that is asked too.
func (f *finding) pooledP() float64 {
	if f.pooled == nil {
		return 0
	}
	return f.pooled.P()
}

// exchange applies a second test, a permutation of the runs, if the rarest arrangement is rare
// enough: runs that are on one of two levels by chance show next to no noise. For unequal numbers
// of runs with too few arrangements it is the test with one variance for both.
func (t *table) exchange(findings []*finding) {
	if len(findings) == 0 || findings[0].basis != Replicates || !t.permutes(findings[0]) && findings[0].pooled == nil {
		return
	}
	permutes := t.permutes(findings[0])
	var p, adjusted []float64
	var a, b [][]float64
	for _, f := range findings {
		a, b, p = append(a, f.a), append(b, f.b), append(p, f.pooledP())
	}
	if permutes {
		p, adjusted = stats.MaxT(a, b)
	} else {
		adjusted = rotated(findings, p)
	}
	for i, f := range findings {
		f.p, f.adjusted = max(f.p, p[i]), max(f.adjusted, adjusted[i])
		if permutes {
			f.test = plan.Msg("method.runs-and-permutation", "a", len(f.a), "b", len(f.b))
		}
	}
}

// permutes reports whether the rarest of all arrangements of the runs is rare enough for the
// level; as many runs of each have spare ones.
func (t *table) permutes(f *finding) bool {
	rarest := stats.MinArrangementP(len(f.a), len(f.b))
	if f.pooled == nil {
		rarest *= spare
	}
	return rarest <= t.o.alpha()
}

// From so many runs of each, pairs and blocks on a figure needs no witness. With fewer, a figure
// that is on one of two levels in each run, as a P99 of gaps may be, is by chance on one of them
// in all runs of a variant and on the other one in all of the other: then there is next to no
// noise, and no test knows better. Another figure of the metric is not on its levels in the same
// runs.
const (
	enoughRuns   = 5
	enoughPairs  = 8
	enoughBlocks = 4
	witnessP     = 0.05
)

// lacks is how many runs of each, pairs or blocks are missing for a verdict without a witness.
func (t *table) lacks(f *finding) int {
	enough := map[Basis]int{Replicates: enoughRuns, Pairs: enoughPairs, Blocks: enoughBlocks}[f.basis]
	if f.basis == Replicates && f.pooled != nil && t.permutes(f) {
		return 0 // the test by exchange sees it
	}
	return max(0, enough-f.noise.runs)
}

// testify leaves only those differences of few runs standing that another figure of the metric
// bears out: it moves in the same sense too. A figure that is the only one of its metric stands
// alone.
func (t *table) testify(findings []*finding) {
	for _, f := range findings {
		f.lacks = t.lacks(f)
		others := slices.DeleteFunc(slices.Clone(findings), func(o *finding) bool {
			return o.metric() != f.metric() || o.quantity.Name == f.quantity.Name
		})
		bearsOut := func(o *finding) bool {
			return o.p <= witnessP && direction(o.quantity.Better, o.effect) == direction(f.quantity.Better, f.effect)
		}
		if f.lacks > 0 && len(others) > 0 && !slices.ContainsFunc(others, bearsOut) {
			f.unborne, f.adjusted = f.adjusted <= t.o.threshold(f.family), 1
		}
	}
}

// metric is what a figure is a statistic of. Rates and the duration are one.
func (f *finding) metric() figure.Metric {
	switch m := figure.MetricOf(f.quantity.Name); m {
	case figure.Duration, figure.Goodput, figure.Peak:
		return figure.Throughput
	default:
		return m
	}
}

// WitnessMissing is the code of what keeps a difference from being a verdict: no other figure
// of the metric moves.
const WitnessMissing plan.Code = "witness.missing"

// unborneBy says that no other figure of the metric moves, and of how many runs that is too few.
func (f *finding) unborneBy() plan.Message {
	metric := plan.Msg("witness.rates")
	if m := f.metric(); m != figure.Throughput {
		metric = figure.MetricTitle(string(m))
	}
	return plan.Msg(WitnessMissing, "metric", metric, "how", plan.Msg(plan.Code("witness."+string(f.basis)), "n", f.noise.runs))
}
