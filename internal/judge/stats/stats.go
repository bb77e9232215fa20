// Package stats turns samples into figures. It knows no domain types: a sample is a
// []float64, or a Walk of integers or a Stream of floats if it is too large for one, and a
// figure is a float64.
//
// Sums, means, deviations and percentiles follow numpy to the last bit, since the
// Python benchmark tools print those: sums are pairwise in numpy's block order, the
// standard deviation is the population's, and a percentile interpolates linearly
// between order statistics. A statistic of an empty sample is 0, as in those tools;
// callers that must distinguish "none" from "zero" check the length.
//
// A percentile far in the tail of a small sample is unsupported. SampleFor gives
// the number of observations that a percentile needs before the sample can bound it
// from above; reports mark those with fewer.
//
// # Inference
//
// An Estimate is a figure with its error: it gives an interval at any level, and P, how
// often chance alone gives the observed difference. All tests are two-sided. If there are too few
// values, or one of them is NaN, the answer is NaN. The choice depends on the
// values:
//
//	a few runs of each           TwoGroups.Pooled                      normal noise, the same in both
//	                             TwoGroups.Difference, FamilyRatio     normal noise
//	runs made in pairs           StudentMean of the differences
//	many metrics of those runs   Rotation                              normal noise
//	                             MaxT                                  any noise, 4 and 4 runs or more
//	                             MaxTPaired                            any noise, 6 pairs or more
//	                             Holm                                  other families
//	how many runs?               RunsNeeded
//	the requests of one run      BatchMeans
//
// Relative noise is best compared on a logarithmic scale, where a change of 3 % is
// the same at any load: the difference of mean logarithms is the logarithm of the
// ratio.
//
// The exact tests assume only that the runs could have come in any order, and their
// P has steps: 3 and 3 runs have 20 arrangements, so no P is below 0.1
// (MinArrangementP, MinSignP). Student's are as valid as the noise is normal, which
// 5 % of lognormal noise nearly is, and reach any level with 2 and 2.
//
// The noise within a run says nothing about the noise between runs: the interval of
// BatchMeans contains the mean that this run would have if it went on.
//
// Tests check the coverage: 2000 to 3000 simulated data sets of 3 to 10 runs, 93.5
// to 96.5 % for 95, and false alarms at most 6 % for 5, also of the whole family
// for MaxT and Holm. If a method does worse, its doc says by how much.
//
// # Blocks
//
// Blocked estimates effects of variants that were measured in blocks.
//
// A Unit is one independent observation of a variant: a server start, or a leg of a server
// that stays up. Units of one block are close in time. On the scale of logarithms
//
//	value = block + slope × position + variant + noise
//
// is fitted by least squares, whatever units there are: a failed leg is a missing one. Where
// legs of a block sent different requests, those that sent the same ones have a level instead
// of the block: otherwise the difference between requests would pass for noise. In a block A
// B B A or B A A B of units 1 to 4 that gives
//
//	(B2 + B3 - A1 - A4) / 2            the effect, in which no linear drift is left
//	(-y1 + 3 y2 - 3 y3 + y4) / √20     noise and nothing else, as are
//	the effect and the slope of a block less those of all blocks
//
// so that n blocks give 3n-2 degrees of freedom, where the effects of the blocks alone would
// give n-1.
//
// Variants may differ in their noise: Noise estimates it, and Unlike its part in an error.
//
// Estimates are unbiased under any drift that is linear in a block. One slope is fitted
// for all blocks: in blocks of four a drift that bends adds to the effects of blocks, and more
// to the differences of their slopes, so that intervals become too wide rather than too narrow.
// A slope for each block would leave 2n-1 degrees of freedom, find less where the drift is one
// line, and not detect one that bends. docs/experiment-rates.md has the error rates.
//
// # Looks
//
// A look at an experiment before its last one needs a stricter level.
//
// Looking after each block, and stopping when something differs at 5 %, gives a false alarm
// in far more than 5 % of experiments without a difference. Level gives each look its level,
// so that all looks together have the requested one:
//
//	spent by look k of K     α (k/K)^ρ                        Lan and DeMets (1983), Kim and DeMets (1987)
//	level of look k          such that a Wiener process that has stayed within the bounds of
//	                         looks 1 to k-1 leaves them at look k with what is spent there,
//	                         by the integration of Armitage, McPherson and Rowe (1969)
//
// The level of a look is that of a two-sided p-value, which may be Student's (the significance
// level approach: Jennison and Turnbull 2000, section 3.8), and the intervals of those levels
// hold the truth at all looks together (repeated confidence intervals, chapter 9 there). An
// experiment that ends before look K has spent less than α. One that ends early for a reason
// that is not in its data, as a budget of time, may be judged as K = k: it has spent less
// before than that supposes.
package stats

