package stats

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Resampling configures the bootstrap.
type Resampling struct {
	Rounds int     // 0: 2000
	Level  float64 // 0: 0.95
	Seed   uint64
	Block  int // neighbours drawn together, see BlockLength; 0: each value by itself
}

func (r Resampling) withDefaults() Resampling {
	if r.Rounds <= 0 {
		r.Rounds = 2000
	}
	if r.Level == 0 {
		r.Level = 0.95
	}
	r.Block = max(r.Block, 1)
	return r
}

// BootstrapPercentile is the interval between two percentiles of a statistic over
// samples drawn with replacement. statistic gets the indices, below n, of the
// values drawn, valid until it returns.
//
// The percentiles lie as far out as Student's t would with n values, or blocks, and
// a deviation with divisor n (Hesterberg 2015, expanded percentiles). For 10 values
// with little noise this interval of the mean covers 94 to 95 %, and 91 % without
// the expansion. For fewer it stays too narrow, since no draw exceeds the observed
// values: 7 cover 94 %, 5 92 %, 3 75 %. NaN if fewer than two blocks fit.
func BootstrapPercentile(n int, statistic func(index []int) float64, r Resampling) Interval {
	r = r.withDefaults()
	drawn := r.draw(n, statistic)
	if drawn == nil {
		return noInterval
	}
	return drawn.between(r.reach(n), 0, 0, r.Level)
}

// BootstrapBCa corrects the percentiles for the bias of the statistic and for the
// change of its spread with its value (Efron 1987), which a skewed statistic needs.
// Both take some tens of values to estimate.
func BootstrapBCa(n int, statistic func(index []int) float64, r Resampling) Interval {
	r = r.withDefaults()
	drawn := r.draw(n, statistic)
	if drawn == nil {
		return noInterval
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	seen, bend := statistic(all), acceleration(n, statistic, r.Block)
	if math.IsNaN(seen) || math.IsNaN(bend) {
		return noInterval
	}
	return drawn.between(r.reach(n), distuv.UnitNormal.Quantile(drawn.rankOf(seen)), bend, r.Level)
}

// reach is the number of standard deviations of the statistic that the interval
// extends to either side for n values.
func (r Resampling) reach(n int) float64 {
	pieces := float64(n) / float64(r.Block)
	return math.Sqrt(pieces/(pieces-1)) * studentQuantile(pieces-1, (1+r.Level)/2)
}

// between is the interval of the draws from -reach to reach, on the scale on which
// they are normal except for bias and bend.
func (s Sorted) between(reach, bias, bend, level float64) Interval {
	at := func(z float64) float64 {
		z += bias
		if straight := 1 - bend*z; straight > 0 {
			z /= straight
		} else {
			z = math.Inf(int(math.Copysign(1, z)))
		}
		return s.Percentile(100 * distuv.UnitNormal.CDF(bias+z))
	}
	return Interval{at(-reach), at(reach), level}
}

// draw returns the statistic of all rounds; nil if one is not a number, or the
// arguments are unusable.
func (r Resampling) draw(n int, statistic func(index []int) float64) Sorted {
	if n < 2*r.Block || !proper(r.Level) {
		return nil
	}
	dice := rand.New(rand.NewPCG(r.Seed, uint64(n)))
	index := make([]int, n)
	drawn := make([]float64, r.Rounds)
	for i := range drawn {
		for at := 0; at < n; at += r.Block {
			from := dice.IntN(n)
			for j := at; j < min(at+r.Block, n); j++ {
				index[j] = from
				if from++; from == n { // neighbours are circular
					from = 0
				}
			}
		}
		drawn[i] = statistic(index)
	}
	if !finite(drawn) {
		return nil
	}
	sortInPlace(drawn)
	return drawn
}

// rankOf is the share of the values below v, with equal ones counting half; never
// quite 0 or 1.
func (s Sorted) rankOf(v float64) float64 {
	below := 0.0
	for _, u := range s {
		if u < v {
			below++
		} else if u == v {
			below += 0.5
		}
	}
	n := float64(len(s))
	return min(max(below/n, 0.5/n), 1-0.5/n)
}

// jackknifed is the maximum number of parts of a sample that are left out in turn.
const jackknifed = 200

// acceleration is a sixth of the skewness of the statistic when a part of the sample
// is left out.
func acceleration(n int, statistic func(index []int) float64, block int) float64 {
	parts := max(2, min(n/block, jackknifed))
	left := make([]float64, parts)
	index := make([]int, 0, n)
	for i := range left {
		from, to := i*n/parts, (i+1)*n/parts
		index = index[:0]
		for j := range n {
			if j < from || j >= to {
				index = append(index, j)
			}
		}
		left[i] = statistic(index)
	}
	if !finite(left) {
		return math.NaN()
	}
	squares, cubes := 0.0, 0.0
	for _, v := range centered(left) {
		squares += v * v
		cubes -= v * v * v
	}
	if squares == 0 {
		return 0
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}
