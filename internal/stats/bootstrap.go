package stats

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Resampling says how samples are drawn from a sample.
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

// BootstrapPercentile is the interval between the percentiles of a statistic over
// samples drawn, with replacement, from the one at hand. statistic gets the places,
// of n, of the values drawn, which are only good until it returns.
func BootstrapPercentile(n int, statistic func(index []int) float64, r Resampling) Interval {
	r = r.withDefaults()
	drawn := r.draw(n, statistic)
	if drawn == nil || !proper(r.Level) {
		return noInterval
	}
	tail := (1 - r.Level) / 2
	return Interval{drawn.Percentile(100 * tail), drawn.Percentile(100 * (1 - tail)), r.Level}
}

// BootstrapBCa corrects the percentiles for the bias of the statistic and for how
// its spread changes with its value (Efron 1987), which a skewed statistic needs.
func BootstrapBCa(n int, statistic func(index []int) float64, r Resampling) Interval {
	r = r.withDefaults()
	drawn := r.draw(n, statistic)
	if drawn == nil || !proper(r.Level) {
		return noInterval
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	bias := distuv.UnitNormal.Quantile(rankOf(drawn, statistic(all)))
	a := acceleration(n, statistic, r.Block)
	if math.IsNaN(a) {
		return noInterval
	}
	at := func(p float64) float64 {
		z := bias + distuv.UnitNormal.Quantile(p)
		return drawn.Percentile(100 * distuv.UnitNormal.CDF(bias+z/(1-a*z)))
	}
	return Interval{at((1 - r.Level) / 2), at((1 + r.Level) / 2), r.Level}
}

// draw is the statistic of all rounds, nil where it is not always a number.
func (r Resampling) draw(n int, statistic func(index []int) float64) Sorted {
	if n < 2 {
		return nil
	}
	dice := rand.New(rand.NewPCG(r.Seed, uint64(n)))
	index := make([]int, n)
	drawn := make([]float64, r.Rounds)
	for i := range drawn {
		for at := 0; at < n; at += r.Block {
			from := dice.IntN(n)
			for j := at; j < min(at+r.Block, n); j++ {
				index[j] = (from + j - at) % n
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

// rankOf is the share of the sorted values below v, those equal to it counting half;
// never quite 0 or 1.
func rankOf(s Sorted, v float64) float64 {
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

// jackknifed is how many parts of a sample are left out in turn at most.
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

// BlockLength is how many neighbours of a series a block bootstrap of its mean
// should draw together: the choice of Politis and White (2004), as corrected by
// Patton, Politis and White (2009), for blocks in a circle.
func BlockLength(x []float64) int {
	n := len(x)
	if n < 4 || !finite(x) || constant(x, x) {
		return 1
	}
	c := autocovariance(x)
	logn := math.Log10(float64(n))
	run := max(5, int(math.Ceil(math.Sqrt(logn))))
	most := min(n-1, int(math.Ceil(math.Sqrt(float64(n))))+run)
	limit := 2 * math.Sqrt(logn/float64(n))
	last, small := 0, 0
	for k := 1; k <= most && small < run; k++ {
		if math.Abs(c[k]/c[0]) < limit {
			small++
		} else {
			last, small = k, 0
		}
	}
	window := min(2*max(1, last), most)
	slope, spectrum := 0.0, c[0]
	for k := 1; k <= window; k++ {
		share := min(1, 2*(1-float64(k)/float64(window)))
		slope += 2 * share * float64(k) * c[k]
		spectrum += 2 * share * c[k]
	}
	length := math.Cbrt(2 * slope * slope / (4. / 3 * spectrum * spectrum) * float64(n))
	longest := math.Ceil(min(3*math.Sqrt(float64(n)), float64(n)/3))
	return int(max(1, min(math.Ceil(length), longest)))
}
