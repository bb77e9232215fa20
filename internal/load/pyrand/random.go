package pyrand

import "math/bits"

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
