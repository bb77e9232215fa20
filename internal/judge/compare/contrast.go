package compare

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
)

// contrast finds the changes from variant a to variant b, by row; nil where one of
// them has no value.
func (t *table) contrast(a, b *variant) []*finding {
	findings := make([]*finding, len(t.keys))
	for row := range t.keys {
		findings[row] = t.find(row, a, b)
	}
	t.test(findings)
	return findings
}

// find chooses the best basis that the runs of a row allow.
func (t *table) find(row int, a, b *variant) *finding {
	sa, sb := a.sample(t.keys[row]), b.sample(t.keys[row])
	na, nb := len(sa.values), len(sb.values)
	if na == 0 || nb == 0 {
		return nil
	}
	f := &finding{quantity: t.out.Rows[row].Quantity, basis: Nothing, plain: t.plain[row], p: math.NaN(), adjusted: math.NaN()}
	f.a, f.b = scaled(sa.values, f.plain), scaled(sb.values, f.plain)
	f.effect = stats.Mean(f.b) - stats.Mean(f.a)
	f.rounding = reach(sa, f.plain) + reach(sb, f.plain)
	f.exact = equalCounts(f.quantity.Unit, slices.Concat(sa.values, sb.values))
	borrowed := t.borrowed(row)
	switch {
	case t.o.Paired && na > 1 && na == len(a.runs) && nb == len(b.runs):
		f.pairs()
	case na > 1 && nb > 1:
		f.replicates()
	case borrowed.df > 0:
		f.borrow(borrowed)
	case na == 1 && nb == 1:
		f.within(t.keys[row], sa.runs[0], sb.runs[0], t.o.SingleRuns)
	}
	return f
}

// A finding is what is known of the change in one row before it is judged, on the
// scale on which it is compared.
type finding struct {
	quantity metrics.Quantity
	basis    Basis
	plain    bool
	exact    bool    // an equal count: nothing to find out
	effect   float64 // of the means, variant less baseline
	rounding float64 // by how much the effect may be off since figures were rounded
	noise    noise

	// estimate gives the effect with its interval at a level; nil of basis Nothing.
	estimate func(level float64) (stats.Estimate, stats.Test)
	interval plan.Message // how
	test     plan.Message // how
	decides  bool         // a verdict may rest on it
	p        float64
	adjusted float64
	family   int // of how many metrics it is one

	a, b      []float64   // on the scale, by run
	groups    [][]float64 // of bases Replicates and Pairs: what the noise is seen in
	spread    float64     // the standard error of the effect, in deviations of one value
	effective float64     // of basis Within
}

// reach is by how much the mean of a sample may be off since its values were rounded,
// all in one direction.
func reach(s sample, plain bool) float64 {
	sum := 0.0
	for i, step := range s.steps {
		if half := step / 2; plain {
			sum += half
		} else {
			sum += half / s.values[i]
		}
	}
	return sum / float64(len(s.steps))
}

// borrowed is the noise that the repeated variants of the workload show in a row.
func (t *table) borrowed(row int) noise {
	var all [][]float64
	for _, v := range t.variants {
		all = append(all, scaled(v.sample(t.keys[row]).values, t.plain[row]))
	}
	sd, df := stats.PooledSD(all...)
	return noise{sd: sd, df: float64(df)}
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
	f.basis, f.decides = Pairs, true
	d := f.differences()
	n := len(d)
	f.groups, f.spread = [][]float64{d}, 1/math.Sqrt(float64(n))
	sd, df := stats.PooledSD(d)
	f.noise = noise{sd: sd, df: float64(df), runs: n, pair: true}
	f.interval = plan.Say("method.paired", "pairs", n)
	f.estimate = func(level float64) (stats.Estimate, stats.Test) {
		e := stats.StudentMean(d, level)
		_, test := stats.StudentKnown(e.Value, e.Error/math.Sqrt2, e.DF, 1, 1, level)
		return e, test
	}
	if least := f.leastNoise() * math.Sqrt2; sd < least {
		f.noise.sd = least
		f.interval = plan.Say("method.paired", "pairs", n, "least", true)
		f.estimate = func(level float64) (stats.Estimate, stats.Test) {
			return stats.StudentKnown(f.effect, least/math.Sqrt2, float64(df), n, n, level)
		}
	}
	f.test = f.interval
}

func (f *finding) differences() []float64 {
	d := make([]float64, len(f.a))
	for i := range d {
		d[i] = f.b[i] - f.a[i]
	}
	return d
}

// replicates rests the change on several runs of both. With as many of each the
// deviations may differ (Student's pooled interval); otherwise Welch's allows for it.
func (f *finding) replicates() {
	f.basis, f.decides = Replicates, true
	na, nb := len(f.a), len(f.b)
	f.groups, f.spread = [][]float64{f.a, f.b}, math.Sqrt(1/float64(na)+1/float64(nb))
	sd, df := stats.PooledSD(f.a, f.b)
	f.noise = noise{sd: sd, df: float64(df), runs: min(na, nb)}
	least := f.leastNoise()
	switch {
	case sd < least:
		f.noise.sd = least
		f.interval = plan.Say("method.student", "a", na, "b", nb, "least", true)
		f.known(na, nb)
	case na == nb:
		f.interval = plan.Say("method.student", "a", na, "b", nb)
		f.estimate = func(level float64) (stats.Estimate, stats.Test) { return stats.StudentDifference(f.a, f.b, level) }
	default:
		f.interval = plan.Say("method.welch", "a", na, "b", nb)
		f.estimate = func(level float64) (stats.Estimate, stats.Test) { return stats.WelchDifference(f.a, f.b, level) }
	}
	f.test = f.interval
}

// borrow rests the change on that noise.
func (f *finding) borrow(n noise) {
	f.basis, f.decides, f.noise = Borrowed, true, n
	f.noise.runs = min(len(f.a), len(f.b))
	f.noise.sd = max(n.sd, f.leastNoise())
	f.interval = plan.Say("method.borrowed", "df", n.df)
	f.test = f.interval
	f.known(len(f.a), len(f.b))
}

// leastNoise is what the noise from run to run is at least, whatever a few runs show:
// failures scatter as independent events do or more, and a rounded figure does not
// show less than its rounding.
func (f *finding) leastNoise() float64 {
	if f.quantity.Name == "requests.failed" {
		n := float64(len(f.a) + len(f.b))
		return math.Sqrt(max(0, stats.Sum(f.a)+stats.Sum(f.b)) / n)
	}
	return f.rounding / math.Sqrt(12) // the mean step of both: each reaches half of it
}

// known estimates the effect of means of na and nb runs by the noise.
func (f *finding) known(na, nb int) {
	f.estimate = func(level float64) (stats.Estimate, stats.Test) {
		return stats.StudentKnown(f.effect, f.noise.sd, f.noise.df, na, nb, level)
	}
}

// noise is a standard deviation from run to run, on the scale.
type noise struct {
	sd   float64
	df   float64
	runs int  // of each variant, that are there
	pair bool // of the differences of pairs
}
