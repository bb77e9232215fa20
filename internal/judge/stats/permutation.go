package stats

import (
	"math"
	"slices"
)

// Permutation tests mean(b)-mean(a): P is the share of the arrangements of all
// values into two such groups with at least as large a difference, in either
// direction. It assumes only that a value would have been as likely in the other
// group.
func Permutation(a, b []float64) Test {
	p, exact, n := usual.arrangedP([][]float64{a}, [][]float64{b})
	if math.IsNaN(p.raw[0]) {
		return noTest
	}
	return Test{P: p.raw[0], Statistic: Mean(b) - Mean(a), Exact: exact, Arrangements: n}
}

// SignFlip tests the mean of the differences of pairs: P is the share of the
// arrangements of their signs with at least as large a mean, in either direction.
// It assumes only that the runs of a pair were exchangeable.
func SignFlip(d []float64) Test {
	p, exact, n := usual.flippedP([][]float64{d})
	if math.IsNaN(p.raw[0]) {
		return noTest
	}
	return Test{P: p.raw[0], Statistic: Mean(d), Exact: exact, Arrangements: n}
}

// PermutationInterval is mean(b)-mean(a) with the shifts of b that Permutation does
// not reject: those at which an arrangement's difference reaches the observed one
// in more than 1-level of all arrangements. With D the observed difference and D'
// that of an arrangement that swaps k values of each group, a shift s makes them
// D-s and D'-cs, c = 1-k/na-k/nb, so that D' reaches D in an interval of s around
// D,
//
//	between (D-D')/(1-c) and (D+D')/(1+c)
//
// and the ends of the result are order statistics of those ends. The level is the
// one reached, at least the requested one; the interval is NaN if there are too few
// arrangements for it, as for 3 and 3 runs at 0.95. Error and DF are Student's.
func PermutationInterval(a, b []float64, level float64) Estimate {
	e, _ := StudentDifference(a, b, level)
	if math.IsNaN(e.Value) {
		return noEstimate
	}
	e.Interval = usual.interval(a, b, level)
	return e
}

func (r arranger) interval(a, b []float64, level float64) Interval {
	low, high := r.ends(a, b)
	n := float64(len(low))
	k := int((1-level)*n + 1e-9) // the number of arrangements with P at most 1-level
	if k < 1 {
		return noInterval
	}
	sortInPlace(low)
	sortInPlace(high)
	return Interval{low[k], high[len(high)-1-k], 1 - float64(k)/n}
}

// ends are the ends of the shifts of b at which each arrangement reaches the
// observed difference; the observed one does so at all shifts.
func (r arranger) ends(a, b []float64) (low, high []float64) {
	na, nb := float64(len(a)), float64(len(b))
	x := centered(slices.Concat(b, a))
	rows := make([][]float64, len(x))
	for i, v := range x {
		rows[i] = []float64{v, 0}
		if i >= len(b) {
			rows[i][1] = 1
		}
	}
	each := 1/na + 1/nb
	seen := Sum(x[:len(b)]) * each
	r.groups(rows, len(b), func(sums []float64) {
		k := sums[1]
		if k == 0 || k == na && na == nb {
			low, high = append(low, math.Inf(-1)), append(high, math.Inf(1))
			return
		}
		d, c := sums[0]*each, 1-k*each
		p, q := (seen-d)/(1-c), (seen+d)/(1+c)
		low, high = append(low, min(p, q)), append(high, max(p, q))
	})
	return low, high
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
