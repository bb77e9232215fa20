package pyrand

import (
	"math"
	"math/bits"
)

// A Generator is numpy.random.default_rng: SeedSequence, PCG64 and the bounded
// integers of numpy 1.17 and later.
type Generator struct {
	pcg    pcg64
	half   uint32 // the upper half of a 64-bit output, for the next 32-bit draw
	isHalf bool
}

// NewGenerator is default_rng(seed).
func NewGenerator(seed uint64) *Generator { return &Generator{pcg: newPCG64(seed)} }

// uint32 returns 64-bit outputs in halves, the low one first. The high half serves the next 32-bit
// draw, across any 64-bit draws in between.
func (g *Generator) uint32() uint32 {
	if g.isHalf {
		g.isHalf = false
		return g.half
	}
	v := g.pcg.uint64()
	g.half, g.isHalf = uint32(v>>32), true
	return uint32(v)
}

// Float64 is random(): uniform in [0, 1).
func (g *Generator) Float64() float64 { return float64(g.pcg.uint64()>>11) / (1 << 53) }

// Integers is integers(lo, hi) in numpy's default int64: uniform in [lo, hi). A
// range of one value draws nothing. It panics when hi <= lo.
func (g *Generator) Integers(lo, hi int64) int64 {
	if hi <= lo {
		panic("pyrand: Integers over an empty range")
	}
	limit := uint64(hi) - uint64(lo) - 1
	switch {
	case limit == 0:
		return lo
	case limit < math.MaxUint32:
		return lo + int64(g.below32(uint32(limit)+1))
	case limit == math.MaxUint32:
		return lo + int64(g.uint32())
	}
	return lo + int64(g.below64(limit+1))
}

// FillIntegers is integers(lo, hi, size=len(dst)).
func (g *Generator) FillIntegers(dst []int64, lo, hi int64) {
	for i := range dst {
		dst[i] = g.Integers(lo, hi)
	}
}

// below32 is Lemire's multiply-shift ("Fast Random Integer Generation in an
// Interval", 2019): the upper half of draw·n is uniform in [0, n) after rejecting
// the few draws with a lower half below 2^32 mod n.
func (g *Generator) below32(n uint32) uint32 {
	m := uint64(g.uint32()) * uint64(n)
	if uint32(m) < n {
		for reject := -n % n; uint32(m) < reject; {
			m = uint64(g.uint32()) * uint64(n)
		}
	}
	return uint32(m >> 32)
}

// below64 is below32 with twice the width.
func (g *Generator) below64(n uint64) uint64 {
	high, low := bits.Mul64(g.pcg.uint64(), n)
	if low < n {
		for reject := -n % n; low < reject; {
			high, low = bits.Mul64(g.pcg.uint64(), n)
		}
	}
	return high
}

// Uint8s is integers(0, 256, size=len(dst), dtype=uint8): four bytes from each
// 32-bit draw, the low one first. Leftover bytes are dropped, so two calls differ
// from one call of the total length.
func (g *Generator) Uint8s(dst []byte) {
	var word uint32
	for i := range dst {
		if i%4 == 0 {
			word = g.uint32()
		}
		dst[i] = byte(word)
		word >>= 8
	}
}

// Choice is choice(len(p), p=p): an index drawn with the given probabilities. They
// are scaled by their sum, which must be positive; it is not checked.
func (g *Generator) Choice(p []float64) int {
	var total float64
	for _, w := range p {
		total += w
	}
	u := g.Float64()
	var sum float64
	for i, w := range p {
		sum += w
		if sum/total > u {
			return i
		}
	}
	return len(p) - 1
}
