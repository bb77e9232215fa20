package stats

import (
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
