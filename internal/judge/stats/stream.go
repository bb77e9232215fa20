package stats

import (
	"iter"
	"math"
)

// A Stream iterates over a sample, in blocks: like a Walk it is repeated several times, and
// gives the same values in the same order each time. A block is valid until the next one.
type Stream iter.Seq[[]float64]

// Values is the stream of a sample in one list.
func Values(x []float64) Stream { return func(yield func([]float64) bool) { _ = yield(x) } }

// Describe gives the figures of the sample as Mean, Std and Sorted give them, to the last
// bit, without a list of it or a copy of one.
func (s Stream) Describe(percentiles []float64) Figures {
	n, least, most := s.extent()
	if n <= smallSample {
		return describe(s.list(n), percentiles)
	}
	f := Figures{N: n, Min: value(least), Max: value(most)}
	f.Mean = s.sum(n, nil) / float64(n)
	f.Std = math.Sqrt(s.sum(n, &f.Mean) / float64(n))
	order := Selection{least: signed(least)}
	s.keys().find(&order, func() bool { return order.Next(percentiles) })
	f.fill(percentiles, func(rank int) float64 { return value(unsigned(order.At(rank))) })
	return f
}

// describe are the figures of a list, which it sorts.
func describe(x []float64, percentiles []float64) Figures {
	f := Figures{N: len(x), Mean: Mean(x), Std: Std(x)}
	sortInPlace(x)
	f.Min, f.Max = Sorted(x).Min(), Sorted(x).Max()
	f.fill(percentiles, Sorted(x).at)
	return f
}

// fill adds the median and the percentiles of a sample with the order statistics at.
func (f *Figures) fill(percentiles []float64, at func(rank int) float64) {
	f.Median = median(f.N, at)
	f.Percentiles = make([]float64, len(percentiles))
	for i, p := range percentiles {
		f.Percentiles[i] = percentile(f.N, p, at)
	}
}

// ranksOf are the ranks of the order statistics that the median and percentiles of n values
// depend on.
func ranksOf(n int, percentiles []float64) []int {
	ranks := medianRanks(n)
	for _, p := range percentiles {
		lo, hi, _ := place(n, p)
		ranks = append(ranks, lo, hi)
	}
	return ranks
}

// Mean is that of the sample, 0 if it is empty.
func (s Stream) Mean() float64 {
	n := 0
	for block := range s {
		n += len(block)
	}
	if n == 0 {
		return 0
	}
	return s.sum(n, nil) / float64(n)
}

// extent is the number of values, with the least and the largest key.
func (s Stream) extent() (n int, least, most uint64) {
	least = math.MaxUint64
	for block := range s {
		n += len(block)
		for _, v := range block {
			k := key(v)
			least, most = min(least, k), max(most, k)
		}
	}
	return n, least, most
}

func (s Stream) list(n int) []float64 {
	x := make([]float64, 0, n)
	for block := range s {
		x = append(x, block...)
	}
	return x
}

// sum is Sum of the n values, or of their squared distances from a center.
func (s Stream) sum(n int, center *float64) float64 {
	next, stop := iter.Pull(iter.Seq[[]float64](s))
	defer stop()
	p := pairwise{next: next, center: center}
	return p.sum(n)
}

// A pairwise adds values in the order of Sum, as they come.
type pairwise struct {
	next   func() ([]float64, bool)
	center *float64
	rest   []float64 // of the block
	block  [leastHalved]float64
}

func (p *pairwise) sum(n int) float64 {
	if n > leastHalved {
		half := halfOf(n)
		return p.sum(half) + p.sum(n-half)
	}
	for have := 0; have < n; {
		if len(p.rest) == 0 {
			p.rest, _ = p.next()
		}
		taken := copy(p.block[have:n], p.rest)
		have, p.rest = have+taken, p.rest[taken:]
	}
	if p.center != nil {
		for i, v := range p.block[:n] {
			d := v - *p.center
			p.block[i] = d * d
		}
	}
	return Sum(p.block[:n])
}

// keys are those of the values, as integers with a sign.
func (s Stream) keys() Walk {
	return func(yield func([]int64) bool) {
		var keys [1024]int64
		for block := range s {
			for len(block) > 0 {
				part := block[:min(len(block), len(keys))]
				for i, v := range part {
					keys[i] = signed(key(v))
				}
				if !yield(keys[:len(part)]) {
					return
				}
				block = block[len(part):]
			}
		}
	}
}

// signed and unsigned keep the order of keys.
func signed(k uint64) int64   { return int64(k ^ 1<<63) }
func unsigned(k int64) uint64 { return uint64(k) ^ 1<<63 }
