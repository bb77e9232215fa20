package stats

import (
	"math"
	"testing"
)

// Batches of 1 2 | 3 4 | 5 6 have the means 1.5, 3.5, 5.5: 3.5 ± 4.302653·2/√3.
func TestBatchMeansByHand(t *testing.T) {
	e := BatchMeans([]float64{1, 2, 3, 4, 5, 6}, 3)
	near(t, "mean", e.Value, 3.5, 1e-15)
	near(t, "error", e.Error, 2/math.Sqrt(3), 1e-15)
	near(t, "degrees of freedom", e.DF, 2, 0)
	near(t, "high", e.Interval(0.95).High, 3.5+4.302653*2/math.Sqrt(3), 1e-6)
}

// A series with a correlation of ρ between neighbours is worth (1-ρ)/(1+ρ) of its
// length.
func TestEffectiveSize(t *testing.T) {
	dice := seeded("effective", 0)
	for _, rho := range []float64{0, 0.5, 0.9} {
		const n = 100_000
		near(t, "effective share", EffectiveSize(autoregressive(dice, n, rho))/n, (1-rho)/(1+rho), 0.03)
	}
	for _, c := range []struct {
		x    []float64
		want float64
	}{{nil, math.NaN()}, {[]float64{3}, 1}, {[]float64{3, 3, 3}, 3}, {[]float64{1, math.Inf(1)}, math.NaN()}, {[]float64{1, -1, 1, -1, 1, -1}, 6}} {
		if got := EffectiveSize(c.x); !same(got, c.want) {
			t.Errorf("%v: %v, want %v", c.x, got, c.want)
		}
	}
}

// Of 1 2 4, less 7/3: (16+1+25)/27, (4-5)/27, -20/27.
func TestAutocovariance(t *testing.T) {
	for k, want := range []float64{42. / 27, -1. / 27, -20. / 27} {
		near(t, "autocovariance", autocovariance([]float64{1, 2, 4})[k], want, 1e-15)
	}
}
