package stats

import "math"

// BlockLength is the number of neighbours of a series that a block bootstrap should
// draw together for an interval of its mean: three times politisWhite, whose blocks
// minimize the mean squared error of the variance. Coverage suffers more from bias
// than from scatter, so longer blocks are better: at a correlation of 0.9 between
// neighbours, 500 values cover 89 % instead of 95 with one length and 94 % with
// three.
func BlockLength(x []float64) int {
	n := len(x)
	if n < 8 || !finite(x) || constant(x, x) {
		return 1
	}
	return int(max(1, min(math.Ceil(3*politisWhite(x)), float64(n)/8)))
}

// politisWhite is the block length of Politis and White (2004), as corrected by
// Patton, Politis and White (2009), for circular blocks. It uses autocorrelations
// up to twice the lag from which at least five in a row are within noise.
func politisWhite(x []float64) float64 {
	c := autocovariance(x)
	window := 2 * max(1, memory(c))
	slope, spectrum := 0.0, c[0]
	for k := 1; k <= min(window, len(c)-1); k++ {
		share := min(1, 2*(1-float64(k)/float64(window)))
		slope += 2 * share * float64(k) * c[k]
		spectrum += 2 * share * c[k]
	}
	return math.Cbrt(1.5 * slope * slope / (spectrum * spectrum) * float64(len(x)))
}

// memory is the last lag with an autocovariance above noise, before a run of lags
// without.
func memory(c []float64) int {
	n := float64(len(c))
	run := max(5, int(math.Ceil(math.Sqrt(math.Log10(n)))))
	most := min(len(c)-1, int(math.Ceil(math.Sqrt(n)))+run)
	noise := 2 * math.Sqrt(math.Log10(n)/n)
	last := 0
	for k := 1; k <= most && k-last <= run; k++ {
		if math.Abs(c[k]/c[0]) >= noise {
			last = k
		}
	}
	return last
}
