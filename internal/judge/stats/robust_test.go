package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// everything returns every figure of two samples, in a fixed order, with the sample
// that quantiles and series use.
func everything(a, b []float64) map[string]float64 {
	out := map[string]float64{}
	interval := func(name string, i Interval) { out[name+" low"], out[name+" high"] = i.Low, i.High }
	e := StudentDifference(a, b)
	out["Student P"] = e.P()
	interval("Student", e.Interval(0.95))
	e = welch(a, b)
	out["Welch P"] = e.P()
	interval("Welch", e.Interval(0.95))
	interval("mean", StudentMean(a).Interval(0.95))
	p, adjusted := MaxT([][]float64{a}, [][]float64{b})
	out["max T P"], out["max T adjusted"] = p[0], adjusted[0]
	p, adjusted = MaxTPaired([][]float64{b})
	out["max T, pairs P"], out["max T, pairs adjusted"] = p[0], adjusted[0]
	interval("batches", BatchMeans(b, 4).Interval(0.95))
	out["effective size"] = EffectiveSize(b)
	return out
}

// drawOdd draws a sample that is short, constant, full of ties, huge or tiny.
func drawOdd(t *rapid.T, name string) []float64 {
	value := rapid.SampledFrom([]*rapid.Generator[float64]{
		rapid.Float64Range(0, 1),
		rapid.Float64Range(1e9, 1e9+1e-3),
		rapid.Map(rapid.IntRange(0, 2), func(i int) float64 { return float64(i) / 10 }),
		rapid.Just(0.1),
		rapid.Float64Range(-1e-300, 1e-300),
		rapid.Float64Range(-1e150, 1e150),
		rapid.Float64(),
	}).Draw(t, name+" kind")
	return rapid.SliceOfN(value, 0, 7).Draw(t, name)
}

// A figure is in its range or NaN; an interval has both ends or none, the lower one
// first.
func TestNothingLeavesItsRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawOdd(t, "a"), drawOdd(t, "b")
		before := [2][]float64{slices.Clone(a), slices.Clone(b)}
		all := everything(a, b)
		for name, v := range all {
			n := len(name)
			if name[n-1] == 'P' && (v < 0 || v > 1) || math.IsInf(v, 0) {
				t.Fatalf("%s = %v", name, v)
			}
			if n > 5 && name[n-5:] == " high" {
				low := all[name[:n-5]+" low"]
				if math.IsNaN(low) != math.IsNaN(v) || low > v {
					t.Fatalf("%s: %v to %v", name[:n-5], low, v)
				}
			}
		}
		if !slices.EqualFunc(a, before[0], same) || !slices.EqualFunc(b, before[1], same) {
			t.Fatal("a sample was changed")
		}
	})
}

// NaN input gives NaN figures.
func TestWhatIsNoNumberIsRefused(t *testing.T) {
	for _, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		x := []float64{1, 2, 3, 4, 5, 6, 7, 8, odd}
		for name, v := range everything(x, x) {
			if !math.IsNaN(v) {
				t.Errorf("with %v: %s = %v", odd, name, v)
			}
		}
	}
	for name, v := range everything(nil, nil) {
		if !math.IsNaN(v) {
			t.Errorf("of nothing: %s = %v", name, v)
		}
	}
}

// Tests do not depend on the unit, on the order of the runs, or on which group
// comes first; a shift of both changes nothing.
func TestPDoesNotDependOnTheUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Float64Range(1, 100)
		a, b := rapid.SliceOfN(value, 2, 6).Draw(t, "a"), rapid.SliceOfN(value, 2, 6).Draw(t, "b")
		scale := rapid.SampledFrom([]float64{-1, 1e-3, 8, 1e6}).Draw(t, "scale")
		shift := rapid.SampledFrom([]float64{0, 50}).Draw(t, "shift")
		change := func(x []float64) []float64 {
			y := rapid.Permutation(x).Draw(t, "order")
			for i := range y {
				y[i] = scale * (y[i] + shift)
			}
			return y
		}
		ps := func(a, b []float64) [4]float64 {
			student, welch := StudentDifference(a, b).P(), welch(a, b).P()
			p, adjusted := MaxT([][]float64{a}, [][]float64{b})
			return [4]float64{student, welch, p[0], adjusted[0]}
		}
		want, got := ps(a, b), ps(change(b), change(a))
		for i := range want {
			if math.Abs(want[i]-got[i]) > 1e-6 {
				t.Fatalf("P = %v, of the changed samples %v", want, got)
			}
		}
	})
}
