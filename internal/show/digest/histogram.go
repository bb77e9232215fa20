package digest

import (
	"math"
	"slices"
)

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

// add counts a value; what is no number is left out.
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