import (
	"math"
	"slices"
)

// Sum adds x pairwise in numpy's order: blocks of at most 128 are summed in eight
// accumulators, longer samples are halved at a multiple of eight.
func Sum(x []float64) float64 {
	switch n := len(x); {
	case n < 8:
		return sumPlain(x)
	case n <= leastHalved:
		return sumBlock(x)
	default:
		half := halfOf(n)
		return Sum(x[:half]) + Sum(x[half:])
	}
}

// leastHalved is the size above which a sample is halved.
const leastHalved = 128

// halfOf is how many of n values are added first.
func halfOf(n int) int {
	half := n / 2
	return half - half%8
}

func sumPlain(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

func sumBlock(x []float64) float64 {
	var r [8]float64
	copy(r[:], x)
	i := 8
	for ; i < len(x)-len(x)%8; i += 8 {
		for j := range r {
			r[j] += x[i+j]
		}
	}
	s := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for _, v := range x[i:] {
		s += v
	}
	return s
}

// Mean is the arithmetic mean, 0 for an empty sample.
func Mean(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	return Sum(x) / float64(len(x))
}

// Std is the population standard deviation (divisor n), 0 for an empty sample.
func Std(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	mean := Mean(x)
	squares := make([]float64, len(x))
	for i, v := range x {
		d := v - mean
		squares[i] = d * d
	}
	return math.Sqrt(Sum(squares) / float64(len(x)))
}

// A Sorted sample gives order statistics without sorting again.
type Sorted []float64

// Sort returns a sorted copy of x.
func Sort(x []float64) Sorted { return SortInPlace(slices.Clone(x)) }

// SortInPlace sorts x itself, NaN first.
func SortInPlace(x []float64) Sorted {
	sortInPlace(x)
	return x
}

// Percentile is numpy's default ("linear"): with h = (n-1)p/100 it lies between the
// order statistics floor(h) and floor(h)+1. p is in percent; 0 for an empty sample.
func (s Sorted) Percentile(p float64) float64 { return percentile(len(s), p, s.at) }

func (s Sorted) at(rank int) float64 { return s[rank] }

// percentile is percentile p of n values with the order statistics at.
func percentile(n int, p float64, at func(rank int) float64) float64 {
	if n == 0 {
		return 0
	}
	lo, hi, share := place(n, p)
	return lerp(at(lo), at(hi), share)
}

// place returns the order statistics of n values between which percentile p lies,
// and its position between them.
func place(n int, p float64) (lo, hi int, share float64) {
	h := float64(p / 100 * float64(n-1)) // no fused multiply-add: the same on every machine
	lo = min(max(int(math.Floor(h)), 0), n-1)
	return lo, min(lo+1, n-1), h - float64(lo)
}

// lerp rounds like numpy's: from the nearer end.
func lerp(a, b, g float64) float64 {
	d := b - a
	if g >= 0.5 {
		return b - float64(d*(1-g))
	}
	return a + float64(d*g)
}

// Median is the middle value, or the mean of the middle two.
func (s Sorted) Median() float64 { return median(len(s), s.at) }

// median is that of n values with the order statistics at.
func median(n int, at func(rank int) float64) float64 {
	switch r := medianRanks(n); {
	case n == 0:
		return 0
	case n%2 == 1:
		return at(r[0])
	default:
		return (at(r[0]) + at(r[1])) / 2
	}
}

// medianRanks are the ranks of the middle two of n values.
func medianRanks(n int) []int { return []int{max(0, (n-1)/2), n / 2} }

// Min is the smallest value, 0 for an empty sample.
func (s Sorted) Min() float64 {
	if len(s) == 0 {
		return 0
	}
	return s[0]
}

// Max is the largest value, 0 for an empty sample.
func (s Sorted) Max() float64 {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1]
}

// SampleFor is the smallest number of independent observations from which a
// two-sided 95 % interval for percentile p exists without assuming a
// distribution: the largest of n observations lies above the quantile q with
// probability 1-q^n, which must reach 0.975, and the mirror image below.
func SampleFor(p float64) int {
	q := p / 100
	tail := min(q, 1-q)
	if tail <= 0 {
		return math.MaxInt
	}
	return int(math.Ceil(math.Log(0.025) / math.Log1p(-tail)))
}
