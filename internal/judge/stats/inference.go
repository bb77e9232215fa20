package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// An Interval contains the truth with a probability of at least its level.
type Interval struct {
	Low, High float64
	Level     float64 // the requested one; for methods with discrete levels, the one reached
}

// An Estimate is a figure with its error, which has Student's distribution.
type Estimate struct {
	Value float64
	Error float64 // standard error
	DF    float64 // degrees of freedom of the error; +Inf for a known one
}

// Holds reports whether v is in the interval; an undefined one contains nothing.
func (i Interval) Holds(v float64) bool { return i.Low <= v && v <= i.High }

var (
	noInterval = Interval{math.NaN(), math.NaN(), math.NaN()}
	noEstimate = Estimate{math.NaN(), math.NaN(), math.NaN()}
)

// finite reports whether all values are numbers.
func finite(samples ...[]float64) bool {
	for _, x := range samples {
		for _, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		}
	}
	return true
}

// proper reports whether a probability is strictly between 0 and 1.
func proper(p float64) bool { return p > 0 && p < 1 }

// Holm adjusts p-values of a family of tests so that, if all up to α are taken for
// differences, the probability of any false alarm is at most α, under any
// dependence between the tests (Holm 1979). NaN stays NaN and does not count.
func Holm(p []float64) []float64 {
	order := ascending(p)
	out := slices.Clone(p)
	floor := 0.0
	for i, at := range order {
		floor = max(floor, min(1, float64(len(order)-i)*p[at]))
		out[at] = floor
	}
	return out
}

// ascending returns the order of the p-values that are numbers.
func ascending(p []float64) []int {
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	return order
}

// mostRuns is the largest number of runs that is recommended.
const mostRuns = 1000

// Power is the probability that the two-sided t-test at alpha finds a difference of
// effect between two groups of n runs each with standard deviation sd, or between n
// pairs if sd is that of their differences.
func Power(sd, effect float64, n int, pairs bool, alpha float64) float64 {
	switch runs := float64(n); {
	case n < 2:
		return math.NaN()
	case pairs:
		return power(sd/math.Sqrt(runs), effect, runs-1, alpha)
	default:
		return power(sd*math.Sqrt(2/runs), effect, 2*runs-2, alpha)
	}
}

// power is that of a t-test of an effect with a standard error: the probability
// that t, centered at the effect in standard errors, exceeds the critical value.
func power(se, effect, df, alpha float64) float64 {
	if !(se >= 0) || math.IsNaN(effect) || !proper(alpha) {
		return math.NaN()
	}
	if effect == 0 {
		return alpha
	}
	far := math.Abs(effect) / se
	if math.IsInf(far, 1) {
		return 1
	}
	limit := studentQuantile(df, 1-alpha/2)
	if far > 30 {
		return farPower(far, df, limit)
	}
	t := distuv.NoncentralT{Nu: df, Mu: far}
	return min(1, max(0, 1-t.CDF(limit)+t.CDF(-limit)))
}

// PowerOf is the probability that the two-sided t-test at alpha, with df degrees of freedom, finds
// an effect if its estimate has the standard error se.
func PowerOf(se, effect, df, alpha float64) float64 { return power(se, effect, df, alpha) }

// farPower is power beyond the range of the series of NoncentralT: t = (Z+far)/s
// exceeds the limit if s is below (Z+far)/limit, and df·s² is chi-squared, over all
// Z.
func farPower(far, df, limit float64) float64 {
	spread := distuv.ChiSquared{K: df}
	return quad.Fixed(func(z float64) float64 {
		s := (far + z) / limit
		return spread.CDF(df*s*s) * distuv.UnitNormal.Prob(z)
	}, -9, 9, 64, quad.Legendre{}, 0)
}

// RunsNeeded is the number of runs of each group, or of pairs, at least 2, that the
// two-sided t-test at alpha needs to find a difference of effect with the given power; 0
// if that is more than 1000.
func RunsNeeded(sd, effect float64, pairs bool, alpha, power float64) int {
	n := 2 + sort.Search(mostRuns-1, func(i int) bool { return Power(sd, effect, i+2, pairs, alpha) >= power })
	if n > mostRuns {
		return 0
	}
	return n
}
