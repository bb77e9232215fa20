package stats

import (
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// QuantileInterval is between which two values of a sample of independent ones the
// percentile p of what they were drawn from lies, whatever its distribution: how
// many values are below it is binomial. The level is the one reached, at least that
// asked for. NaN for a sample smaller than SampleFor asks (for the same level).
func QuantileInterval(s Sorted, p, level float64) Interval {
	n := len(s)
	if n == 0 || !(p > 0 && p < 100) || !proper(level) || !finite(s) {
		return noInterval
	}
	below := distuv.Binomial{N: float64(n), P: p / 100}
	tail := (1 - level) / 2
	// The quantile is below value number i, from 0, if at most i of them are.
	low := sort.Search(n, func(i int) bool { return below.CDF(float64(i)) > tail }) - 1
	high := sort.Search(n, func(i int) bool { return 1-below.CDF(float64(i)) <= tail })
	if low < 0 || high >= n {
		return noInterval
	}
	return Interval{s[low], s[high], below.CDF(float64(high)) - below.CDF(float64(low))}
}
