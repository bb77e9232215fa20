package stats

import (
	"math/bits"
	"slices"
)

// A Selection finds order statistics without sorting, of integers that pass by several times, the same numbers in
// the same order each time, by counting in ever finer cells. The first pass counts into cells with a width of a
// thousandth of their numbers; each cell that contains a wanted rank is divided in the next pass, until a cell is a
// single number:
//
//	├──┼──┼───┼────┼──────┼────────┼──────────┼───>  values above the least
//	               │ rank │
//	         ├┼┼┼┼┼┼┼┼┼┼┼┼┼┼┼┼┼┤                     the next pass
//
// As soon as the wanted cells hold few numbers together, those are copied and sorted: mostly in the second pass. A
// small sample is copied in the first one. The zero value is ready; it takes a megabyte, and up to ten more in the
// passes after the first.
type Selection struct {
	least int64 // values near it are distinguished best

	total total
	few   []int64 // all values, in order, of a small sample
	parts [2]magnitudes
	ended bool // the first pass
}

// smallSample is the size up to which a sample is copied and sorted, and smallRest that of what
// the wanted cells hold.
const (
	smallSample = 1 << 14
	smallRest   = 1 << 18
)

// N is the number of values of the first pass.
func (s *Selection) N() int { return s.total.n }

// Add takes some of the values of a pass.
func (s *Selection) Add(block []int64) {
	if s.ended {
		for _, v := range block {
			part, u := s.place(v)
			part.refine(u)
		}
		return
	}
	s.total.take(block)
	if s.total.n <= smallSample {
		s.few = append(s.few, block...)
		return
	}
	for _, some := range [][]int64{s.few, block} {
		for _, v := range some {
			part, u := s.place(v)
			part.count(u)
		}
	}
	s.few = nil
}

// place is where a value is counted: those from least on by their distance from it, and those below likewise.
func (s *Selection) place(v int64) (*magnitudes, uint64) {
	if v >= s.least {
		return &s.parts[1], uint64(v) - uint64(s.least)
	}
	return &s.parts[0], uint64(s.least) - uint64(v) - 1
}

// Next ends a pass, and reports whether another one is needed for the median and these percentiles.
func (s *Selection) Next(percentiles []float64) (more bool) {
	return s.seek(ranksOf(s.total.n, percentiles))
}

func (s *Selection) seek(ranks []int) (more bool) {
	if s.total.n <= smallSample {
		if !s.ended {
			slices.Sort(s.few)
		}
		s.ended = true
		return false
	}
	s.ended = true
	var below, above []int
	for _, r := range ranks {
		if n := s.parts[0].n; r < n {
			below = append(below, n-1-r)
		} else {
			above = append(above, r-n)
		}
	}
	more = s.parts[0].next(below)
	return s.parts[1].next(above) || more
}

// At is the number at a rank, from 0, that the passes were made for.
func (s *Selection) At(rank int) int64 {
	switch n := s.parts[0].n; {
	case s.total.n <= smallSample:
		return s.few[rank]
	case rank < n:
		return int64(uint64(s.least) - 1 - s.parts[0].found[n-1-rank])
	default:
		return int64(uint64(s.least) + s.parts[1].found[rank-n])
	}
}

// Percentile is that of the numbers in units of 1/scale, as Sorted gives it.
func (s *Selection) Percentile(p, scale float64) float64 {
	return percentile(s.total.n, p, func(rank int) float64 { return float64(s.At(rank)) / scale })
}

// Figures are those of numbers in units of 1/scale. Mean and deviation are exact to one rounding, however many numbers
// there are; percentiles and median are those of Sorted.
func (s *Selection) Figures(percentiles []float64, scale float64) Figures {
	t := s.total
	f := Figures{N: t.n, Percentiles: make([]float64, len(percentiles))}
	if t.n == 0 {
		return f
	}
	mean, std := t.moments()
	f.Mean, f.Std = mean/scale, std/scale
	f.Min, f.Max = float64(t.min)/scale, float64(t.max)/scale
	f.fill(percentiles, func(rank int) float64 { return float64(s.At(rank)) / scale })
	return f
}

// A magnitudes selects among numbers from 0 on.
type magnitudes struct {
	n      int
	counts []uint64 // by bucket
	open   []cell   // that the pass under way resolves
	ends   []int32  // of them, by bucket
	found  map[int]uint64
}

func (m *magnitudes) count(u uint64) {
	if m.counts == nil {
		m.counts = make([]uint64, buckets)
	}
	m.n++
	m.counts[bucket(u)]++
}

