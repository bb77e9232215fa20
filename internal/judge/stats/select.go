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
// As soon as the wanted cells hold few numbers together, those are copied and sorted: mostly in
// the walk after the first.

// smallSample is the size up to which a sample is copied and sorted, and smallRest that of what
// the wanted cells hold.
const (
	smallSample = 1 << 14
	smallRest   = 1 << 18
)

// order returns the numbers at the given ranks, from 0, of n numbers of which the smallest is
// least; ranks need not be sorted or distinct.
func (w Walk) order(n int, least int64, ranks []int) map[int]int64 {
	ranks = slices.Compact(slices.Sorted(slices.Values(ranks)))
	found := make(map[int]int64, len(ranks))
	if n <= smallSample {
		all := make([]int64, 0, n)
		for block := range w {
			all = append(all, block...)
		}
		slices.Sort(all)
		for _, r := range ranks {
			found[r] = all[r]
		}
		return found
	}
	for cells := w.coarse(least, ranks); len(cells) > 0; {
		var open []cell
		rest, resolved := 0, digit
		if len(cells) > fewCells {
			resolved = fewDigit
		}
		for _, c := range cells {
			if c.bits > 0 {
				open = append(open, c)
				rest += c.n
				continue
			}
			for _, r := range c.ranks {
				found[r] = least + int64(c.low)
			}
		}
		if rest <= smallRest {
			w.gather(least, open, found)
			return found
		}
		cells = w.divide(least, open, resolved)
	}
	return found
}

// A cell is the 1<<bits numbers from low on, relative to the least of the sample,
// that contain the order statistics of some ranks.
type cell struct {
	low   uint64
	bits  int
	n     int // numbers of the sample in the cell
	below int // before it
	ranks []int

	counts []uint32 // of its parts
	fine   int      // each part is 1<<fine numbers
	all    []uint64 // those of the sample, from low on
}

// digit is the number of bits that one walk resolves, and fewDigit where there are more than
// fewCells: their counts take a few megabytes together.
const (
	digit    = 16
	fewDigit = 10
	fewCells = 16
)

// part is the i-th part of a divided cell.
func (c cell) part(i int) (low uint64, bits int) { return c.low + uint64(i)<<c.fine, c.fine }

// divide returns those parts of the cells that contain the ranks, each smaller by some bits.
func (w Walk) divide(least int64, cells []cell, digit int) (parts []cell) {
	for i := range cells {
		c := &cells[i]
		c.fine = max(0, c.bits-digit)
		c.counts = make([]uint32, 1<<(c.bits-c.fine))
	}
	w.eachIn(least, cells, func(c *cell, from uint64) { c.counts[from>>c.fine]++ })
	for _, c := range cells {
		parts = append(parts, pick(c.ranks, c.below, c.counts, c.part)...)
	}
	return parts
}

// gather finds the numbers of the ranks of cells by sorting the cells.
func (w Walk) gather(least int64, cells []cell, found map[int]int64) {
	for i := range cells {
		cells[i].all = make([]uint64, 0, cells[i].n)
	}
	w.eachIn(least, cells, func(c *cell, from uint64) { c.all = append(c.all, from) })
	for _, c := range cells {
		slices.Sort(c.all)
		for _, r := range c.ranks {
			found[r] = least + int64(c.low+c.all[r-c.below])
		}
	}
}

// eachIn calls each for the numbers that are in a cell, counted from its low.
func (w Walk) eachIn(least int64, cells []cell, each func(c *cell, from uint64)) {
	if len(cells) == 0 {
		return
	}
	ends := endsOf(cells)
	for block := range w {
		for _, v := range block {
			u := uint64(v - least)
			b := bucket(u)
			from, to := ends[b], ends[b+1]
			if from == to {
				continue
			}
			for to-from > 1 { // the cells of one bucket are in order
				if half := (from + to) / 2; cells[half].low <= u {
					from = half
				} else {
					to = half
				}
			}
			if c := &cells[from]; u >= c.low && (u-c.low)>>c.bits == 0 {
				each(c, u-c.low)
			}
		}
	}
}

// endsOf are the numbers of cells before each bucket of the first walk. No cell is in two.
func endsOf(cells []cell) []int32 {
	ends := make([]int32, buckets+1)
	for _, c := range cells {
		ends[bucket(c.low)+1]++
	}
	for b := range buckets {
		ends[b+1] += ends[b]
	}
	return ends
}

// coarse finds the cells of the first walk that contain the ranks. Below 2<<precise
// a cell is one number; above, it has the numbers with the same leading bits.
func (w Walk) coarse(least int64, ranks []int) []cell {
	counts := make([]uint32, buckets)
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

const buckets = (65 - precise) << precise

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
			out = append(out, cell{low: low, bits: bits, n: int(n), below: below, ranks: ranks[:within]})
			ranks = ranks[within:]
		}
		if below += int(n); len(ranks) == 0 {
			break
		}
	}
	return out
}
