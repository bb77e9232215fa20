package design

import (
	"math"
	"slices"
	"testing"
)

// Each variant has half of the legs of a block, at places that balance a linear drift, and
// of each two blocks one begins with the first variant.
func TestTwoVariantsAreBalanced(t *testing.T) {
	first := 0
	for seed := range uint64(200) {
		d := Design{Seed: seed}
		for block := 1; block <= 8; block += 2 {
			one, two := Order(2, d, block), Order(2, d, block+1)
			for _, order := range [][]int{one, two} {
				if !slices.Equal(order, []int{0, 1, 1, 0}) && !slices.Equal(order, []int{1, 0, 0, 1}) {
					t.Fatalf("seed %d: %v", seed, order)
				}
			}
			if one[0] == two[0] {
				t.Fatalf("seed %d: blocks %d and %d both begin with %d", seed, block, block+1, one[0])
			}
			first += one[0]
		}
	}
	if first < 330 || first > 470 { // of 800: 5 standard deviations of 14
		t.Errorf("the second variant begins %d of 800 pairs of blocks", first)
	}
}

// Over the rows of a square each variant has each place equally often and follows each other
// one equally often; rows repeat only after all were used.
func TestMoreVariantsAreBalanced(t *testing.T) {
	for n := 3; n <= 8; n++ {
		rows := n * (1 + n%2)
		for _, d := range []Design{{Seed: 1}, {Seed: 99, Restart: Never}} {
			for round := range 2 {
				places, follows := map[[2]int]int{}, map[[2]int]int{}
				for block := round*rows + 1; block <= (round+1)*rows; block++ {
					order := Order(n, d, block)
					if sorted := slices.Sorted(slices.Values(order)); len(order) != n || sorted[0] != 0 || sorted[n-1] != n-1 || len(slices.Compact(sorted)) != n {
						t.Fatalf("%d variants, block %d: %v", n, block, order)
					}
					for i, v := range order {
						places[[2]int{v, i}]++
						if i > 0 {
							follows[[2]int{order[i-1], v}]++
						}
					}
				}
				balanced(t, n, "places", places, n*n, rows/n)
				balanced(t, n, "followers", follows, n*(n-1), rows/n)
			}
		}
	}
}

// balanced requires that there are so many pairs, each so often.
func balanced(t *testing.T, n int, what string, count map[[2]int]int, pairs, each int) {
	t.Helper()
	if len(count) != pairs {
		t.Errorf("%d variants: %d %s, want %d", n, len(count), what, pairs)
	}
	for pair, times := range count {
		if times != each {
			t.Errorf("%d variants: %s %v %d times, want %d", n, what, pair, times, each)
		}
	}
}

// The orders of an experiment that is repeated, on any machine, are these.
func TestOrdersAreReproducible(t *testing.T) {
	var got [][]int
	for block := 1; block <= 4; block++ {
		got = append(got, Order(2, Design{Seed: 7}, block), Order(3, Design{Seed: 7}, block), Confirmation(Design{Seed: 7}, 0, 4, block))
	}
	want := [][]int{
		{0, 1, 1, 0},
		{2, 0, 1},
		{4, 0, 0, 4},
		{1, 0, 0, 1},
		{2, 1, 0},
		{0, 4, 4, 0},
		{1, 0, 0, 1},
		{0, 1, 2},
		{0, 4, 4, 0},
		{0, 1, 1, 0},
		{1, 2, 0},
		{4, 0, 0, 4},
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v", got)
	}
}

func TestSeedsChangeOrders(t *testing.T) {
	seen := map[int]bool{}
	for seed := range uint64(100) {
		seen[Order(5, Design{Seed: seed}, 1)[0]] = true
	}
	if len(seen) != 5 {
		t.Errorf("only %v begin", seen)
	}
}

func TestOrdinals(t *testing.T) {
	if got := Ordinals([]int{1, 0, 0, 1}); !slices.Equal(got, []int{1, 1, 2, 2}) {
		t.Error(got)
	}
}

// No run of a variant has the prompts of another one, whatever the numbers of an experiment.
func TestLoadSeedsAreFresh(t *testing.T) {
	e := Experiment{Workloads: make([]Workload, maxWorkloads), Design: Design{Runs: 4}}
	if most := (&Experiment{Workloads: e.Workloads, Design: Design{Runs: maxRuns}}).Repeat(2, maxWorkloads, maxRuns); most > perBlock {
		t.Fatalf("%d runs of a variant in a block, room for %d", most, perBlock)
	}
	for _, seed := range []uint64{0, 1, math.MaxUint32} {
		seen := map[uint64]bool{}
		runs := 0
		for block := 1; block <= maxBlocks+maxConfirm; block++ {
			for leg := 1; leg <= 2; leg++ {
				for workload := 1; workload <= maxWorkloads; workload++ {
					for run := 1; run <= 4; run++ {
						s := LoadSeed(seed, block, e.Repeat(leg, workload, run))
						if s > math.MaxUint32 {
							t.Fatal(s)
						}
						seen[s] = true
						runs++
					}
				}
			}
		}
		if len(seen) != runs {
			t.Errorf("seed %d: %d seeds for %d runs", seed, len(seen), runs)
		}
	}
	seen := map[uint64]bool{}
	for block := 1; block <= maxBlocks+maxConfirm; block++ {
		for _, repeat := range []int{1, perBlock, perBlock + 1, 3 * perBlock, manyPerBlock} { // legs that were made again
			seen[LoadSeed(1, block, repeat)] = true
		}
	}
	if len(seen) != 5*(maxBlocks+maxConfirm) {
		t.Errorf("%d seeds", len(seen))
	}
	if got := LoadSeed(42, 1, 1); got != 42 {
		t.Errorf("the first load has seed %d", got)
	}
}

// Experiments with neighbouring seeds share none in their first blocks.
func TestLoadSeedsOfNeighboursDiffer(t *testing.T) {
	of := map[uint64]uint64{}
	for seed := range uint64(50) {
		for block := 1; block <= 16; block++ {
			for repeat := 1; repeat <= 8; repeat++ {
				s := LoadSeed(seed, block, repeat)
				if other, taken := of[s]; taken {
					t.Fatalf("seeds %d and %d share %d", other, seed, s)
				}
				of[s] = seed
			}
		}
	}
}
