package answers

import (
	"math"
	"math/rand/v2"
)

// mostExchanges is up to how many arrangements all are counted; of more some are drawn.
const (
	mostExchanges  = 100_000
	drawnExchanges = 50_000
)

// exchange is the share of the arrangements with a sum at least as large as the observed one. Each block has as many
// values as ways to exchange its legs, the observed one first.
func exchange(blocks [][]float64) float64 {
	observed, size, total := 0.0, 0.0, 1.0
	for _, ways := range blocks {
		observed += ways[0]
		total *= float64(len(ways))
		for _, v := range ways {
			size = max(size, math.Abs(v))
		}
	}
	least := observed - 1e-10*max(size, 1)
	if total > mostExchanges {
		return drawn(blocks, least)
	}
	return float64(count(blocks, least)) / total
}

// count is how many arrangements have at least a sum.
func count(blocks [][]float64, least float64) (n int) {
	if len(blocks) == 0 {
		if least <= 0 {
			return 1
		}
		return 0
	}
	for _, v := range blocks[0] {
		n += count(blocks[1:], least-v)
	}
	return n
}

// drawn estimates the share from a sample that has the observed one.
func drawn(blocks [][]float64, least float64) float64 {
	dice, n := rand.New(rand.NewPCG(1, uint64(len(blocks)))), 1
	for range drawnExchanges {
		sum := 0.0
		for _, ways := range blocks {
			sum += ways[dice.IntN(len(ways))]
		}
		if sum >= least {
			n++
		}
	}
	return float64(n) / (drawnExchanges + 1)
}
