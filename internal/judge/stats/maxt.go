package stats

import (
	"cmp"
	"math"
	"slices"
)

// MaxT tests many metrics of the same runs at once; a[metric][run]. p is the share,
// for each metric, of the arrangements of its values into two such groups with at
// least as large a difference of means, in either direction: it assumes only that a
// value would have been as likely in the other group. adjusted is corrected over the
// metrics: the step-down of Westfall and Young (1993), which asks how often chance
// gives so large a t in any of the metrics not yet found different. The runs are permuted as wholes, so
// correlated metrics (mean and median of the same times) cost little, and t is
// studentized, so metrics of any scale count alike.
//
// A metric that is the same in all runs has 1; one with a NaN, or missing in some
// run, has NaN and does not count.
func MaxT(a, b [][]float64) (p, adjusted []float64) {
	f := usual.maxT(a, b)
	return f.raw, f.adjusted
}

// MaxTPaired is MaxT for the differences d[metric][pair] of pairs of runs: p is the
// share of the arrangements of their signs with at least as large a mean. It assumes
// only that the runs of a pair were exchangeable.
func MaxTPaired(d [][]float64) (p, adjusted []float64) {
	f := usual.maxTPaired(d)
	return f.raw, f.adjusted
}

// With the total sum of squares fixed, the pooled t of an arrangement is an
// increasing function of the sum over group b of the values, centered and scaled to
// a sum of squares of 1, the same for each metric; for pairs likewise. So the sums
// represent t.

func (r arranger) maxT(a, b [][]float64) family {
	na, nb := longest(a), longest(b)
	f := newFamily(len(a))
	for i := range a {
		if i < len(b) && len(a[i]) == na && len(b[i]) == nb && na > 0 && nb > 0 && finite(a[i], b[i]) {
			f.admit(i, centered(slices.Concat(b[i], a[i])), constant(a[i], b[i]))
		}
	}
	if len(f.columns) > 0 {
		r.groups(f.observe(nb), nb, f.count)
	}
	return f.settle()
}

func (r arranger) maxTPaired(d [][]float64) family {
	n := longest(d)
	f := newFamily(len(d))
	for i, x := range d {
		if len(x) == n && n > 0 && finite(x) {
			f.admit(i, slices.Clone(x), constant(x, []float64{0}))
		}
	}
	if len(f.columns) > 0 {
		r.signs(f.observe(n), f.count)
	}
	return f.settle()
}

// A family of metrics is tested over the same arrangements.
type family struct {
	raw, adjusted []float64
	columns       []column // the largest observed sum first
	visited       int      // arrangements
}

// A column holds the values of a metric that can differ.
type column struct {
	metric int
	values []float64
	seen   float64 // the observed sum, less the tolerance
	each   int     // arrangements that reach it
	most   int     // arrangements in which this column or a later one does
}

func newFamily(metrics int) family {
	f := family{raw: make([]float64, metrics), adjusted: make([]float64, metrics)}
	for i := range metrics {
		f.raw[i], f.adjusted[i] = math.NaN(), math.NaN()
	}
	return f
}

// admit adds the values of a metric, scaled to a sum of squares of 1.
func (f *family) admit(metric int, x []float64, same bool) {
	if same {
		f.raw[metric], f.adjusted[metric] = 1, 1
		return
	}
	scale := 0.0
	for _, v := range x {
		scale = math.Hypot(scale, v)
	}
	if !(scale > 0) || math.IsInf(scale, 1) {
		return // beyond the range of float64
	}
	for i := range x {
		x[i] /= scale
	}
	f.columns = append(f.columns, column{metric: metric, values: x})
}

// observe records the observed sums of the first n runs, and returns the values by
// run.
func (f *family) observe(n int) (rows [][]float64) {
	for i := range f.columns {
		c := &f.columns[i]
		c.seen = math.Abs(sumPlain(c.values[:n])) - sumTolerance
	}
	return f.rows()
}

// rows are the values by run, of the column with the largest observed sum first.
func (f *family) rows() [][]float64 {
	slices.SortStableFunc(f.columns, func(c, d column) int { return cmp.Compare(d.seen, c.seen) })
	rows := make([][]float64, len(f.columns[0].values))
	for i := range rows {
		for _, c := range f.columns {
			rows[i] = append(rows[i], c.values[i])
		}
	}
	return rows
}

// count records which sums of an arrangement reach the observed ones.
func (f *family) count(sums []float64) {
	f.visited++
	columns := f.columns
	largest := 0.0
	for i := len(columns) - 1; i >= 0; i-- {
		c, s := &columns[i], math.Abs(sums[i])
		if s >= c.seen {
			c.each++
		}
		if s > largest {
			largest = s
		}
		if largest >= c.seen {
			c.most++
		}
	}
}

// settle turns counts into shares; no metric gets a lower P than one with a clearer
// difference.
func (f *family) settle() family {
	floor := 0.0
	for _, c := range f.columns {
		f.raw[c.metric] = float64(c.each) / float64(f.visited)
		floor = max(floor, float64(c.most)/float64(f.visited))
		f.adjusted[c.metric] = floor
	}
	return *f
}

// longest is the number of runs of the metrics.
func longest(x [][]float64) int {
	n := 0
	for _, v := range x {
		n = max(n, len(v))
	}
	return n
}

// constant reports whether all values of both are the same.
func constant(a, b []float64) bool {
	return min(slices.Min(a), slices.Min(b)) == max(slices.Max(a), slices.Max(b))
}

// centered is x less its mean; subtracted twice, to remove a mean that is large
// compared with the differences.
func centered(x []float64) []float64 {
	out := slices.Clone(x)
	for range 2 {
		mean := Mean(out)
		for i := range out {
			out[i] -= mean
		}
	}
	return out
}