// A cell is the 1<<bits numbers from low on that contain the order statistics of some ranks.
type cell struct {
	low   uint64
	bits  int
	n     int // numbers of the sample in the cell
	below int // before it
	ranks []int

	counts []uint32 // of its parts; nil: its numbers are copied
	fine   int      // each part is 1<<fine numbers
	all    []uint64 // those of the sample, from low on
}

// next resolves the open cells by what a pass found, and opens those that hold ranks that are still unknown.
func (m *magnitudes) next(ranks []int) (more bool) {
	if m.found == nil {
		m.found = map[int]uint64{}
	}
	var cells []cell
	for i := range m.open {
		cells = append(cells, m.open[i].resolve(m.found)...)
	}
	m.open = nil
	if m.settle(cells); m.open == nil {
		ranks = slices.DeleteFunc(slices.Clone(ranks), func(r int) bool { _, known := m.found[r]; return known })
		slices.Sort(ranks)
		m.settle(pick(slices.Compact(ranks), 0, m.counts, bucketCell))
	}
	return m.open != nil
}

// settle notes cells of a single number, and opens the others.
func (m *magnitudes) settle(cells []cell) {
	rest := 0
	for _, c := range cells {
		if c.bits > 0 {
			m.open = append(m.open, c)
			rest += c.n
			continue
		}
		for _, r := range c.ranks {
			m.found[r] = c.low
		}
	}
	digit := min(mostDigit, bits.Len(uint(mostCounts/max(1, len(m.open))))-1)
	for i := range m.open {
		if c := &m.open[i]; rest <= smallRest {
			c.all = make([]uint64, 0, c.n)
		} else {
			c.fine = max(0, c.bits-digit)
			c.counts = make([]uint32, 1<<(c.bits-c.fine))
		}
	}
	m.ends = endsOf(m.open)
}

// The counts of cells that are divided are mostCounts together, so that they take a few megabytes; a cell has
// 1<<mostDigit of them at most.
const (
	mostCounts = 1 << 21
	mostDigit  = 19
)

// resolve returns those parts of a divided cell that contain its ranks; the numbers of the ranks of one that was
// copied are found.
func (c *cell) resolve(found map[int]uint64) []cell {
	if c.counts != nil {
		part := func(i int) (low uint64, bits int) { return c.low + uint64(i)<<c.fine, c.fine }
		return pick(c.ranks, c.below, c.counts, part)
	}
	slices.Sort(c.all)
	for _, r := range c.ranks {
		found[r] = c.low + c.all[r-c.below]
	}
	return nil
}

// refine takes a number of a pass after the first: those in open cells count.
func (m *magnitudes) refine(u uint64) {
	if m.open == nil {
		return
	}
	b := bucket(u)
	from, to := m.ends[b], m.ends[b+1]
	if from == to {
		return
	}
	for to-from > 1 { // the cells of one bucket are in order
		if half := (from + to) / 2; m.open[half].low <= u {
			from = half
		} else {
			to = half
		}
	}
	c := &m.open[from]
	switch {
	case u < c.low || (u-c.low)>>c.bits != 0:
	case c.counts != nil:
		c.counts[(u-c.low)>>c.fine]++
	default:
		c.all = append(c.all, u-c.low)
	}
}

// endsOf are the numbers of cells before each bucket of the first pass. No cell is in two.
func endsOf(cells []cell) []int32 {
	if len(cells) == 0 {
		return nil
	}
	ends := make([]int32, buckets+1)
	for _, c := range cells {
		ends[bucket(c.low)+1]++
	}
	for b := range buckets {
		ends[b+1] += ends[b]
	}
	return ends
}

// precise is the number of bits after the leading one that distinguish the first cells: below 2<<precise a cell is one
// number; above, it has the numbers with the same leading bits.
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
func pick[T uint32 | uint64](ranks []int, below int, counts []T, cellOf func(i int) (low uint64, bits int)) []cell {
	var out []cell
	for i, n := range counts {
		if len(ranks) == 0 {
			break
		}
		if n == 0 {
			continue
		}
		within, _ := slices.BinarySearch(ranks, below+int(n))
		if within > 0 {
			low, bits := cellOf(i)
			out = append(out, cell{low: low, bits: bits, n: int(n), below: below, ranks: ranks[:within]})
			ranks = ranks[within:]
		}
		below += int(n)
	}
	return out
}
