package engine

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A blockTable finds what a map finds, and keeps the idle ones in order, however
// many share a bucket and however often it grows.
func TestBlockTableAgainstAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table blockTable
		known, idle := map[uint64]blockID{}, []uint64{}
		step := rapid.SampledFrom([]uint64{1, 1 << 9, 1 << 12}).Draw(t, "step") // the last: one bucket for all
		forget := func() {
			table.remove(table.first())
			delete(known, idle[0])
			idle = idle[1:]
		}
		next := uint64(1)
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			for range rapid.IntRange(0, 900).Draw(t, "add") {
				h := next * step
				next++
				known[h] = table.add(h)
				if next%3 == 0 {
					table.linkLast(known[h])
					idle = append(idle, h)
				}
			}
			for range rapid.IntRange(0, len(idle)).Draw(t, "remove") {
				forget()
			}
			if len(idle) > 2 { // one is held again
				i := rapid.IntRange(0, len(idle)-1).Draw(t, "hold")
				table.unlink(known[idle[i]])
				idle = slices.Delete(idle, i, i+1)
			}
			for i := range next {
				if got, want := table.find(i*step), known[i*step]; got != want {
					t.Fatalf("hash %d: found %d, want %d", i, got, want)
				}
			}
			if table.n != len(known) || len(idle) > 0 && table.first() != known[idle[0]] {
				t.Fatalf("%d known, want %d; first idle %d", table.n, len(known), table.first())
			}
		}
		for len(idle) > 0 {
			if table.first() != known[idle[0]] {
				t.Fatalf("first idle %d, want %d", table.first(), known[idle[0]])
			}
			forget()
		}
		if len(table.blocks) > 0 && table.first() != 0 {
			t.Fatal("something is idle still")
		}
		if most := int(next); len(table.blocks) > most {
			t.Fatalf("room for %d blocks, where %d were known", len(table.blocks), most)
		}
	})
}
