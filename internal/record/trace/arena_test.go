package trace

import (
	"slices"
	"testing"
)

// lengths are those of some lists, short and long: of 300 000 chunks.
func lengths() (all []int) {
	for n := range 600 {
		all = append(all, n*7919%1000)
	}
	return append(all, mostBlock/8+1)
}

func TestListsOfAnArenaAreApart(t *testing.T) {
	var a Arena
	var lists [][]Chunk
	for i, n := range lengths() {
		list := a.Take(n)
		if len(list) != 0 || cap(list) < n {
			t.Fatalf("a list with capacity %d of %d", cap(list), n)
		}
		for range n {
			list = append(list, Chunk{At: Instant(i)})
		}
		lists = append(lists, list)
	}
	for i, list := range lists {
		if slices.ContainsFunc(list, func(c Chunk) bool { return c.At != Instant(i) }) {
			t.Errorf("list %d has chunks of another", i)
		}
	}
	if a.Take(0) != nil {
		t.Error("a list of nothing is not nil")
	}
}

func TestAnArenaHasLittleMoreThanItsLists(t *testing.T) {
	var few, many Arena
	few.Take(10)
	if n := len(few.blocks[0]); n != leastBlock {
		t.Errorf("%d chunks for a list of 10", n)
	}
	lists, blocks := 0, 0
	for _, n := range lengths() {
		lists += n
		many.Take(n)
	}
	for _, b := range many.blocks {
		blocks += len(b)
	}
	if blocks > lists+lists/100+mostBlock {
		t.Errorf("%d chunks for lists of %d", blocks, lists)
	}
}

func TestAnArenaIsUsedAgainAfterReset(t *testing.T) {
	var a Arena
	take := func() {
		a.Reset()
		for range 1000 {
			a.Take(300)
		}
	}
	if n := testing.AllocsPerRun(3, take); n > 0 { // its first run is not counted
		t.Errorf("%v allocations", n)
	}
}
