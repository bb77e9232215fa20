package stats

import (
	"math"
	"slices"
	"testing"
)

// By hand: 0.01·4, 0.02·3, then 0.03·2 and 0.04·1, which must not be less.
func TestAdjustmentsByHand(t *testing.T) {
	nan := math.NaN()
	p := []float64{0.04, nan, 0.01, 0.03, 0.02}
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"Holm", Holm(p), []float64{0.06, nan, 0.04, 0.06, 0.06}},
		{"none", Holm(nil), nil},
		{"nothing but NaN", Holm([]float64{nan}), []float64{nan}},
		{"at most 1", Holm([]float64{0.7, 0.9}), []float64{1, 1}},
	} {
		if !slices.EqualFunc(c.got, c.want, func(a, b float64) bool { return same(a, b) || math.Abs(a-b) < 1e-15 }) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if p[0] != 0.04 {
		t.Error("the argument was changed")
	}
}

// Benjamini and Hochberg (1995), section 3.2: of the fifteen P of a study of
// thrombolysis Holm's procedure selects three at 0.05.
func TestThrombolysis(t *testing.T) {
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1}
	taken := func(p []float64) int {
		return len(slices.DeleteFunc(slices.Clone(p), func(p float64) bool { return p > 0.05 }))
	}
	if n := taken(Holm(p)); n != 3 {
		t.Errorf("Holm takes %d", n)
	}
}
