package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// All rotations determine a P of 5 % to within 0.2 %. After a few it may be obvious
// that even the clearest metric has about 10 % or more.
const (
	rotations    = 10_000
	fewRotations = 1_000
	plainly      = 100 // of the few
)

// Rotation corrects p-values of t-tests over many metrics of the same runs: the
// step-down of Westfall and Young (1993) over rotations in place of the arrangements
// of MaxT, of which few runs have too few (Langsrud 2005). If nothing
// differs and noise is normal, under any dependence between the metrics, then the
// observation, the effect together with the noise within the groups,
//
//	(effect, noise) of all metrics = as many directions as there are degrees of freedom, and one
//
// could as well have pointed in any other direction, the same for all metrics. So
// one metric repeated ten times is one metric, while Holm's correction is tenfold.
//
// effects are those of the metrics, each divided by the factor between one value's
// deviation and its standard error: √(1/na+1/nb) for means of na and nb values.
// groups[group][metric][value] show the noise; all metrics have as many values in a
// group. p are those of each metric's own test; NaN stays NaN and does not count.
func Rotation(effects []float64, groups [][][]float64, p []float64) (adjusted []float64) {
	f := newFamily(len(p))
	df := 0
	for _, g := range groups {
		df += len(g[0]) - 1
	}
	for i := range p {
		x := []float64{effects[i]}
		for _, g := range groups {
			x = append(x, centered(g[i])...)
		}
		if math.IsNaN(p[i]) || df < 1 || !finite(x) {
			continue
		}
		f.admit(i, x, constant(x, []float64{0}))
	}
	return f.correct(p, df, groupsOf(groups))
}

// Directions is Rotation for noise that is already decomposed: coordinates[metric] are the
// effect and the noise in orthonormal directions, which without an effect are independent and
// have one variance. All metrics have equally many.
func Directions(coordinates [][]float64, p []float64) (adjusted []float64) {
	f := newFamily(len(p))
	df := 0
	for i, x := range coordinates {
		if math.IsNaN(p[i]) || len(x) < 2 || !finite(x) {
			continue
		}
		df = len(x) - 1
		f.admit(i, slices.Clone(x), constant(x, []float64{0}))
	}
	return f.correct(p, df, nil)
}

// correct gives the adjusted p-values of the columns, and no metric a lower one than its own.
func (f *family) correct(p []float64, df int, ends []int) []float64 {
	if len(f.columns) == 0 {
		return f.adjusted
	}
	for i := range f.columns {
		c := &f.columns[i]
		c.seen = shareOfLength(p[c.metric], float64(df)) - sumTolerance
	}
	f.rotate(ends)
	for i, raw := range p {
		f.adjusted[i] = max(raw, f.adjusted[i])
	}
	return f.adjusted
}

// shareOfLength is the component of a random unit vector in df+1 dimensions along
// one axis that is exceeded with that probability: for t, t/√(t²+df).
func shareOfLength(p, df float64) float64 {
	if p >= 1 {
		return 0
	}
	t := studentQuantile(df, 1-p/2)
	if math.IsInf(t, 1) {
		return 1
	}
	return t / math.Sqrt(t*t+df)
}

// groupsOf returns the ends of the groups, after the effect.
func groupsOf(groups [][][]float64) (ends []int) {
	at := 1
	for _, g := range groups {
		at += len(g[0])
		ends = append(ends, at)
	}
	return ends
}

// rotate counts how often random directions give the metrics values as large as
// observed.
func (f *family) rotate(ends []int) {
	rows := f.rows()
	n := len(rows)
	for i, from := 0, 1; i < len(ends); from, i = ends[i], i+1 {
		slices.SortFunc(rows[from:ends[i]], slices.Compare) // independent of the order of the runs
	}
	dice := rand.New(rand.NewPCG(uint64(n), uint64(len(f.columns))))
	direction, sums := make([]float64, n), make([]float64, len(f.columns))
	for f.visited < rotations && (f.visited != fewRotations || f.columns[0].most <= plainly) {
		draw(direction, ends, dice)
		clear(sums)
		for i, row := range rows {
			for j, v := range row[:len(sums)] {
				sums[j] += direction[i] * v
			}
		}
		f.count(sums)
	}
	for i := range f.columns { // and the observed direction
		f.columns[i].each++
		f.columns[i].most++
	}
	f.visited++
	f.settle()
}

// draw makes a direction of length 1 with sum 0 in each group.
func draw(direction []float64, ends []int, dice *rand.Rand) {
	for i := range direction {
		direction[i] = dice.NormFloat64()
	}
	from := 1
	for _, end := range ends {
		mean := sumPlain(direction[from:end]) / float64(end-from)
		for i := from; i < end; i++ {
			direction[i] -= mean
		}
		from = end
	}
	length := 0.0
	for _, v := range direction {
		length += v * v
	}
	length = math.Sqrt(length)
	for i := range direction {
		direction[i] /= length
	}
}
