package pyrand

import (
	"math"
	"math/bits"
)

// Products are converted to float64 wherever they could be part of a sum: otherwise
// Go may fuse the two, across statements and inlined calls, on machines with that
// instruction.

// A Legacy is numpy's global generator after numpy.random.seed, or a
// numpy.random.RandomState: MT19937 and the algorithms of numpy 1.16, which
// later versions keep unchanged.
type Legacy struct {
	mt      mt19937
	spare   float64 // the second variate of the last polar pair
	isSpare bool
}

// NewLegacy is RandomState(seed).
func NewLegacy(seed uint32) *Legacy {
	r := new(Legacy)
	r.mt.seed(seed)
	return r
}

// Float64 is random_sample(): uniform in [0, 1).
func (r *Legacy) Float64() float64 { return r.mt.float64() }

// Exponential is exponential(scale); scale is the mean.
func (r *Legacy) Exponential(scale float64) float64 { return float64(scale * r.exponential()) }

func (r *Legacy) exponential() float64 { return -log(1 - r.Float64()) }

// Normal is standard_normal(): Marsaglia's polar method, which makes two variates
// at a time and keeps the second for the next call.
func (r *Legacy) Normal() float64 {
	if r.isSpare {
		r.isSpare = false
		return r.spare
	}
	for {
		x := 2*r.Float64() - 1
		y := 2*r.Float64() - 1
		s := float64(x*x) + float64(y*y)
		if s < 1 && s != 0 {
			f := math.Sqrt(-2 * log(s) / s)
			r.spare, r.isSpare = float64(f*x), true
			return float64(f * y)
		}
	}
}

// Gamma is gamma(shape, scale), with mean shape·scale; shape must not be
// negative.
func (r *Legacy) Gamma(shape, scale float64) float64 {
	switch {
	case shape == 0:
		return 0
	case shape < 1:
		return float64(scale * r.gammaBelow1(shape))
	case shape == 1:
		return r.Exponential(scale)
	}
	return float64(scale * r.gammaAbove1(shape))
}

// gammaBelow1 is the rejection method GS of Ahrens and Dieter (1974).
func (r *Legacy) gammaBelow1(shape float64) float64 {
	for {
		u, v := r.Float64(), r.exponential()
		if u <= 1-shape {
			if x := pow(u, 1/shape); x <= v {
				return x
			}
			continue
		}
		y := -log((1 - u) / shape)
		if x := pow(1-shape+float64(shape*y), 1/shape); x <= v+y {
			return x
		}
	}
}

// gammaAbove1 is the method of Marsaglia and Tsang (2000).
func (r *Legacy) gammaAbove1(shape float64) float64 {
	b := shape - 1.0/3
	c := 1 / math.Sqrt(9*b)
	for {
		x := r.Normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		u := r.Float64()
		if u < 1-float64(0.0331*(x*x)*(x*x)) ||
			log(u) < float64(0.5*x*x)+float64(b*(1-v+log(v))) {
			return float64(b * v)
		}
	}
}

// Randint is randint(lo, hi) in numpy's default int64: uniform in [lo, hi). A
// range of one value draws nothing. It panics when hi <= lo.
func (r *Legacy) Randint(lo, hi int64) int64 {
	if hi <= lo {
		panic("pyrand: Randint over an empty range")
	}
	return lo + int64(upTo(&r.mt, uint64(hi)-uint64(lo)-1))
}

// Shuffle is shuffle of n elements; swap exchanges two of them.
func (r *Legacy) Shuffle(n int, swap func(i, j int)) { shuffle(&r.mt, n, swap) }

// A bitSource draws random bits.
type bitSource interface {
	uint32() uint32
	uint64() uint64
}

func shuffle(src bitSource, n int, swap func(i, j int)) {
	for i := n - 1; i > 0; i-- {
		swap(i, int(upTo(src, uint64(i))))
	}
}

// upTo draws uniformly from [0, limit]: as many low bits as limit has, repeated
// until they do not exceed it.
func upTo(src bitSource, limit uint64) uint64 {
	mask := uint64(1)<<bits.Len64(limit) - 1
	for limit > 0 {
		v := uint64(0)
		if limit <= math.MaxUint32 {
			v = uint64(src.uint32())
		} else {
			v = src.uint64()
		}
		if v &= mask; v <= limit {
			return v
		}
	}
	return 0
}

// Shuffle is shuffle of a list of n elements; swap exchanges two of them. numpy uses the method of
// Legacy for it.
func (g *Generator) Shuffle(n int, swap func(i, j int)) { shuffle(g, n, swap) }

func (g *Generator) uint64() uint64 { return g.pcg.uint64() }

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
