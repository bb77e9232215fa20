package stats

import "math"

// An Interval contains the truth with a probability of at least its level.
type Interval struct {
	Low, High float64
	Level     float64 // the requested one; for methods with discrete levels, the one reached
}

// A Test of the hypothesis that there is no difference, two-sided.
type Test struct {
	P         float64 // how often chance alone gives the observed difference, or a larger one
	Statistic float64
}

// An Estimate is a figure with its error.
type Estimate struct {
	Value    float64
	Error    float64 // standard error; NaN if the method has none
	DF       float64 // degrees of freedom of the error; NaN likewise
	Interval Interval
}

// Holds reports whether v is in the interval; an undefined one contains nothing.
func (i Interval) Holds(v float64) bool { return i.Low <= v && v <= i.High }

var (
	noInterval = Interval{math.NaN(), math.NaN(), math.NaN()}
	noEstimate = Estimate{math.NaN(), math.NaN(), math.NaN(), noInterval}
	noTest     = Test{P: math.NaN(), Statistic: math.NaN()}
)

// finite reports whether all values are numbers.
func finite(samples ...[]float64) bool {
	for _, x := range samples {
		for _, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return false
			}
		}
	}
	return true
}

// proper reports whether a probability is strictly between 0 and 1.
func proper(p float64) bool { return p > 0 && p < 1 }
