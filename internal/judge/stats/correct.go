package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts p-values of a family of tests so that, if all up to α are taken for
// differences, the probability of any false alarm is at most α, under any
// dependence between the tests (Holm 1979). NaN stays NaN and does not count.
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

// ascending returns the order of the p-values that are numbers.
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
