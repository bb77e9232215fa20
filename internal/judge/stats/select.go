package stats

import (
	"math/bits"
	"slices"
)

// Order statistics are found without sorting, by counting in ever finer cells. A
// first walk counts into cells with a width of a thousandth of their numbers; each
// cell that contains a wanted rank is divided into 65536 in the next walk, until a
// cell is a single number:
//
//	  ├──┼──┼───┼────┼──────┼────────┼──────────┼───>  values above the least
//	                 │ rank │
//	           ├┼┼┼┼┼┼┼┼┼┼┼┼┼┼┼┼┼┤                     the next walk
//
// One or two walks after the first suffice for gaps of seconds in nanoseconds.

// smallSample is the size up to which a sample is copied and sorted.
const smallSample = 1 << 14

// order returns the numbers at the given ranks, from 0, of the sample with total t;
// ranks need not be sorted or distinct.
func (w Walk) order(t total, ranks []int) map[int]int64 {
	ranks = slices.Compact(slices.Sorted(slices.Values(ranks)))
	found := make(map[int]int64, len(ranks))
	if t.n <= smallSample {
		all := make([]int64, 0, t.n)
		for block := range w {
			all = append(all, block...)
		}
		slices.Sort(all)
		for _, r := range ranks {
			found[r] = all[r]
		}
		return found
	}
	cells := w.coarse(t.min, ranks)
	for len(cells) > 0 {
		open := cells[:0:0]
		for _, c := range cells {
			if c.bits > 0 {
				open = append(open, c.cut())
				continue
			}
			for _, r := range c.ranks {
				found[r] = t.min + int64(c.low)
			}
		}
		w.count(t.min, open)
		cells = cells[:0:0]
		for _, c := range open {
			cells = append(cells, pick(c.ranks, c.below, c.counts, c.part)...)
		}
	}
	return found
}

// A cell is the 1<<bits numbers from low on, relative to the least of the sample,
// that contain the order statistics of some ranks.
type cell struct {
	low   uint64
	bits  int
	below int // numbers of the sample before the cell
	ranks []int

	counts []uint32 // of its parts
	fine   int      // each part is 1<<fine numbers
}

// digit is the number of bits that one walk resolves.
const digit = 16

func (c cell) cut() cell {
	c.fine = max(0, c.bits-digit)
	c.counts = make([]uint32, 1<<(c.bits-c.fine))
	return c
}

// part is the i-th part of a divided cell.
func (c cell) part(i int) (low uint64, bits int) { return c.low + uint64(i)<<c.fine, c.fine }

// count adds the numbers above least to the parts of their cells.
func (w Walk) count(least int64, cells []cell) {
	if len(cells) == 0 {
		return
	}
	first := cells[0].low
	end := cells[len(cells)-1].low + 1<<cells[len(cells)-1].bits - 1
	for block := range w {
		for _, v := range block {
			u := uint64(v - least)
			if u < first || u > end {
				continue
			}
			for i := range cells {
				if d := u - cells[i].low; d>>cells[i].bits == 0 {
					cells[i].counts[d>>cells[i].fine]++
					break
				}
			}
		}
	}
}

// coarse finds the cells of the first walk that contain the ranks. Below 2<<precise
// a cell is one number; above, it has the numbers with the same leading bits.
func (w Walk) coarse(least int64, ranks []int) []cell {
	counts := make([]uint32, (65-precise)<<precise)
	for block := range w {
		for _, v := range block {
			counts[bucket(uint64(v-least))]++
		}
	}
	return pick(ranks, 0, counts, bucketCell)
}

// precise is the number of bits after the leading one that distinguish the first
// cells.
const precise = 10

func bucket(u uint64) int {
	shift := max(0, bits.Len64(u)-precise-1)
	return shift<<precise + int(u>>shift)
}

func bucketCell(i int) (low uint64, bits int) {
	if i < 2<<precise {
		return uint64(i), 0
	}
	bits = i>>precise - 1
	return uint64(i-bits<<precise) << bits, bits
}

// pick returns those of the counted cells that contain the ranks; below is the
// number of values before the first.
func pick(ranks []int, below int, counts []uint32, cellOf func(i int) (low uint64, bits int)) []cell {
	var out []cell
	for i, n := range counts {
		if n == 0 {
			continue
		}
		within, _ := slices.BinarySearch(ranks, below+int(n))
		if within > 0 {
			low, bits := cellOf(i)
			out = append(out, cell{low: low, bits: bits, below: below, ranks: ranks[:within]})
			ranks = ranks[within:]
		}
		if below += int(n); len(ranks) == 0 {
			break
		}
	}
	return out
}
