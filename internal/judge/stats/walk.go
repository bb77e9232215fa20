package stats

import (
	"iter"
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// A Walk iterates over a sample of integers, in blocks, that is too large to store:
// it is repeated several times, and gives the same numbers in the same order each
// time. A block is valid until the next one.
type Walk iter.Seq[[]int64]

// Figures summarize a sample.
type Figures struct {
	N                           int
	Mean, Std, Min, Median, Max float64
	Percentiles                 []float64
}

// Describe summarizes numbers in units of 1/scale, with the given percentiles, as Selection does.
func (w Walk) Describe(percentiles []float64, scale float64) Figures {
	var s Selection
	w.find(&s, func() bool { return s.Next(percentiles) })
	return s.Figures(percentiles, scale)
}

// find walks until next says that no more is needed.
func (w Walk) find(s *Selection, next func() bool) {
	for more := true; more; more = next() {
		for block := range w {
			s.Add(block)
		}
	}
}

// A total is the result of one pass: the number of values, their sum and that of
// their squares, least significant word first, in two's complement.
type total struct {
	n        int
	min, max int64
	sum      [2]uint64
	squares  [3]uint64
}

func (t *total) take(block []int64) {
	if t.n == 0 {
		t.min, t.max = math.MaxInt64, math.MinInt64
	}
	t.n += len(block)
	for _, v := range block {
		t.min, t.max = min(t.min, v), max(t.max, v)
		t.add(v)
	}
}

func (t *total) add(v int64) {
	var carry uint64
	t.sum[0], carry = bits.Add64(t.sum[0], uint64(v), 0)
	t.sum[1] += uint64(v>>63) + carry
	size := uint64(max(v, -v)) // also for the minimum int64
	high, low := bits.Mul64(size, size)
	t.squares[0], carry = bits.Add64(t.squares[0], low, 0)
	t.squares[1], carry = bits.Add64(t.squares[1], high, carry)
	t.squares[2] += carry
}

// moments are Σv/n and √(nΣv² - (Σv)²)/n for n values.
func (t *total) moments() (mean, std float64) {
	n := new(big.Int).SetInt64(int64(t.n))
	sum := words(t.sum[0], uint64(int64(t.sum[1]))) // the high word has the sign
	if int64(t.sum[1]) < 0 {
		sum.Sub(sum, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	spread := new(big.Int).Mul(n, words(t.squares[:]...))
	spread.Sub(spread, new(big.Int).Mul(sum, sum))
	mean, _ = new(big.Rat).SetFrac(sum, n).Float64()
	root := new(big.Float).Sqrt(new(big.Float).SetInt(spread))
	std, _ = root.Quo(root, new(big.Float).SetInt(n)).Float64()
	return mean, std
}

// words is the number with these words, least significant first.
func words(w ...uint64) *big.Int {
	v := new(big.Int)
	for _, word := range slices.Backward(w) {
		v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(word))
	}
	return v
}
