package design

import (
	"math"
	"math/bits"

	"github.com/pitot-bench/pitot/internal/load/arrival"
)

// Order is the order of the variants in a block, which counts from 1: one leg for each
// number.
//
// Two variants run as ABBA or BAAB, so that a drift that is linear over the block weighs on both alike; which of
// the two is drawn, one of each in every two blocks, so that no variant is always in the middle. More variants run
// once in a block, in the order of a row of a Williams square: over all rows each variant is in each place equally
// often, and follows each other one equally often, so that neither a drift nor traces of the variant before (heat,
// caches) affect one more than another. The rows come in random order, each once before any comes again.
//
// E. J. Williams, "Experimental designs balanced for the estimation of residual effects of
// treatments", Australian Journal of Scientific Research A 2, 1949.
func Order(variants int, d Design, block int) []int {
	if variants == 2 {
		return abba(d.Seed, "experiment.order", block, 0, 1)
	}
	rows := williams(variants)
	round := (block - 1) / len(rows)
	turn := permutation(len(rows), newDraw(d.Seed, "experiment.rows", round))
	return rows[turn[(block-1)%len(rows)]]
}

// Confirmation is the order of two variants in a block of the confirmation of a choice. These blocks count from 1
// too, and are drawn independently of the others.
func Confirmation(d Design, baseline, best, block int) []int {
	return abba(d.Seed, "experiment.confirmation", block, baseline, best)
}

// Ordinals number the legs of each variant in a block from 1: of ABBA 1, 1, 2, 2.
func Ordinals(order []int) []int {
	seen := map[int]int{}
	out := make([]int, len(order))
	for i, v := range order {
		seen[v]++
		out[i] = seen[v]
	}
	return out
}

// abba is ABBA or BAAB. Of each two blocks the first is drawn and the second is the other.
func abba(seed uint64, purpose string, block, a, b int) []int {
	swap := newDraw(seed, purpose, (block-1)/2)(2) == 1
	if (block-1)%2 == 1 {
		swap = !swap
	}
	if swap {
		a, b = b, a
	}
	return []int{a, b, b, a}
}

// williams are the rows of a Williams square. The first is 0, 1, n-1, 2, n-2 ...: its neighbours differ by each
// number modulo n once; each further one adds 1. If n is odd, they balance only together with the same rows
// backwards.
func williams(n int) [][]int {
	var rows [][]int
	for shift := range n {
		row := make([]int, n)
		for i := range row {
			step := (i + 1) / 2
			if i%2 == 0 {
				step = n - step
			}
			row[i] = (step + shift) % n
		}
		rows = append(rows, row)
	}
	if n%2 == 1 {
		for _, row := range rows[:n] {
			back := make([]int, n)
			for i, v := range row {
				back[n-1-i] = v
			}
			rows = append(rows, back)
		}
	}
	return rows
}

// A draw is a random number below n.
type draw func(n int) int

// newDraw is the numbers for one purpose: the same on every machine.
func newDraw(seed uint64, purpose string, nth int) draw {
	dice := arrival.Dice(seed, purpose, uint64(nth))
	return func(n int) int {
		high, _ := bits.Mul64(dice.Uint64(), uint64(n)) // biased by less than n/2^64
		return int(high)
	}
}

// permutation is the numbers below n in random order: Fisher and Yates.
func permutation(n int, below draw) []int {
	p := make([]int, n)
	for i := range p {
		j := below(i + 1)
		p[i], p[j] = p[j], i
	}
	return p
}

// perBlock is more than the runs of a variant in a block: 2 legs of at most maxWorkloads
// workloads, each at most maxRuns times. So are manyPerBlock where many legs were made again.
const (
	perBlock     = 1 << 12
	manyPerBlock = 1 << 22
)

// weyl is odd, and so all its multiples below 2^32 differ. It is 2^32 divided by the golden ratio, which spreads
// its multiples most evenly.
const weyl = 0x9e3779b1

// LoadSeed is the seed of a load: of the repeat-th run of a variant in a block, both counted
// from 1. It is below 2^32, as numpy wants it.
//
// Runs of one variant never share a seed, in no block and no leg: a cache of prompts must not have seen the prompts
// of a run. Runs of different variants with the same block and repeat do share one, so that compared runs meet the
// same prompts and arrivals.
func LoadSeed(seed uint64, block, repeat int) uint64 {
	nth := uint64(block-1)*perBlock + uint64(repeat-1)
	if repeat > perBlock {
		nth = uint64(block)*manyPerBlock + uint64(repeat-1)
	}
	return (seed + weyl*nth) & math.MaxUint32
}

// Repeat numbers the runs of a variant in a block, for LoadSeed: by its leg in the block (see Ordinals), or the
// requests that it draws, the workload and the run of the workload in the leg, all counted from 1. Workloads have different seeds, since two of
// them may draw from one dataset.
func (e *Experiment) Repeat(leg, workload, run int) int {
	return ((leg-1)*len(e.Workloads)+workload-1)*max(1, e.Design.Runs) + run
}
