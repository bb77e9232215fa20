package stats

import (
	"math"
	"slices"
)

// radixFrom is the sample size from which values are sorted by radix: the gaps
// between tokens of an hour's run are millions of values.
const radixFrom = 1 << 12

// A digit of a key, least significant first.
const (
	digitBits = 11
	digits    = (64 + digitBits - 1) / digitBits
	digitSize = 1 << digitBits
)

// sortInPlace sorts x as slices.Sort does.
func sortInPlace(x []float64) {
	if len(x) < radixFrom || slices.ContainsFunc(x, math.IsNaN) {
		slices.Sort(x)
		return
	}
	keys, spare := make([]uint64, len(x)), make([]uint64, len(x))
	counts := new([digits][digitSize]int)
	for i, v := range x {
		k := key(v)
		keys[i] = k
		for d := range counts {
			counts[d][k>>(d*digitBits)%digitSize]++
		}
	}
	for d := range counts {
		if slices.Contains(counts[d][:], len(x)) {
			continue // all have the same digit here
		}
		spread(spare, keys, uint(d*digitBits), &counts[d])
		keys, spare = spare, keys
	}
	for i, k := range keys {
		x[i] = value(k)
	}
}

// spread puts the keys in the order of one digit, with counts of each value of it;
// keys with equal digits keep their order.
func spread(to, from []uint64, shift uint, counts *[digitSize]int) {
	next := 0
	for i, n := range counts {
		counts[i], next = next, next+n
	}
	for _, k := range from {
		at := &counts[k>>shift%digitSize]
		to[*at] = k
		*at++
	}
}

// key is an integer with the same order among others as v.
func key(v float64) uint64 {
	b := math.Float64bits(v)
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

// value is the float of a key.
func value(k uint64) float64 {
	if k>>63 == 0 {
		return math.Float64frombits(^k)
	}
	return math.Float64frombits(k &^ (1 << 63))
}
