package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// The same seed draws the same samples, another one others; blocks are circular
// neighbours.
func TestDrawing(t *testing.T) {
	x := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3}
	mean := func(index []int) float64 { return Mean(at(x, index)) }
	first := BootstrapPercentile(10, mean, Resampling{Seed: 1})
	if again := BootstrapPercentile(10, mean, Resampling{Seed: 1, Rounds: 2000, Level: 0.95}); again != first {
		t.Errorf("%+v, then %+v", first, again)
	}
	if other := BootstrapPercentile(10, mean, Resampling{Seed: 2}); other == first {
		t.Errorf("%+v of either seed", other)
	}
	Resampling{Rounds: 20, Level: 0.95, Block: 4}.draw(10, func(index []int) float64 {
		for i, at := range index {
			if at < 0 || at > 9 || i%4 > 0 && at != (index[i-1]+1)%10 {
				t.Fatalf("drawn: %v", index)
			}
		}
		return 0
	})
}

// The mean of n values has no bias, and its acceleration is their skewness over 6√n
// (Efron 1987): of 0 0 0 4, 2/√3 over 12.
func TestAcceleration(t *testing.T) {
	x := []float64{0, 0, 0, 4}
	mean := func(index []int) float64 { return Mean(at(x, index)) }
	near(t, "acceleration", acceleration(4, mean, 1), 2/math.Sqrt(3)/12, 1e-14)
	near(t, "of what is symmetric", acceleration(4, func(index []int) float64 { return Mean(at([]float64{1, 2, 3, 4}, index)) }, 1), 0, 1e-15)
}

// For requests with skewed times, the corrected interval of the mean covers more
// often than the plain one, on the side of the long times.
func TestBCaFollowsTheSkew(t *testing.T) {
	dice := seeded("skew", 60)
	const n, sets = 60, 500
	above := map[string]int{}
	for i := range sets {
		x := make([]float64, n)
		for j := range x {
			x[j] = dice.ExpFloat64()
		}
		mean := blockMean(x, 1)
		r := Resampling{Rounds: 500, Seed: uint64(i)}
		for name, interval := range map[string]Interval{"percentile": BootstrapPercentile(n, mean, r), "BCa": BootstrapBCa(n, mean, r)} {
			if interval.High < 1 {
				above[name]++
			}
		}
	}
	t.Logf("truth above the interval: %v of %d", above, sets)
	if above["BCa"] >= above["percentile"] || above["BCa"] > 30 {
		t.Errorf("the truth is above the interval %v of %d times", above, sets)
	}
}

func TestStatisticsThatAreNoNumber(t *testing.T) {
	calls := 0
	f := func([]int) float64 {
		calls++
		if calls%100 == 0 {
			return math.NaN()
		}
		return 1
	}
	for _, i := range []Interval{BootstrapPercentile(10, f, Resampling{}), BootstrapBCa(10, f, Resampling{}), BootstrapPercentile(7, f, Resampling{Block: 4})} {
		if !math.IsNaN(i.Low) || !math.IsNaN(i.High) {
			t.Errorf("%+v", i)
		}
	}
	always := func([]int) float64 { return 1 }
	if i := BootstrapBCa(10, always, Resampling{}); i.Low != 1 || i.High != 1 {
		t.Errorf("what is always 1 is in %+v", i)
	}
}

func ExampleBootstrapBCa() {
	ttft := []float64{80, 95, 81, 110, 87, 84, 260, 90, 83, 99, 85, 131, 88, 92, 86, 97, 82, 170, 89, 94}
	median := func(index []int) float64 {
		x := make([]float64, len(index))
		for i, j := range index {
			x[i] = ttft[j]
		}
		slices.Sort(x)
		return Sorted(x).Median()
	}
	i := BootstrapBCa(len(ttft), median, Resampling{Seed: 1})
	fmt.Printf("%.1f to %.1f ms\n", i.Low, i.High)
	// Output:
	// 85.0 to 96.0 ms
}
