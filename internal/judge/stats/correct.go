package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts p-values of a family of tests so that, taking those up to α for
// differences, even one false alarm is no likelier than α; whatever ties the tests
// to each other (Holm 1979). What is NaN stays so and does not count.
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

// BenjaminiHochberg adjusts p-values so that, taking those up to α for differences,
// a share of α of what was taken is expected to be false alarms; for tests that are
// independent or go together (Benjamini and Hochberg 1995). What is NaN stays so and
// does not count.
func BenjaminiHochberg(p []float64) []float64 {
	order := ascending(p)
	out := slices.Clone(p)
	ceiling := 1.0
	for i, at := range slices.Backward(order) {
		ceiling = min(ceiling, float64(len(order))/float64(i+1)*p[at])
		out[at] = ceiling
	}
	return out
}

// ascending is the order of the p-values that are numbers.
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
