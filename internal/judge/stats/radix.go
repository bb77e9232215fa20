package stats

import (
	"math"
	"math/bits"
	"slices"
)

// radixFrom is the sample size from which values are sorted by radix: the gaps
// between tokens of an hour's run are millions of values.
const radixFrom = 1 << 12

// A digit of a key.
const (
	digitBits = 11
	digitSize = 1 << digitBits
)

// besideFrom is the size from which parts of a sample are sorted by radix, and partSize that into
// which it is divided about.
const (
	lsdFrom  = 1 << 9
	partSize = 1 << 13
)

// spareSize is the number of values that are sorted out of place, in two buffers that fit the
// processor's cache. Larger samples are divided in place first.
const spareSize = 1 << 15

// sortInPlace sorts x as slices.Sort does, with half a megabyte of extra memory.
func sortInPlace(x []float64) {
	if len(x) < radixFrom {
		slices.Sort(x)
		return
	}
	undefined := 0 // they come first
	for i, v := range x {
		if math.IsNaN(v) {
			x[i], x[undefined] = x[undefined], v
			undefined++
		}
	}
	new(radix).sort(x[undefined:])
}

// A radix sorts values that are numbers.
type radix struct{ keys, spare [spareSize]uint64 }

// sort divides x by the leading digit of those bits in which its keys differ, and each part
// by the next, until a part fits into the buffers.
func (r *radix) sort(x []float64) {
	if len(x) < lsdFrom {
		slices.Sort(x)
		return
	}
	least, most := uint64(math.MaxUint64), uint64(0)
	for _, v := range x {
		k := key(v)
		least, most = min(least, k), max(most, k)
	}
	differ := bits.Len64(least ^ most)
	switch {
	case differ == 0:
		return
	case len(x) <= spareSize:
		r.sortLSD(x, differ)
		return
	}
	from, parts := 0, min(digitBits, bits.Len(uint(len(x)/partSize)))
	for _, end := range divide(x, uint(max(0, differ-parts))) {
		r.sort(x[from:end])
		from = end
	}
}

// divide orders x by one digit of its keys, which agree in all higher bits, and returns where the
// values of each digit end (American flag sort: McIlroy, Bostic and McIlroy 1993).
func divide(x []float64, shift uint) (ends [digitSize]int) {
	digit := func(v float64) uint64 { return key(v) >> shift % digitSize }
	var next [digitSize]int
	for _, v := range x {
		ends[digit(v)]++
	}
	sum := 0
	for d, n := range ends {
		next[d] = sum
		sum += n
		ends[d] = sum
	}
	for d := range ends {
		for next[d] < ends[d] {
			v := x[next[d]]
			for to := digit(v); to != uint64(d); to = digit(v) {
				v, x[next[to]] = x[next[to]], v
				next[to]++
			}
			x[next[d]] = v
			next[d]++
		}
	}
	return ends
}

// sortLSD sorts values with keys that differ only in their last bits, the least significant
// digit first.
func (r *radix) sortLSD(x []float64, differ int) {
	keys, spare := r.keys[:len(x)], r.spare[:len(x)]
	for i, v := range x {
		keys[i] = key(v)
	}
	for shift := 0; shift < differ; shift += digitBits {
		spread(spare, keys, uint(shift))
		keys, spare = spare, keys
	}
	for i, k := range keys {
		x[i] = value(k)
	}
}

// spread puts the keys in the order of one digit; keys with equal digits keep their order.
func spread(to, from []uint64, shift uint) {
	var at [digitSize]int
	for _, k := range from {
		at[k>>shift%digitSize]++
	}
	next := 0
	for i, n := range at {
		at[i], next = next, next+n
	}
	for _, k := range from {
		d := k >> shift % digitSize
		to[at[d]] = k
		at[d]++
	}
}

// key is an integer with the same order among others as v. Those of NaN are one, below all.
func key(v float64) uint64 {
	b := math.Float64bits(v)
	switch {
	case v != v:
		return 0
	case b>>63 == 1:
		return ^b
	}
	return b | 1<<63
}

func value(k uint64) float64 {
	if k>>63 == 0 {
		return math.Float64frombits(^k)
	}
	return math.Float64frombits(k &^ (1 << 63))
}
