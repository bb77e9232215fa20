package view

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
)

// A latency is a value for each request, in seconds; NaN: it has none.
type latency struct {
	column column[float32]
	bins   histogram
	total  float64
	sorted []float32 // of those that are numbers; nil: not sorted since one was added
}

func (l *latency) add(v float64) {
	l.column.add(float32(v))
	l.bins.add(float32(v))
	if !math.IsNaN(v) {
		l.total += v
	}
	l.sorted = nil
}

// quick is how many values are sorted for every question, while more come.
const quick = 50_000

// quantiles are the values at shares of the sample, which ascend. They are those of bins of a large
// sample that grows.
func (l *latency) quantiles(shares []float64, whole bool) (values []float64, approximate bool) {
	if !whole && l.bins.n > quick {
		return l.bins.quantiles(shares), true
	}
	if l.sorted == nil {
		l.sorted = l.ascending()
	}
	return quantiles(l.sorted, shares), false
}

// ascending are the values that are numbers, sorted.
func (l *latency) ascending() []float32 {
	all := make([]float32, 0, l.bins.n)
	for _, b := range l.column.blocks {
		for _, v := range b {
			if v == v {
				all = append(all, v)
			}
		}
	}
	slices.Sort(all)
	return all
}

// quantiles are interpolated, as those of package stats.
func quantiles(sorted []float32, shares []float64) (values []float64) {
	for _, share := range shares {
		at := share * float64(len(sorted)-1)
		i := int(at)
		v := float64(sorted[i])
		if i+1 < len(sorted) {
			v += (at - float64(i)) * (float64(sorted[i+1]) - v)
		}
		values = append(values, v)
	}
	return values
}

// distribution is the sample in figures, as far as they are shown.
func distribution(n int, total float64, percents []float64, quantiles func(shares []float64) []float64) metrics.Distribution {
	if n == 0 {
		return metrics.Distribution{}
	}
	d := metrics.Distribution{N: n, Mean: total / float64(n), Median: quantiles([]float64{0.5})[0]}
	for _, p := range percents {
		d.Percentiles = append(d.Percentiles, metrics.Percentile{P: p, Value: quantiles([]float64{p / 100})[0]})
	}
	return d
}

// A histogram counts latencies in bins that are at most 1/128 wide, relative to their value: those
// of float32 numbers that agree in all but the last 16 bits. Its zero value is empty.
type histogram struct {
	shift  uint // more bits that are left out: of 1 bins are twice as wide
	low    int  // number of the first bin
	counts []uint32
	n      int
}

func (h *histogram) bin(v float32) int { return int(math.Float32bits(max(0, v)) >> (16 + h.shift)) }

// edge is the lower end of a bin.
func (h *histogram) edge(bin int) float64 {
	return float64(math.Float32frombits(uint32(bin) << (16 + h.shift)))
}

// middle is the value that stands for a bin.
func (h *histogram) middle(bin int) float64 {
	if bin == 0 {
		return 0
	}
	return (h.edge(bin) + h.edge(bin+1)) / 2
}

// add counts a value; NaN is left out.
func (h *histogram) add(v float32) {
	if v == v && v <= math.MaxFloat32 {
		h.count(h.bin(v), 1)
	}
}

func (h *histogram) count(bin int, times uint32) {
	switch {
	case len(h.counts) == 0:
		h.low, h.counts = bin, make([]uint32, 1, 64)
	case bin < h.low:
		more := make([]uint32, h.low-bin+len(h.counts), 2*len(h.counts)+h.low-bin)
		copy(more[h.low-bin:], h.counts)
		h.low, h.counts = bin, more
	case bin >= h.low+len(h.counts):
		h.counts = append(h.counts, make([]uint32, bin-h.low-len(h.counts)+1)...)
	}
	h.counts[bin-h.low] += times
	h.n += int(times)
}

// join adds what another histogram with bins of the same width counted.
func (h *histogram) join(o *histogram) {
	for i, times := range o.counts {
		if times > 0 {
			h.count(o.low+i, times)
		}
	}
}

// quantiles are the values at shares of the sample from 0 to 1, between those of two bins where they
// lie between two values. There must be a value.
func (h *histogram) quantiles(shares []float64) (values []float64) {
	below := make([]int, len(h.counts)) // values up to each bin
	n := 0
	for i, times := range h.counts {
		n += int(times)
		below[i] = n
	}
	at := func(rank int) float64 {
		i, _ := slices.BinarySearch(below, rank+1)
		return h.middle(h.low + i)
	}
	for _, share := range shares {
		place := share * float64(n-1)
		rank := int(place)
		v := at(rank)
		if rank+1 < n {
			v += (place - float64(rank)) * (at(rank+1) - v)
		}
		values = append(values, v)
	}
	return values
}
