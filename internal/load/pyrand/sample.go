package pyrand

import (
	"math/bits"
	"sort"
)

// Choices is choices(range(n), k=k): k indexes below n, any of them more than once.
func (r *Random) Choices(n, k int) []int {
	picks := make([]int, k)
	for i := range picks {
		picks[i] = int(r.Float64() * float64(n))
	}
	return picks
}

// Sample is sample(range(n), k): k different indexes below n. It panics when k is not
// within 0 and n.
func (r *Random) Sample(n, k int) []int {
	if k < 0 || k > n {
		panic("pyrand: Sample of more than there is")
	}
	if n <= poolSize(k) {
		return r.sampleFromPool(n, k)
	}
	picks, taken := make([]int, k), make(map[int]bool, k)
	for i := range picks {
		pick := r.Below(n)
		for taken[pick] {
			pick = r.Below(n)
		}
		picks[i], taken[pick] = pick, true
	}
	return picks
}

// sampleFromPool takes each pick from a list of the remaining elements, and moves
// the last one into the gap.
func (r *Random) sampleFromPool(n, k int) []int {
	pool := make([]int, n)
	for i := range pool {
		pool[i] = i
	}
	picks := make([]int, k)
	for i := range picks {
		j := r.Below(n - i)
		picks[i], pool[j] = pool[j], pool[n-i-1]
	}
	return picks
}

// poolSize is the population up to which CPython samples from a list instead of
// remembering its picks: 21, plus for k > 5 the smallest power of 4 above 3k.
func poolSize(k int) int {
	if k <= 5 {
		return 21
	}
	half := (bits.Len(uint(3*k)) + 1) / 2 // 3k is not a power of 4
	return 21 + 1<<(2*half)
}

// Weights select an index by a uniform draw, like numpy's choice with p: with
// Float64 of a Legacy or a Generator it is choice(n, p=p) of that generator.
type Weights struct{ upTo []float64 }

// NewWeights takes probabilities or proportional weights; their sum must be
// positive.
func NewWeights(p []float64) Weights {
	upTo := make([]float64, len(p))
	var sum float64
	for i, w := range p {
		sum += w
		upTo[i] = sum
	}
	for i := range upTo {
		upTo[i] /= sum
	}
	return Weights{upTo}
}

// Index is the index at u, which is in [0, 1).
func (w Weights) Index(u float64) int {
	i := sort.Search(len(w.upTo), func(i int) bool { return w.upTo[i] > u })
	return min(i, len(w.upTo)-1)
}

// Zipf is numpy's 1/arange(1, n+1)**alpha, divided by its sum: the probabilities of
// n ranks.
func Zipf(n int, alpha float64) []float64 {
	p := make([]float64, n)
	for i := range p {
		p[i] = 1 / pow(float64(i+1), alpha)
	}
	total := pairwise(p)
	for i := range p {
		p[i] /= total
	}
	return p
}

// pairwise is numpy's sum of float64: halves are summed separately, down to blocks
// of 128, and those in eight lanes.
func pairwise(a []float64) float64 {
	const lanes, block = 8, 128
	switch {
	case len(a) < lanes:
		return along(0, a)
	case len(a) > block:
		half := len(a) / 2
		half -= half % lanes
		return pairwise(a[:half]) + pairwise(a[half:])
	}
	var r [lanes]float64
	rest := a
	for ; len(rest) >= lanes; rest = rest[lanes:] {
		for i := range r {
			r[i] += rest[i]
		}
	}
	return along(((r[0]+r[1])+(r[2]+r[3]))+((r[4]+r[5])+(r[6]+r[7])), rest)
}

func along(sum float64, a []float64) float64 {
	for _, v := range a {
		sum += v
	}
	return sum
}

// A Random is CPython's random.Random: MT19937 seeded from an integer.
//
// The rest of Python's module follows from two methods. random.choice is the
// element at Below(length), random.randint(a, b) is a + Below(b-a+1), each draw
// of random.choices without weights is the element at int(Float64()·length),
// and random.uniform(a, b) is a + (b-a)·Float64().
type Random struct {
	mt mt19937
}

// NewRandom is random.Random(seed). As in Python, the sign of seed is ignored.
func NewRandom(seed int64) *Random {
	s := uint64(seed)
	if seed < 0 {
		s = -s
	}
	key := []uint32{uint32(s), uint32(s >> 32)}
	if key[1] == 0 {
		key = key[:1]
	}
	r := new(Random)
	r.mt.seedArray(key)
	return r
}

// Float64 is random(): uniform in [0, 1).
func (r *Random) Float64() float64 { return r.mt.float64() }

// Bits is getrandbits(k) for k from 0 to 64.
func (r *Random) Bits(k int) uint64 {
	switch {
	case k == 0:
		return 0
	case k <= 32:
		return uint64(r.mt.uint32() >> (32 - k))
	}
	low := uint64(r.mt.uint32())
	return low | uint64(r.mt.uint32()>>(64-k))<<32
}

// Below is randrange(n): uniform in [0, n). It draws the bits of n until they are
// below n, even when n is 1. It panics when n <= 0.
func (r *Random) Below(n int) int {
	if n <= 0 {
		panic("pyrand: Below of a number that is not positive")
	}
	k := bits.Len(uint(n))
	for {
		if v := r.Bits(k); v < uint64(n) {
			return int(v)
		}
	}
}

// Shuffle is shuffle of n elements; swap exchanges two of them.
func (r *Random) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, r.Below(i+1))
	}
}
