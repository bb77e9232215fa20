package pyrand

import "math/bits"

// seedPool is the size in words of a SeedSequence's entropy pool.
const seedPool = 4

// A seedHash scrambles words with a multiplier that changes at every word.
type seedHash struct {
	state, factor uint32
}

func (h *seedHash) word(v uint32) uint32 {
	v ^= h.state
	h.state *= h.factor
	v *= h.state
	return v ^ v>>16
}

func seedMix(x, y uint32) uint32 {
	r := 0xca01f9dd*x - 0x4973f715*y
	return r ^ r>>16
}

// seedSequence is numpy.random.SeedSequence(seed).generate_state(4, uint64),
// after O'Neill's "Developing a seed_seq alternative" (2015). A seed has at
// most two words, fewer than the pool, so no entropy is left to mix in after
// the pool is filled.
func seedSequence(seed uint64) [4]uint64 {
	in := seedHash{0x43b0d7e5, 0x931e8875}
	pool := [seedPool]uint32{uint32(seed), uint32(seed >> 32)}
	for i := range pool {
		pool[i] = in.word(pool[i])
	}
	for src := range pool {
		for dst := range pool {
			if src != dst {
				pool[dst] = seedMix(pool[dst], in.word(pool[src]))
			}
		}
	}
	out := seedHash{0x8b51f9dd, 0x58f38ded}
	var words [4]uint64
	for i := range words {
		low := out.word(pool[2*i%seedPool])
		high := out.word(pool[(2*i+1)%seedPool])
		words[i] = uint64(high)<<32 | uint64(low)
	}
	return words
}

// A pcg64 is PCG XSL-RR 128/64 with its own stream: a 128-bit linear congruential
// generator that xors and rotates its halves on output (O'Neill, "PCG: A Family of
// Simple Fast Space-Efficient Statistically Good Algorithms for Random Number
// Generation", 2014).
type pcg64 struct {
	high, low       uint64
	incHigh, incLow uint64
}

const (
	pcgMulHigh = 2549297995355413924
	pcgMulLow  = 4865540595714422341
)

func newPCG64(seed uint64) pcg64 {
	w := seedSequence(seed)
	p := pcg64{incHigh: w[2]<<1 | w[3]>>63, incLow: w[3]<<1 | 1}
	p.step()
	var carry uint64
	p.low, carry = bits.Add64(p.low, w[1], 0)
	p.high, _ = bits.Add64(p.high, w[0], carry)
	p.step()
	return p
}

// step is state = state·multiplier + increment, modulo 2^128.
func (p *pcg64) step() {
	high, low := bits.Mul64(p.low, pcgMulLow)
	high += p.high*pcgMulLow + p.low*pcgMulHigh
	var carry uint64
	p.low, carry = bits.Add64(low, p.incLow, 0)
	p.high, _ = bits.Add64(high, p.incHigh, carry)
}

func (p *pcg64) uint64() uint64 {
	p.step()
	return bits.RotateLeft64(p.high^p.low, -int(p.high>>58))
}
