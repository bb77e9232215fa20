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

func BenchmarkEffectiveSize(b *testing.B) {
	x := recipe(100_000, 0.9)
	for b.Loop() {
		EffectiveSize(x)
	}
}
