package stats

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Fifteen metrics, as in a comparison of two variants.
func BenchmarkMaxT(b *testing.B) {
	for _, n := range []int{5, 10} {
		b.Run(fmt.Sprintf("%dv%d", n, n), func(b *testing.B) {
			dice := rand.New(rand.NewPCG(1, 2))
			x, y := correlated(dice, noises[0], 15, n), correlated(dice, noises[0], 15, n)
			for b.Loop() {
				MaxT(x, y)
			}
		})
	}
}

func BenchmarkPermutationInterval(b *testing.B) {
	dice := rand.New(rand.NewPCG(1, 2))
	x, y := noises[0].runs(dice, 10), noises[0].runs(dice, 10)
	for b.Loop() {
		PermutationInterval(x, y, 0.95)
	}
}

// The mean of a thousand requests.
func BenchmarkBootstrap(b *testing.B) {
	dice := rand.New(rand.NewPCG(1, 2))
	x := noises[1].runs(dice, 1000)
	mean := func(index []int) float64 {
		s := 0.0
		for _, i := range index {
			s += x[i]
		}
		return s / float64(len(index))
	}
	for _, block := range []int{1, 20} {
		b.Run(fmt.Sprintf("block %d", block), func(b *testing.B) {
			for b.Loop() {
				BootstrapPercentile(len(x), mean, Resampling{Block: block})
			}
		})
	}
	b.Run("BCa", func(b *testing.B) {
		for b.Loop() {
			BootstrapBCa(len(x), mean, Resampling{})
		}
	})
}

func BenchmarkEffectiveSize(b *testing.B) {
	x := recipe(100_000, 0.9)
	for b.Loop() {
		EffectiveSize(x)
	}
}
