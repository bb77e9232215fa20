package stats

import "math"

// An Interval holds the truth with a probability of at least its level.
type Interval struct {
	Low, High float64
	Level     float64 // the one asked for; of methods that know only steps, the one reached
}

// A Test of the hypothesis that there is no difference, two-sided.
type Test struct {
	P            float64 // how often chance alone gives what was seen, or more
	Statistic    float64
	Exact        bool // P counts all arrangements, nothing is approximated or drawn
	Arrangements int  // of which P is a share; 0 where it comes from a distribution
}

// An Estimate is a figure with what is known of its error.
type Estimate struct {
	Value    float64
	Error    float64 // standard error; NaN where the method has none
	DF       float64 // degrees of freedom that the error has; NaN likewise
	Interval Interval
}

// Holds says whether v is in the interval; one that is not defined holds nothing.
func (i Interval) Holds(v float64) bool { return i.Low <= v && v <= i.High }

var (
	noInterval = Interval{math.NaN(), math.NaN(), math.NaN()}
	noEstimate = Estimate{math.NaN(), math.NaN(), math.NaN(), noInterval}
	noTest     = Test{P: math.NaN(), Statistic: math.NaN()}
)

// finite says whether all values are numbers.
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

// proper says whether a probability is neither 0 nor 1 nor beyond.
func proper(p float64) bool { return p > 0 && p < 1 }
