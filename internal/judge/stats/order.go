package stats

import (
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// QuantileInterval gives two values of a sample of independent values that enclose
// the percentile p of their distribution, whatever that is: the number of values
// below it is binomial. The level is the one reached, at least the requested one.
// NaN for a sample smaller than SampleFor (for the same level).
func QuantileInterval(s Sorted, p, level float64) Interval {
	n := len(s)
	if n == 0 || !(p > 0 && p < 100) || !proper(level) || !finite(s) {
		return noInterval
	}
	below := distuv.Binomial{N: float64(n), P: p / 100}
	tail := (1 - level) / 2
	// The quantile is below value number i, from 0, if at most i values are below
	// it.
	low := sort.Search(n, func(i int) bool { return below.CDF(float64(i)) > tail }) - 1
	high := sort.Search(n, func(i int) bool { return 1-below.CDF(float64(i)) <= tail })
	if low < 0 || high >= n {
		return noInterval
	}
	return Interval{s[low], s[high], below.CDF(float64(high)) - below.CDF(float64(low))}
}
