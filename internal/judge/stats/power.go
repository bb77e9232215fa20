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
// effect between two groups of n runs each with standard deviation sd.
func Power(sd, effect float64, n int, alpha float64) float64 {
	if n < 2 {
		return math.NaN()
	}
	return power(sd*math.Sqrt(2/float64(n)), effect, float64(2*n-2), alpha)
}

// PairedPower is that of n pairs with the standard deviation sd of their
// differences.
func PairedPower(sd, effect float64, n int, alpha float64) float64 {
	if n < 2 {
		return math.NaN()
	}
	return power(sd/math.Sqrt(float64(n)), effect, float64(n-1), alpha)
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

// RunsNeeded is the number of runs of each group that the two-sided t-test at alpha
// needs to find a difference of effect with the given power; 0 if that is more than
// 1000.
func RunsNeeded(sd, effect, alpha, power float64) int {
	return fewest(func(n int) bool { return Power(sd, effect, n, alpha) >= power })
}

// PairsNeeded is the number of pairs needed if their differences have the standard
// deviation sd; 0 if that is more than 1000.
func PairsNeeded(sd, effect, alpha, power float64) int {
	return fewest(func(n int) bool { return PairedPower(sd, effect, n, alpha) >= power })
}

// fewest is the smallest number of runs, at least 2, that is enough.
func fewest(enough func(n int) bool) int {
	n := 2 + sort.Search(mostRuns-1, func(i int) bool { return enough(i + 2) })
	if n > mostRuns {
		return 0
	}
	return n
}
