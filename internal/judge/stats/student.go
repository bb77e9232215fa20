package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is Student's interval of an estimate at a level; NaN beyond the range of
// float64.
func (e Estimate) Interval(level float64) Interval {
	if !proper(level) || math.IsNaN(e.Error) {
		return noInterval
	}
	reach := e.Error * studentQuantile(e.DF, (1+level)/2)
	if !finite([]float64{e.Value, reach}) {
		return noInterval
	}
	return Interval{e.Value - reach, e.Value + reach, level}
}

// P is how often chance alone gives an estimate as far from 0, or farther, in either
// direction. A difference without any noise is ±Inf standard errors, or is none.
func (e Estimate) P() float64 {
	switch {
	case !finite([]float64{e.Value, e.Error}):
		return math.NaN()
	case e.Value == 0:
		return 1
	}
	return min(1, 2*studentTail(e.DF, math.Abs(e.Value/e.Error)))
}

// StudentMean is the mean of x with Student's interval, which is exact for normal values.
func StudentMean(x []float64) Estimate {
	if len(x) < 2 || !finite(x) {
		return noEstimate
	}
	mean, variance := moments(x)
	n := float64(len(x))
	return Estimate{mean, math.Sqrt(variance / n), n - 1}
}

// TwoGroups are two groups of values, each with a variance of its own.
type TwoGroups struct {
	NA, NB int     // values, at least 2
	VA, VB float64 // their variances
}

// TwoGroupsOf is that of two groups of at least two values.
func TwoGroupsOf(a, b []float64) TwoGroups {
	_, va := moments(a)
	_, vb := moments(b)
	return TwoGroups{len(a), len(b), va, vb}
}

// Difference is a difference of the means of both groups, with the degrees of freedom of
// Satterthwaite (1946) at a ratio of the variances, VB over VA. With the own ratio it is
// Welch's: where chance makes the larger variance small, the error shrinks and the degrees of
// freedom grow at once, so that among many metrics it raises false alarms. FamilyRatio does not
// follow the chance of one metric. If the variances are equal, it is Student's for groups of
// one size.
func (s TwoGroups) Difference(value, ratio float64) Estimate {
	na, nb := float64(s.NA), float64(s.NB)
	share := 1 / (1 + nb/(na*ratio)) // of the error's square that is due to the second group
	df := 1 / ((1-share)*(1-share)/(na-1) + share*share/(nb-1))
	return Estimate{value, math.Sqrt(s.VA/na + s.VB/nb), df}
}

// Pooled is the difference with one variance for both groups, which is Student's.
func (s TwoGroups) Pooled(value float64) Estimate {
	na, nb := float64(s.NA), float64(s.NB)
	df := na + nb - 2
	pooled := (s.VA*(na-1) + s.VB*(nb-1)) / df
	return Estimate{value, math.Sqrt(pooled * (1/na + 1/nb)), df}
}

// FamilyRatio is the geometric mean, over metrics of the same runs, of the second group's
// variance over the first one's: a noisy server is noisy in many metrics. Metrics without
// noise in a group do not count; without any other it is 1.
func FamilyRatio(of []TwoGroups) float64 {
	sum, n := 0.0, 0.0
	for _, s := range of {
		if s.VA > 0 && s.VB > 0 {
			sum += math.Log(s.VB) - math.Log(s.VA)
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return math.Exp(sum / n)
}

// PooledSD is the standard deviation within groups, whatever their means, and its
// degrees of freedom. A group of one value does not contribute.
func PooledSD(groups ...[]float64) (sd, df float64) {
	squares := 0.0
	for _, x := range groups {
		if len(x) < 2 {
			continue
		}
		_, variance := moments(x)
		squares += variance * float64(len(x)-1)
		df += float64(len(x) - 1)
	}
	if df == 0 || !finite(groups...) {
		return math.NaN(), 0
	}
	return math.Sqrt(squares / df), df
}

// moments are the mean and the variance with divisor n-1; the variance of equal
// values is exactly 0.
func moments(x []float64) (mean, variance float64) {
	if slices.Min(x) == slices.Max(x) {
		return x[0], 0
	}
	return Mean(x), stat.Variance(x, nil)
}

// studentTail is the probability that Student's t exceeds t.
func studentTail(df, t float64) float64 {
	if math.IsInf(df, 1) {
		return distuv.UnitNormal.Survival(t)
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Survival(t)
}

func studentQuantile(df, p float64) float64 {
	if math.IsInf(df, 1) {
		return distuv.UnitNormal.Quantile(p)
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(p)
}
