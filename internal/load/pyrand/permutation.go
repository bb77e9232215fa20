package pyrand

import (
	"math"
	"math/bits"
)

// Shuffle is shuffle of a list of n elements; swap exchanges two of them.
func (g *Generator) Shuffle(n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(g.upTo(uint64(i))))
	}
}

// upTo draws from [0, limit] by the old method, that of Legacy, which numpy kept
// for shuffling.
func (g *Generator) upTo(limit uint64) uint64 {
	mask := uint64(1)<<bits.Len64(limit) - 1
	for {
		v := uint64(0)
		if limit <= math.MaxUint32 {
			v = uint64(g.uint32())
		} else {
			v = g.pcg.uint64()
		}
		if v &= mask; v <= limit {
			return v
		}
	}
}

// Permutation is permutation(n): 0..n-1 in random order.
func (g *Generator) Permutation(n int) []int { return permuted(n, g.Shuffle) }

// Permutation is permutation(n): 0..n-1 in random order.
func (r *Legacy) Permutation(n int) []int { return permuted(n, r.Shuffle) }

// Choice is choice(n, size=k): k indexes below n, each at most once unless replace.
// pandas uses it to draw rows: DataFrame.sample(k, random_state=seed). It panics
// when k > n without replace.
func (r *Legacy) Choice(n, k int, replace bool) []int {
	if !replace {
		return r.Permutation(n)[:k]
	}
	out := make([]int, k)
	for i := range out {
		out[i] = int(r.Randint(0, int64(n)))
	}
	return out
}

func permuted(n int, shuffle func(n int, swap func(i, j int))) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	shuffle(n, func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p
}
