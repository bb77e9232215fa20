package pyrand

import "testing"

func BenchmarkLegacyExponential(b *testing.B) {
	r := NewLegacy(0)
	for b.Loop() {
		r.Exponential(1)
	}
}

func BenchmarkLegacyGamma(b *testing.B) {
	r := NewLegacy(0)
	for b.Loop() {
		r.Gamma(0.5, 1)
	}
}

func BenchmarkLegacyRandint(b *testing.B) {
	r := NewLegacy(0)
	for b.Loop() {
		r.Randint(0, 50257)
	}
}

func BenchmarkGeneratorIntegers(b *testing.B) {
	g := NewGenerator(0)
	for b.Loop() {
		g.Integers(0, 151643)
	}
}

func BenchmarkGeneratorUint8s(b *testing.B) {
	g := NewGenerator(0)
	dst := make([]byte, 256*256*3)
	b.SetBytes(int64(len(dst)))
	for b.Loop() {
		g.Uint8s(dst)
	}
}

func BenchmarkRandomBelow(b *testing.B) {
	r := NewRandom(0)
	for b.Loop() {
		r.Below(50257)
	}
}
