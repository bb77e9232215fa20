package vllm

import (
	"encoding/binary"
	"math/bits"
)

// pythonHash is hash(s) of an ASCII text in CPython 3.11 or later with
// PYTHONHASHSEED=0: SipHash-1-3 (Aumasson and Bernstein, 2012) under a key of zeros.
func pythonHash(s string) uint64 {
	if s == "" {
		return 0
	}
	v := sipState{0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573}
	b := []byte(s)
	last := uint64(len(b)) << 56
	for ; len(b) >= 8; b = b[8:] {
		v.take(binary.LittleEndian.Uint64(b))
	}
	for i, c := range b {
		last |= uint64(c) << (8 * i)
	}
	v.take(last)
	v[2] ^= 0xff
	for range 3 {
		v.round()
	}
	h := v[0] ^ v[1] ^ v[2] ^ v[3]
	if h == ^uint64(0) { // -1 means an error in there
		h--
	}
	return h
}

type sipState [4]uint64

func (v *sipState) take(m uint64) {
	v[3] ^= m
	v.round()
	v[0] ^= m
}

func (v *sipState) round() {
	v[0] += v[1]
	v[2] += v[3]
	v[1] = bits.RotateLeft64(v[1], 13) ^ v[0]
	v[3] = bits.RotateLeft64(v[3], 16) ^ v[2]
	v[0] = bits.RotateLeft64(v[0], 32)
	v[2] += v[1]
	v[0] += v[3]
	v[1] = bits.RotateLeft64(v[1], 17) ^ v[2]
	v[3] = bits.RotateLeft64(v[3], 21) ^ v[0]
	v[2] = bits.RotateLeft64(v[2], 32)
}
