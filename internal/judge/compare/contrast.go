package compare

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
)

// contrast finds the changes from variant a to variant b, by row; nil where one of
// them has no value.
func (t *table) contrast(a, b *variant) []*finding {
	findings := make([]*finding, len(t.lines))
	for i, l := range t.lines {
		findings[i] = t.find(l, a, b)
	}
	for _, f := range findings {
		if f != nil && f.groups != nil {
			f.lean(meanOf(f, findings))
		}
	}
	byFamily(findings)
	t.byVariants(findings)
	if a == t.variants[0] {
		b.allow(findings)
	}
	t.test(findings)
	return findings
}

// find chooses the best basis that the runs of a row allow.
func (t *table) find(l *entry, a, b *variant) *finding {
	sa, sb := l.samples[a.column], l.samples[b.column]
	na, nb := len(sa.values), len(sb.values)
	if na == 0 || nb == 0 {
		return nil
	}
	f := &finding{quantity: l.Quantity, definition: l.Definition.ID, input: l.Input, basis: Nothing, plain: l.plain, a: sa.scaled, b: sb.scaled, p: math.NaN(), adjusted: math.NaN()}
	f.effect = stats.Mean(f.b) - stats.Mean(f.a)
	f.rounding = sa.reach(f.plain) + sb.reach(f.plain)
	f.requests = requestsPerRun(a, b)
	f.exact = equalCounts(f.quantity.Unit, slices.Concat(sa.values, sb.values))
	borrowed := l.borrowed()
	switch {
	case t.out.Layout != nil:
		if f.blocks(t, l, a, b); f.basis == Nothing && na == 1 && nb == 1 {
			f.estimateFromRequests(sa, sb, t.o.SingleRuns)
		}
	case t.o.Paired && na > 1 && na == len(a.runs) && nb == len(b.runs):
		f.pairs()
	case na > 1 && nb > 1:
		f.replicates()
	case borrowed.df > 0:
		borrowed.runs = min(na, nb)
		f.rest(Borrowed, borrowed, "method.borrowed", "df", borrowed.df)
	case na == 1 && nb == 1:
		f.estimateFromRequests(sa, sb, t.o.SingleRuns)
	}
	f.cached = t.o.differentCaches(a, b) && !slices.Contains(insensitive, f.quantity.Name)
	f.decides = f.decides && !f.input && !f.cached
	return f
}

// A finding is the change in one row before it is judged, on the scale of comparison.
type finding struct {
	quantity   figure.Figure
	definition string
	input      bool
	basis      Basis
	plain      bool
	exact      bool    // an equal count: nothing to find out
	cached     bool    // the server had more of the prompts of one in its cache
	effect     float64 // of the means, variant less baseline
	rounding   float64 // by how much the effect may be off since figures were rounded, or sampled
	requests   float64 // that a run sends
	noise      noise

	estimate stats.Estimate  // of the effect; none of basis Nothing
	pooled   *stats.Estimate // the same with one variance for both; of unlike numbers of runs
	interval plan.Message    // how
	test     plan.Message    // how, if not as the interval
	decides  bool            // a verdict may rest on it
	p        float64
	mean     *finding // that has to differ, too
	adjusted float64
	family   int  // of how many metrics it is one
	lacks    int  // runs, pairs or blocks for a verdict without a witness
	unborne  bool // it would differ if it had one
	least    bool // the noise is the least there can be
	between  bool // the noise is that between sessions, which more runs do not tell

	a, b      []float64   // on the scale, by run
	groups    [][]float64 // of bases Replicates and Pairs: what the noise is seen in
	effective float64     // of basis Within

	design    *stats.Design // of basis Blocks, and what follows
	estimator *stats.Estimator
	factor    float64   // the standard error of the effect, in deviations of one unit
	y         []float64 // by unit
	mask      string    // which units these are
	perBlock  float64   // degrees of freedom that a further block brings
	legs      int       // of the variant in a block
}

// lean makes a percentile that repeats from run to run lean on the mean of the same latency.
// It moves in steps, as those of gaps do that last one step of the server each, and a few runs
// that are on one step by chance show less noise than there is, or none: it has at least the
// noise of the mean, and differs only as surely as the mean does.
func (f *finding) lean(mean *finding) {
	if mean == nil || mean == f || mean.basis != f.basis || mean.noise.sd == 0 || !slices.ContainsFunc(f.groups, repeats) {
		return
	}
	f.noise.sd = max(f.noise.sd, mean.noise.sd)
	f.noise.two.VA, f.noise.two.VB = max(f.noise.two.VA, mean.noise.two.VA), max(f.noise.two.VB, mean.noise.two.VB)
	f.estimate.Error = f.noise.sd * f.spread()
	f.mean = mean
}

// plainP is that of no difference by the estimate.
func (f *finding) plainP() float64 {
	if f.mean == nil {
		return f.estimate.P()
	}
	return max(f.estimate.P(), f.mean.estimate.P())
}

// meanOf is the finding on the mean of the latency that f is of, by its definition; nil if
// there is none.
func meanOf(f *finding, all []*finding) *finding {
	mean := figure.MetricOf(f.quantity.Name).Mean()
	i := slices.IndexFunc(all, func(m *finding) bool {
		return m != nil && m.quantity.Name == mean && m.definition == f.definition
	})
	if i < 0 {
		return nil
	}
	return all[i]
}

// repeats reports whether a value is there twice.
func repeats(x []float64) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(x)))) < len(x)
}

