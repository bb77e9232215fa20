package stats

import "math"

// TOST is Schuirmann's (1987) pair of one-sided t-tests that an estimate lies
// between low and high: P is the larger one, of the truth lying outside. It is at
// most α if the interval of level 1-2α lies within.
func TOST(e Estimate, low, high float64) Test {
	if math.IsNaN(e.Value) || !(e.Error >= 0) || !(e.DF > 0) || !(low < high) {
		return noTest
	}
	if e.Error == 0 {
		p := 1.0
		if low < e.Value && e.Value < high {
			p = 0
		}
		return Test{P: p, Statistic: math.Inf(1)}
	}
	t := min((e.Value-low)/e.Error, (high-e.Value)/e.Error)
	return Test{P: studentTail(e.DF, t), Statistic: t}
}
