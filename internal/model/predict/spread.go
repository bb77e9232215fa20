package predict

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/load/arrival"
)

// A scale is where values have their spread: logarithms, or, where one of them is 0, relative
// differences to their mean.
type scale struct{ mean float64 }

func scaleOf(values ...[]float64) scale {
	all := slices.Concat(values...)
	if slices.Min(all) > 0 {
		return scale{}
	}
	return scale{mean: max(stats.Mean(all), math.SmallestNonzeroFloat64)}
}

func (s scale) all(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		if s.mean > 0 {
			out[i] = v/s.mean - 1
		} else {
			out[i] = math.Log(v)
		}
	}
	return out
}

// back is the value of a place on the scale. No figure is below 0.
func (s scale) back(x float64) float64 {
	if s.mean > 0 {
		return max(0, s.mean*(1+x))
	}
	return math.Exp(min(x, maxLog))
}

// maxLog keeps printed values finite.
const maxLog = 700

// deviation is the standard deviation of the distribution that x was drawn from.
func deviation(x []float64) float64 {
	n := float64(len(x))
	return stats.Std(x) * math.Sqrt(n/(n-1))
}

// What scores are drawn for.
const (
	paceScores   = "pace"
	misfitScores = "misfit"
)

// scores are Draws values of a normal distribution, evenly spread over it and in an order of
// their own for each purpose. Their mean is 0 and their variance 1, so that few of them
// spread a prediction as many would.
func scores(purpose string) []float64 {
	z := make([]float64, Draws)
	for i := range z {
		z[i] = math.Sqrt2 * math.Erfinv((2*float64(i)+1)/Draws-1)
	}
	sd := deviation(z)
	for i := range z {
		z[i] /= sd
	}
	dice := arrival.Dice(0, purpose, 0)
	rand.New(&dice).Shuffle(Draws, func(i, j int) { z[i], z[j] = z[j], z[i] })
	return z
}
