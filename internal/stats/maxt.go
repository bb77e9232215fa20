package stats

import (
	"math"
	"slices"
)

// MaxT tests many metrics of the same runs at once; a[metric][run]. p is that of
// Permutation for each. adjusted is corrected over the metrics: the step-down of
// Westfall and Young (1993), which asks how often chance gives so large a t of any
// of the metrics that are not yet taken for different. The runs are arranged as
// wholes, so that metrics that go together (mean and median of the same times) cost
// little, and t is studentized, so that metrics of any scale count alike.
//
// A metric that is the same in all runs has 1; one that is not a number somewhere,
// or was not measured in all runs, has NaN and does not count.
func MaxT(a, b [][]float64) (p, adjusted []float64) {
	r, _, _ := arrangedP(a, b)
	return r.raw, r.adjusted
}

// MaxTPaired is MaxT for the differences d[metric][pair] of pairs of runs, by their
// signs: p is that of SignFlip.
func MaxTPaired(d [][]float64) (p, adjusted []float64) {
	r, _, _ := flippedP(d)
	return r.raw, r.adjusted
}

// An arrangement's pooled t is, with the total sum of squares fixed, a rising
// function of the sum over group b of the values, centered and scaled to a sum of
// squares of 1, the same for each metric; that of pairs likewise. So the sums stand
// for t.

func arrangedP(a, b [][]float64) (p family, exact bool, arrangements int) {
	na, nb := longest(a), longest(b)
	p = newFamily(len(a))
	var columns [][]float64
	for i := range a {
		if i >= len(b) || len(a[i]) != na || len(b[i]) != nb || na == 0 || nb == 0 || !finite(a[i], b[i]) {
			continue
		}
		columns = p.admit(columns, i, centered(slices.Concat(b[i], a[i])), constant(a[i], b[i]))
	}
	if len(columns) == 0 {
		return p, true, 0
	}
	rows := transpose(columns)
	p.observe(rows[:nb])
	visited, exact := arrangeGroups(rows, nb, p.count)
	p.settle(visited)
	if exact {
		visited = int(choices(na+nb, na))
	}
	return p, exact, visited
}

func flippedP(d [][]float64) (p family, exact bool, arrangements int) {
	n := longest(d)
	p = newFamily(len(d))
	var columns [][]float64
	for i, x := range d {
		if len(x) != n || n == 0 || !finite(x) {
			continue
		}
		columns = p.admit(columns, i, slices.Clone(x), constant(x, []float64{0}))
	}
	if len(columns) == 0 {
		return p, true, 0
	}
	rows := transpose(columns)
	p.observe(rows)
	visited, exact := arrangeSigns(rows, p.count)
	p.settle(visited)
	if exact {
		visited = 1 << n
	}
	return p, exact, visited
}

// A family of metrics is tested over the same arrangements.
type family struct {
	raw, adjusted []float64
	metrics       []int     // of each column
	order         []int     // columns, the largest sum seen first
	seen          []float64 // sums, by column, less the tolerance
	each, most    []int     // arrangements that reach them: of this column, of this or any after it
}

func newFamily(metrics int) family {
	f := family{raw: make([]float64, metrics), adjusted: make([]float64, metrics)}
	for i := range metrics {
		f.raw[i], f.adjusted[i] = math.NaN(), math.NaN()
	}
	return f
}

// admit appends the column of a metric, scaled to a sum of squares of 1.
func (f *family) admit(columns [][]float64, metric int, x []float64, same bool) [][]float64 {
	scale := 0.0
	for _, v := range x {
		scale = math.Hypot(scale, v)
	}
	if same || scale == 0 {
		f.raw[metric], f.adjusted[metric] = 1, 1
		return columns
	}
	for i := range x {
		x[i] /= scale
	}
	f.metrics = append(f.metrics, metric)
	return append(columns, x)
}

func (f *family) observe(rows [][]float64) {
	f.seen = make([]float64, len(rows[0]))
	f.order = make([]int, len(rows[0]))
	f.each, f.most = make([]int, len(rows[0])), make([]int, len(rows[0]))
	for c := range f.seen {
		f.order[c] = c
		for _, row := range rows {
			f.seen[c] += row[c]
		}
		f.seen[c] = math.Abs(f.seen[c]) - sumTolerance
	}
	slices.SortStableFunc(f.order, func(i, j int) int {
		switch {
		case f.seen[i] > f.seen[j]:
			return -1
		case f.seen[i] < f.seen[j]:
			return 1
		}
		return 0
	})
}

// count notes which sums of an arrangement reach those seen.
func (f *family) count(sums []float64) {
	largest := 0.0
	for i := len(f.order) - 1; i >= 0; i-- {
		c := f.order[i]
		s := math.Abs(sums[c])
		if s >= f.seen[c] {
			f.each[c]++
		}
		largest = max(largest, s)
		if largest >= f.seen[c] {
			f.most[c]++
		}
	}
}

// settle turns counts into shares; no metric is adjusted to less than one whose
// difference is clearer.
func (f *family) settle(visited int) {
	floor := 0.0
	for _, c := range f.order {
		f.raw[f.metrics[c]] = float64(f.each[c]) / float64(visited)
		floor = max(floor, float64(f.most[c])/float64(visited))
		f.adjusted[f.metrics[c]] = floor
	}
}

func longest(x [][]float64) int {
	n := 0
	for _, v := range x {
		n = max(n, len(v))
	}
	return n
}

// constant says whether all values of both are the same.
func constant(a, b []float64) bool {
	return min(slices.Min(a), slices.Min(b)) == max(slices.Max(a), slices.Max(b))
}

func transpose(columns [][]float64) [][]float64 {
	rows := make([][]float64, len(columns[0]))
	for i := range rows {
		rows[i] = make([]float64, len(columns))
		for c := range columns {
			rows[i][c] = columns[c][i]
		}
	}
	return rows
}