// reach is by how much the mean of a sample may be off since its values were rounded or have an error of their own,
// all in one direction.
func (s sample) reach(plain bool) float64 {
	sum := 0.0
	for _, f := range s.figures {
		if half := f.Step / 2; plain {
			sum += half
		} else {
			sum += half / f.Value
		}
	}
	return sum / float64(len(s.figures))
}

// borrowed is the noise that the repeated variants of the workload show.
func (l *entry) borrowed() noise {
	if l.pool == nil {
		all := make([][]float64, len(l.samples))
		for i, s := range l.samples {
			all[i] = s.scaled
		}
		l.pool = &noise{}
		l.pool.sd, l.pool.df = stats.PooledSD(all...)
	}
	return *l.pool
}

// scaled are values on the scale on which they are compared.
func scaled(values []float64, plain bool) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		if out[i] = v; !plain {
			out[i] = math.Log(v)
		}
	}
	return out
}

// pairs rests the change on the differences of runs that belong together.
func (f *finding) pairs() {
	d := f.differences()
	f.groups = [][]float64{d}
	n := noise{runs: len(d), pair: true}
	n.sd, n.df = stats.PooledSD(d)
	f.rest(Pairs, n, "method.paired", "pairs", n.runs)
}

func (f *finding) differences() []float64 {
	d := make([]float64, len(f.a))
	for i := range d {
		d[i] = f.b[i] - f.a[i]
	}
	return d
}

// rest lets a verdict rest on a basis and its noise, which is at least what a few runs
// cannot show: failures, and requests that miss their objectives, scatter as independent events do or more, and a rounded figure
// does not show less than its rounding.
func (f *finding) rest(b Basis, n noise, method plan.Code, args ...any) {
	least := f.rounding / math.Sqrt(12) // the mean step of both: each reaches half of it
	switch mean := (stats.Sum(f.a) + stats.Sum(f.b)) / float64(len(f.a)+len(f.b)); f.quantity.Name {
	case figure.RequestsFailed:
		least = math.Sqrt(max(0, mean))
	case figure.SLOAttainment:
		least = math.Sqrt(max(0, mean*(1-mean)) / max(1, f.requests))
	}
	if n.pair {
		least *= math.Sqrt2
	}
	if n.two.NA > 0 {
		n.sd = math.Sqrt((n.two.VA + n.two.VB) / 2)
		n.two.VA, n.two.VB = max(n.two.VA, least*least), max(n.two.VB, least*least)
	}
	if f.least = n.sd < least; f.least && b != Borrowed {
		args = append(args, "least", true)
	}
	n.sd = max(n.sd, least)
	f.basis, f.decides, f.noise, f.interval = b, true, n, plan.Msg(method, args...)
	f.estimate = stats.Estimate{Value: f.effect, Error: n.sd * f.spread(), DF: n.df}
}

// spread is the standard error of the effect, in deviations of one value.
func (f *finding) spread() float64 {
	if f.basis == Blocks {
		return f.factor
	}
	if f.basis == Pairs {
		return 1 / math.Sqrt(float64(len(f.a)))
	}
	return math.Sqrt(1/float64(len(f.a)) + 1/float64(len(f.b)))
}

// noise is a standard deviation from run to run, on the scale.
type noise struct {
	sd   float64
	df   float64
	runs int             // of each variant, that are there
	pair bool            // of the differences of pairs
	two  stats.TwoGroups // of basis Replicates: the variances of both
}

// center fills in the median of each cell of a row and its known error.
func (t *table) center(l *entry) {
	for i, s := range t.replicated(l) {
		cell := &l.Cells[i]
		if len(s.values) == 0 {
			continue
		}
		cell.Center = l.center(s)
		switch {
		case l.Constant:
		case len(s.values) > 1:
			cell.Interval = t.repeated(s, l.plain, cell.Step/2)
		default:
			cell.Interval = s.figures[0].influence.interval(cell.Center, t.o.Level)
		}
	}
}

// replicated are the samples of a row with what replicates them: in an experiment the means
// of its units.
func (t *table) replicated(l *entry) []sample {
	if t.out.Layout == nil {
		return l.samples
	}
	out, o := slices.Clone(l.samples), t.observe(l)
	for i := range out {
		own := o.of(i)
		if len(own) == len(out[i].scaled) {
			continue
		}
		out[i].scaled = own
		out[i].values = slices.Clone(own)
		for j := range own {
			if !l.plain {
				out[i].values[j] = math.Exp(own[j])
			}
		}
	}
	return out
}

// center is what a change of the row is made of: the mean of the values on the scale. Of
// values that are all the same it is that, without the dust of the logarithm.
func (l *entry) center(s sample) float64 {
	switch mean := stats.Mean(s.scaled); {
	case constant(s.values):
		return s.values[0]
	case l.plain:
		return mean
	default:
		return math.Exp(mean)
	}
}

func constant(values []float64) bool { return slices.Min(values) == slices.Max(values) }

// repeated is the interval of a figure that several runs have, which may each be off by
// half: Student's, on the scale.
func (t *table) repeated(s sample, plain bool, half float64) *Interval {
	i := stats.StudentMean(s.scaled).Interval(t.o.nominal(t.o.Level))
	low, high := i.Low, i.High
	if !plain {
		low, high = math.Exp(low), min(math.Exp(high), math.MaxFloat64)
	}
	return &Interval{low - half, high + half, t.o.Level, plan.Msg("method.student-one", "runs", len(s.values))}
}
