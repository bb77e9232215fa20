package stats

import "math"

// An Interval contains the truth with a probability of at least its level.
type Interval struct {
	Low, High float64
	Level     float64 // the requested one; for methods with discrete levels, the one reached
}

// An Estimate is a figure with its error, which has Student's distribution.
type Estimate struct {
	Value float64
	Error float64 // standard error
	DF    float64 // degrees of freedom of the error; +Inf for a known one
}

// Holds reports whether v is in the interval; an undefined one contains nothing.
func (i Interval) Holds(v float64) bool { return i.Low <= v && v <= i.High }

var (
	noInterval = Interval{math.NaN(), math.NaN(), math.NaN()}
	noEstimate = Estimate{math.NaN(), math.NaN(), math.NaN()}
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
