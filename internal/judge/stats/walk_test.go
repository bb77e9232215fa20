package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// blocks walks through x in blocks of this size.
func blocks(x []int64, size int) Walk {
	return func(yield func([]int64) bool) {
		for block := range slices.Chunk(x, size) {
			if !yield(block) {
				return
			}
		}
	}
}

// drawNumbers draws a sample with one of the shapes of gaps: nearly equal, over
// many magnitudes, a few repeated numbers, arbitrary.
func drawNumbers(t *rapid.T, n int) []int64 {
	dice := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	draw := rapid.SampledFrom([]func() int64{
		func() int64 { return int64(25e6 + 1e6*dice.NormFloat64()) },
		func() int64 { return int64(math.Exp(40 * dice.Float64())) },
		func() int64 { return int64(dice.IntN(3)) * 1e9 },
		func() int64 { return int64(dice.Uint64()) },
		func() int64 { return math.MinInt64 + int64(dice.IntN(2))*math.MaxInt64 },
	}).Draw(t, "shape")
	x := make([]int64, n)
	for i := range x {
		x[i] = draw()
	}
	return x
}

func TestOrderStatisticsAreThoseOfASortedSample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawNumbers(t, rapid.SampledFrom([]int{1, 2, 100, smallSample, smallSample + 1, 3 * smallSample}).Draw(t, "n"))
		w := blocks(x, 1000)
		ranks := rapid.SliceOfN(rapid.IntRange(0, len(x)-1), 1, 20).Draw(t, "ranks")
		more := rapid.SliceOfN(rapid.IntRange(0, len(x)-1), 0, 20).Draw(t, "more ranks")
		s := Selection{least: rapid.SampledFrom([]int64{0, slices.Min(x), math.MaxInt64, 25e6}).Draw(t, "least")}
		w.find(&s, func() bool { return s.seek(ranks) })
		if s.seek(more) { // later, without a first pass
			w.find(&s, func() bool { return s.seek(more) })
		}
		slices.Sort(x)
		for _, r := range slices.Concat(ranks, more) {
			if got := s.At(r); got != x[r] {
				t.Fatalf("rank %d of %d is %d, want %d", r, len(x), got, x[r])
			}
		}
	})
}

// A walk gives the figures of the same sample stored in seconds: percentiles to the
// last bit, sums except for numpy's order of addition.
func TestAWalkGivesTheFiguresOfASample(t *testing.T) {
	dice := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 3, 1000, smallSample + 1, 100_000} {
		x, seconds := make([]int64, n), make([]float64, n)
		for i := range x {
			x[i] = int64(1e7 * dice.ExpFloat64())
			seconds[i] = float64(x[i]) / 1e9
		}
		percentiles := []float64{0, 1, 50, 90, 99, 99.9, 100}
		got := blocks(x, 77).Describe(percentiles, 1e9)
		want := Sort(seconds)
		for i, p := range percentiles {
			if got.Percentiles[i] != want.Percentile(p) {
				t.Errorf("P%g of %d values: %v, want %v", p, n, got.Percentiles[i], want.Percentile(p))
			}
		}
		if got.N != n || got.Median != want.Median() || got.Min != want.Min() || got.Max != want.Max() {
			t.Errorf("%d values: %+v", n, got)
		}
		if math.Abs(got.Mean/Mean(seconds)-1) > 1e-14 || math.Abs(got.Std-Std(seconds)) > 1e-13*got.Mean {
			t.Errorf("%d values: mean %v ± %v, want %v ± %v", n, got.Mean, got.Std, Mean(seconds), Std(seconds))
		}
	}
}

// Where floating point loses significant digits: 1, 2 and 3 ns next to 2⁶² ns have
// the deviation √(2/3) ns.
func TestMomentsAreExact(t *testing.T) {
	for _, from := range []int64{0, 1 << 62, -1 << 62, math.MinInt64} {
		f := blocks([]int64{from, from + 1, from + 2}, 2).Describe(nil, 1)
		if f.Std != math.Sqrt(2./3) || f.Mean != float64(from+1) {
			t.Errorf("from %d: %v ± %v", from, f.Mean, f.Std)
		}
	}
}

func TestAnEmptyWalkIsZero(t *testing.T) {
	f := blocks(nil, 1).Describe([]float64{99}, 1e9)
	if f.N != 0 || f.Mean != 0 || f.Std != 0 || f.Median != 0 || f.Percentiles[0] != 0 {
		t.Errorf("%+v", f)
	}
}

func ExampleWalk_Describe() {
	gaps := Walk(func(yield func([]int64) bool) {
		_ = yield([]int64{10e6, 11e6}) && yield([]int64{12e6, 30e6})
	})
	f := gaps.Describe([]float64{90}, 1e9)
	fmt.Printf("%d gaps, mean %.4f s, P90 %.4f s\n", f.N, f.Mean, f.Percentiles[0])
	// Output:
	// 4 gaps, mean 0.0158 s, P90 0.0246 s
}

// Five figures of ten million gaps.
func BenchmarkDescribe(b *testing.B) {
	dice := rand.New(rand.NewPCG(1, 2))
	x := make([]int64, 10_000_000)
	for i := range x {
		x[i] = int64(25e6 + 5e6*dice.ExpFloat64())
	}
	percentiles := []float64{90, 95, 99, 99.9}
	b.Run("walk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			blocks(x, 1000).Describe(percentiles, 1e9)
		}
	})
	b.Run("laid out", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			seconds := make([]float64, len(x))
			for i, v := range x {
				seconds[i] = float64(v) / 1e9
			}
			s := Sort(seconds)
			Mean(seconds)
			Std(seconds)
			for _, p := range percentiles {
				s.Percentile(p)
			}
		}
	})
}
