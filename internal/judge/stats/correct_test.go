package stats

import (
	"math"
	"slices"
	"testing"
)

// By hand: 0.01·4, 0.02·3, then 0.03·2 and 0.04·1, which must not be less;
// 0.01·4/1, 0.02·4/2, 0.03·4/3, 0.04·4/4 are all 0.04.
func TestAdjustmentsByHand(t *testing.T) {
	nan := math.NaN()
	p := []float64{0.04, nan, 0.01, 0.03, 0.02}
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"Holm", Holm(p), []float64{0.06, nan, 0.04, 0.06, 0.06}},
		{"Benjamini-Hochberg", BenjaminiHochberg(p), []float64{0.04, nan, 0.04, 0.04, 0.04}},
		{"none", Holm(nil), nil},
		{"nothing but NaN", BenjaminiHochberg([]float64{nan}), []float64{nan}},
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
// thrombolysis their procedure selects four at 0.05, Hochberg's and Holm's three.
func TestThrombolysis(t *testing.T) {
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1}
	taken := func(p []float64) int {
		return len(slices.DeleteFunc(slices.Clone(p), func(p float64) bool { return p > 0.05 }))
	}
	if n, m := taken(BenjaminiHochberg(p)), taken(Holm(p)); n != 4 || m != 3 {
		t.Errorf("Benjamini-Hochberg takes %d, Holm %d", n, m)
	}
}
