package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Lags that are summed together are those of one sum each, to the last bit.
func TestLagsAreThoseOfSingleSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-1, 1), 1, 60).Draw(t, "x")
		var c []float64
		for len(c) < min(shortLags, len(x)) {
			c = appendLags(c, x, min(lagsAtOnce, min(shortLags, len(x))-len(c)))
		}
		for lag, got := range c {
			want := 0.0
			for i, v := range x[lag:] {
				want += v * x[i]
			}
			if want /= float64(len(x)); got != want {
				t.Fatalf("lag %d of %d values: %v, want %v", lag, len(x), got, want)
			}
		}
	})
}

// The autocovariance by blocks is that by the spectrum of all.
func TestAutocovarianceByBlocks(t *testing.T) {
	dice := rand.New(rand.NewPCG(7, 8))
	x := make([]float64, 5*fewLags+321)
	for i := range x {
		x[i] = dice.NormFloat64()
		if i > 0 {
			x[i] += 0.9 * x[i-1]
		}
	}
	want, got := autocovariance(x), firstAutocovariance(centered(x), fewLags)
	for k := range got {
		if math.Abs(got[k]-want[k]) > 1e-9*want[0] {
			t.Fatalf("at lag %d: %v, want %v", k, got[k], want[k])
		}
	}
}
