package arrival

import (
	"hash/fnv"
	"math/rand/v2"
)

// Dice returns the generator for draw number n of one purpose: equal arguments give
// equal draws, and any difference gives unrelated ones.
func Dice(seed uint64, purpose string, n uint64) rand.PCG {
	h := fnv.New64a()
	_, _ = h.Write([]byte(purpose)) // a hash never fails
	a := Scramble(seed ^ h.Sum64())
	return *rand.NewPCG(a, Scramble(a+n))
}

// Scramble spreads neighbouring numbers over all of them: the SplitMix64 step (Steele,
// Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
func Scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Unit converts a draw to a number in [0,1).
func Unit(u uint64) float64 { return float64(u>>11) / (1 << 53) }
