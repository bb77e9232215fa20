package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pitot-bench/pitot/internal/test/race"
)

// floatBlocks is the stream of x in blocks of this size.
func floatBlocks(x []float64, size int) Stream {
	return func(yield func([]float64) bool) {
		for block := range slices.Chunk(x, size) {
			if !yield(block) {
				return
			}
		}
	}
}

// drawValues draws a sample with one of the shapes of gaps, or of what is no gap.
func drawValues(t *rapid.T, n int) []float64 {
	dice := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 5e-324, -5e-324, 0, 1}
	draw := rapid.SampledFrom([]func() float64{
		func() float64 { return math.Round(25e6+1e6*dice.NormFloat64()) / 1e9 },
		func() float64 { return math.Round(1e7*dice.ExpFloat64()) / 1e9 / float64(1+dice.IntN(4)) },
		func() float64 { return math.Ldexp(dice.NormFloat64(), dice.IntN(2000)-1000) },
		func() float64 { return float64(dice.IntN(3)-1) * 0.01 },
		func() float64 { return 0.01 },
		func() float64 { return odd[dice.IntN(len(odd))] },
		func() float64 { return odd[1+dice.IntN(len(odd)-1)] },
	}).Draw(t, "shape")
	x := make([]float64, n)
	for i := range x {
		x[i] = draw()
	}
	return x
}

func TestAStreamGivesTheFiguresOfAListToTheLastBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawValues(t, rapid.SampledFrom([]int{0, 1, 2, 1000, smallSample, smallSample + 1, 3*smallSample + 77}).Draw(t, "n"))
		percentiles := rapid.SliceOfN(rapid.Float64Range(0, 100), 0, rapid.SampledFrom([]int{3, 3, 200}).Draw(t, "most")).Draw(t, "percentiles")
		before, sorted := slices.Clone(x), Sorted(slices.Clone(x))
		slices.Sort(sorted)
		s := floatBlocks(x, rapid.SampledFrom([]int{1, 77, 5000, 1 << 20}).Draw(t, "block"))
		got := s.Describe(percentiles)
		for name, pair := range map[string][2]float64{
			"mean": {got.Mean, Mean(x)}, "mean alone": {s.Mean(), Mean(x)}, "deviation": {got.Std, Std(x)},
			"median": {got.Median, sorted.Median()}, "least": {got.Min, sorted.Min()}, "largest": {got.Max, sorted.Max()},
		} {
			if !same(pair[0], pair[1]) {
				t.Fatalf("%s of %d values is %v, want %v", name, len(x), pair[0], pair[1])
			}
		}
		for i, p := range percentiles {
			if want := sorted.Percentile(p); !same(got.Percentiles[i], want) {
				t.Fatalf("P%v of %d values is %v, want %v", p, len(x), got.Percentiles[i], want)
			}
		}
		if got.N != len(x) || !slices.EqualFunc(x, before, same) {
			t.Fatalf("%d of %d values, or they changed", got.N, len(x))
		}
	})
}

func TestValuesAreSortedInPlaceAsTheLibrarySorts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawValues(t, rapid.SampledFrom([]int{radixFrom - 1, radixFrom, spareSize, spareSize + 1, 3*spareSize + 5}).Draw(t, "n"))
		want := slices.Clone(x)
		slices.Sort(want)
		if got := SortInPlace(x); !slices.EqualFunc(got, want, same) {
			t.Fatalf("%d values are not in order", len(x))
		}
	})
}

// Sorting takes half a megabyte beside the values, however many they are.
func TestSortingInPlaceTakesNoSecondList(t *testing.T) {
	race.Skip(t)
	x := make([]float64, 4<<20)
	dice := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i] = dice.ExpFloat64()
	}
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			sortInPlace(x)
		}
	})
	if bytes := result.AllocedBytesPerOp(); bytes > 1<<20 {
		t.Errorf("%d bytes are allocated", bytes)
	}
}

// Ten million gaps in seconds, a tenth of them of three tokens.
func manyGaps() []float64 {
	dice := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 10_000_000)
	for i := range x {
		x[i] = math.Round(25e6+5e6*dice.ExpFloat64()) / 1e9
		if dice.IntN(10) == 0 {
			x[i] /= 3
		}
	}
	return x
}

func BenchmarkStream(b *testing.B) {
	x := manyGaps()
	b.ReportAllocs()
	for b.Loop() {
		floatBlocks(x, 1000).Describe([]float64{90, 95, 99})
	}
}
