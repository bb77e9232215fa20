package stats

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
)

// Under the hypothesis that labels carry no information, every arrangement of the
// labels over the runs is as likely as the observed one:
//
//	observed      a a a b b b
//	as likely     a a b a b b     a b b b a a     ...     C(6,3) = 20 of them
//
// and each pair could as well have had the other sign. All statistics here depend
// on an arrangement only through the sums, by metric, of the runs labelled b (of
// the signed pairs). The tests are two-sided, so an arrangement and its mirror
// image count alike and one of them is enough.

// An arranger enumerates arrangements: one by one if there are at most all of them,
// otherwise a random sample of size drawn that includes the observed one. Sampling
// makes P slightly less sharp, but not less valid.
type arranger struct {
	all   int
	drawn int
}

// usual enumerates the arrangements of 10 and 10 runs, 184 756, one by one.
var usual = arranger{all: 200_000, drawn: 100_000}

// sumTolerance is the difference up to which sums of columns of unit length count
// as equal.
const sumTolerance = 1e-10

// A visit gets the sums of an arrangement, by column, valid until it returns.
type visit func(sums []float64)

// groups visits the arrangements of rows into a group of the first nb and the rest,
// including the observed one.
func (a arranger) groups(rows [][]float64, nb int, see visit) {
	n := len(rows)
	if choices(n, nb) > float64(a.all) {
		a.drawSubsets(rows, nb, see)
		return
	}
	s := newSummer(rows, nb)
	if n == 2*nb { // those with the first row in the rest mirror the others
		s.take(0, 0)
		s.subsets(1, 1, see)
		return
	}
	s.subsets(0, 0, see)
}

// signs visits the sums of the rows with all signs that pairs may have.
func (a arranger) signs(rows [][]float64, see visit) {
	n := len(rows)
	if math.Ldexp(1, n-1) > float64(a.all) {
		a.drawSigns(rows, see)
		return
	}
	s := newSummer(rows, n)
	s.take(0, 0)
	s.signs(1, see)
}

// A summer adds up rows, one at each depth.
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

func (s *summer) take(depth, row int) {
	r, from, to := s.rows[row], s.sums[depth], s.sums[depth+1]
	from, to = from[:len(r)], to[:len(r)]
	for j, v := range r {
		to[j] = from[j] + v
	}
}

func (s *summer) drop(depth, row int) {
	r, from, to := s.rows[row], s.sums[depth], s.sums[depth+1]
	from, to = from[:len(r)], to[:len(r)]
	for j, v := range r {
		to[j] = from[j] - v
	}
}

// subsets completes a choice of depth rows with rows from index from on.
func (s *summer) subsets(depth, from int, see visit) {
	more := len(s.sums) - 1 - depth
	if more == 0 {
		see(s.sums[depth])
		return
	}
	for row := from; row <= len(s.rows)-more; row++ {
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

// diceFor returns a generator seeded by the order of the runs in the first metric:
// the same for the same values in any unit, and different for other values, as a
// sampled P requires.
func diceFor(rows [][]float64) *rand.Rand {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rows[i][0], rows[j][0]) })
	h := fnv.New64a()
	fmt.Fprint(h, order)
	return rand.New(rand.NewPCG(h.Sum64(), 0))
}

func (a arranger) drawSubsets(rows [][]float64, k int, see visit) {
	dice := diceFor(rows)
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	sums := make([]float64, len(rows[0]))
	for round := range a.drawn {
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

func (a arranger) drawSigns(rows [][]float64, see visit) {
	dice := diceFor(rows)
	sums := make([]float64, len(rows[0]))
	for round := range a.drawn {
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

// choices is the number of ways to choose k of n.
func choices(n, k int) float64 {
	if n > 60 {
		return combin.GeneralizedBinomial(float64(n), float64(k))
	}
	return float64(combin.Binomial(n, k))
}

// MinArrangementP is the smallest P that a test over the arrangements of na and nb
// runs can return: 0.1 for 3 and 3, 0.029 for 4 and 4. NaN if there is nothing to
// arrange.
func MinArrangementP(na, nb int) float64 {
	if na < 1 || nb < 1 {
		return math.NaN()
	}
	c := choices(na+nb, na)
	if c > float64(usual.all) {
		return 1 / float64(usual.drawn)
	}
	if na == nb {
		return 2 / c
	}
	return 1 / c
}

// MinSignP is the smallest P that a test over the signs of this many pairs can
// return: 0.0625 for 5, 0.031 for 6.
func MinSignP(pairs int) float64 {
	if pairs < 1 {
		return math.NaN()
	}
	p := math.Ldexp(1, 1-pairs)
	if 1/p > float64(usual.all) {
		return 1 / float64(usual.drawn)
	}
	return p
}
