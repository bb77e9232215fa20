package stats

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/combin"
)

// Under the hypothesis that a label tells nothing, every arrangement of the labels
// over the runs was as likely as the one seen:
//
//	seen          a a a b b b
//	as likely     a a b a b b     a b b b a a     ...     C(6,3) = 20 of them
//
// and of pairs each could as well have had the other sign. All statistics here
// depend on an arrangement only through the sums, by metric, of the runs labelled b
// (of the signed pairs). The tests are two-sided, so an arrangement and its mirror
// image count alike and one of them is enough.

const (
	// allArrangements is up to how many are gone through one by one: 10 and 10
	// runs have 184 756.
	allArrangements = 200_000
	// drawnArrangements are drawn where there are more, the one seen included.
	drawnArrangements = 100_000
	arrangementSeed   = 0x9177
)

// sumTolerance is what sums of columns of unit length may differ by and be equal.
const sumTolerance = 1e-10

// A visit gets the sums of an arrangement, by column, which are only good until it
// returns.
type visit func(sums []float64)

// arrangeGroups visits the arrangements of rows into a group of the first nb and
// the rest; the one seen is among them. It gives how many it visited and whether
// they stand for all.
func arrangeGroups(rows [][]float64, nb int, see visit) (visited int, all bool) {
	n := len(rows)
	counted := func(sums []float64) { visited++; see(sums) }
	if choices(n, nb) > allArrangements {
		drawSubsets(rows, nb, counted)
		return visited, false
	}
	s := newSummer(rows, nb)
	if n == 2*nb { // those with the first row among the others mirror those without
		s.take(0, 0)
		s.subsets(1, 1, counted)
		return visited, true
	}
	s.subsets(0, 0, counted)
	return visited, true
}

// arrangeSigns visits the sums of the rows with the signs that pairs may have.
func arrangeSigns(rows [][]float64, see visit) (visited int, all bool) {
	n := len(rows)
	counted := func(sums []float64) { visited++; see(sums) }
	if n-1 > 62 || 1<<(n-1) > allArrangements {
		drawSigns(rows, counted)
		return visited, false
	}
	s := newSummer(rows, n)
	s.take(0, 0)
	s.signs(1, counted)
	return visited, true
}

// A summer adds rows up, one at each depth.
type summer struct {
	rows [][]float64
	sums [][]float64 // by depth
}

func newSummer(rows [][]float64, depth int) *summer {
	s := &summer{rows, make([][]float64, depth+1)}
	for i := range s.sums {
		s.sums[i] = make([]float64, len(rows[0]))
	}
	return s
}

// take adds a row to the sums at a depth.
func (s *summer) take(depth, row int) {
	from, to := s.sums[depth], s.sums[depth+1]
	for j, v := range s.rows[row] {
		to[j] = from[j] + v
	}
}

func (s *summer) drop(depth, row int) {
	from, to := s.sums[depth], s.sums[depth+1]
	for j, v := range s.rows[row] {
		to[j] = from[j] - v
	}
}

// subsets completes a choice of depth rows from the rows from on.
func (s *summer) subsets(depth, from int, see visit) {
	last := len(s.sums) - 1
	if depth == last {
		see(s.sums[last])
		return
	}
	for row := from; row <= len(s.rows)-(last-depth); row++ {
		s.take(depth, row)
		s.subsets(depth+1, row+1, see)
	}
}

func (s *summer) signs(depth int, see visit) {
	if depth == len(s.rows) {
		see(s.sums[depth])
		return
	}
	s.take(depth, depth)
	s.signs(depth+1, see)
	s.drop(depth, depth)
	s.signs(depth+1, see)
}

func drawSubsets(rows [][]float64, k int, see visit) {
	dice := rand.New(rand.NewPCG(arrangementSeed, uint64(len(rows))))
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	sums := make([]float64, len(rows[0]))
	for round := range drawnArrangements {
		clear(sums)
		for i := range k {
			if round > 0 {
				j := i + dice.IntN(len(order)-i)
				order[i], order[j] = order[j], order[i]
			}
			for c, v := range rows[order[i]] {
				sums[c] += v
			}
		}
		see(sums)
	}
}

func drawSigns(rows [][]float64, see visit) {
	dice := rand.New(rand.NewPCG(arrangementSeed, uint64(len(rows))))
	sums := make([]float64, len(rows[0]))
	for round := range drawnArrangements {
		clear(sums)
		for _, row := range rows {
			sign := 1.0
			if round > 0 && dice.Uint64()>>63 == 1 {
				sign = -1
			}
			for c, v := range row {
				sums[c] += sign * v
			}
		}
		see(sums)
	}
}

// choices is in how many ways k of n can be chosen.
func choices(n, k int) float64 {
	if n > 60 {
		return combin.GeneralizedBinomial(float64(n), float64(k))
	}
	return float64(combin.Binomial(n, k))
}

// different is how many arrangements of two groups there are that are no mirror
// images of each other.
func different(na, nb int) float64 {
	c := choices(na+nb, na)
	if na == nb {
		return c / 2
	}
	return c
}

// MinArrangementP is the least P that a test over the arrangements of na and nb
// runs can give: 0.1 of 3 and 3, 0.029 of 4 and 4. NaN where there is nothing to
// arrange.
func MinArrangementP(na, nb int) float64 {
	if na < 1 || nb < 1 {
		return math.NaN()
	}
	if choices(na+nb, na) > allArrangements {
		return 1. / drawnArrangements
	}
	return 1 / different(na, nb)
}

// MinSignP is the least P that a test over the signs of so many pairs can give:
// 0.0625 of 5, 0.031 of 6.
func MinSignP(pairs int) float64 {
	if pairs < 1 {
		return math.NaN()
	}
	return max(1./drawnArrangements, math.Ldexp(1, 1-pairs))
}
