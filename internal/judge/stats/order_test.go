package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
)

// The second and the ninth of 10 values enclose the median with a probability of
// 1-2·11/1024 = 0.9785 (any table of the sign test).
func TestMedianInterval(t *testing.T) {
	x := Sort([]float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1})
	i := QuantileInterval(x, 50, 0.95)
	if i.Low != 2 || i.High != 9 || math.Abs(i.Level-(1-22./1024)) > 1e-14 {
		t.Errorf("%+v", i)
	}
}

// An interval exists from the sample size of SampleFor on.
func TestQuantileIntervalsBeginWhereSamplesSuffice(t *testing.T) {
	for _, p := range []float64{10, 50, 90, 95, 99} {
		n := SampleFor(p)
		x := make(Sorted, n)
		for i := range x {
			x[i] = float64(i)
		}
		if i := QuantileInterval(x, p, 0.95); !(i.Level >= 0.95) || !i.Holds(x.Percentile(p)) {
			t.Errorf("P%v of %d values: %+v", p, n, i)
		}
		if i := QuantileInterval(x[1:], p, 0.95); !math.IsNaN(i.Low) {
			t.Errorf("P%v of %d values: %+v", p, n-1, i)
		}
	}
}

func TestQuantileRates(t *testing.T) {
	for _, p := range []float64{50, 90, 99} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			dice := seeded(fmt.Sprint("quantile ", p), 500)
			r := newRates(t, fmt.Sprintf("P%v of 500 values", p))
			for range costlySets {
				x := make([]float64, 500)
				for i := range x {
					x[i] = dice.ExpFloat64()
				}
				r.covers("order statistics", QuantileInterval(Sort(x), p, 0.95), -math.Log1p(-p/100))
			}
			r.hold()
		})
	}
}

// The interval of a median: benchmath selects the same values if both are
// symmetric.
func TestMedianIntervalAsBenchmathHasIt(t *testing.T) {
	dice := seeded("median", 0)
	for n := 6; n <= 60; n++ {
		x := Sort(noises[0].runs(dice, n))
		want := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(x), &benchmath.DefaultThresholds), 0.95)
		got := QuantileInterval(x, 50, 0.95)
		if got.Level+1e-12 < 0.95 || got.Level > want.Confidence+0.06 || got.Holds(want.Center) == false {
			t.Errorf("%d values: %+v, benchmath has %+v", n, got, want)
		}
		if math.Abs(got.Level-want.Confidence) < 1e-9 && (got.Low != want.Lo || got.High != want.Hi) {
			t.Errorf("%d values: %+v, benchmath has %+v", n, got, want)
		}
	}
}
