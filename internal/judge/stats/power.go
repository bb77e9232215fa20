package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

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
