package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type numpyCase struct {
	N          int
	Recipe     bool // x is k·φ mod 1 for k = 1..n
	X          []float64
	Sum        float64
	Mean       float64
	Std        float64
	Median     float64
	P          []float64
	Percentile []float64
}

func (c numpyCase) sample() []float64 {
	if !c.Recipe {
		return c.X
	}
	x := make([]float64, c.N)
	for i := range x {
		x[i] = math.Mod(float64(i+1)*0.6180339887498949, 1)
	}
	return x
}

// testdata/numpy.json: sum, mean, std, median and percentiles of samples of 1
// to 4097 values, by numpy 2.4. Equal means equal to the last bit.
func TestFiguresEqualNumpy(t *testing.T) {
	b, err := os.ReadFile("testdata/numpy.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []numpyCase
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		x := c.sample()
		s := Sort(x)
		check := func(what string, got, want float64) {
			if got != want {
				t.Errorf("%s of %d values = %v, numpy has %v", what, c.N, got, want)
			}
		}
		check("sum", Sum(x), c.Sum)
		check("mean", Mean(x), c.Mean)
		check("std", Std(x), c.Std)
		check("median", s.Median(), c.Median)
		for i, p := range c.P {
			check(fmt.Sprint("percentile ", p), s.Percentile(p), c.Percentile[i])
		}
	}
}

// The check vector of the vLLM dialect's specification.
func TestPercentileVector(t *testing.T) {
	x := []float64{.1, .2, .4, .8, 1.6}
	for p, want := range map[float64]float64{25: .2, 90: 1.28, 95: 1.44, 99: 1.568, 99.9: 1.5968} {
		if got := Sort(x).Percentile(p); math.Abs(got-want) > 1e-15 {
			t.Errorf("P%v = %v, want %v", p, got, want)
		}
	}
	if got := Std(x); got != .5455272678794342 {
		t.Errorf("std = %v", got)
	}
}

func TestEmptySampleIsZero(t *testing.T) {
	s := Sort(nil)
	for i, v := range []float64{Sum(nil), Mean(nil), Std(nil), s.Median(), s.Percentile(99), s.Min(), s.Max()} {
		if v != 0 {
			t.Errorf("statistic %d of nothing is %v", i, v)
		}
	}
}

func TestPercentileStaysWithinTheSampleAndRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Sort(rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), 1, 50).Draw(t, "x"))
		p := rapid.Float64Range(0, 100).Draw(t, "p")
		q := rapid.Float64Range(p, 100).Draw(t, "q")
		a, b := s.Percentile(p), s.Percentile(q)
		slack := 1e-9 * (s.Max() - s.Min())
		if a < s.Min()-slack || b > s.Max()+slack || a > b+slack {
			t.Fatalf("P%v = %v, P%v = %v of %v", p, a, q, b, s)
		}
	})
}

func TestALargeSampleIsSortedToo(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	draws := map[string]func() float64{
		"gaps":      func() float64 { return math.Round(1e7*dice.ExpFloat64()) / 1e9 },
		"both ways": func() float64 { return math.Ldexp(dice.NormFloat64(), dice.IntN(2000)-1000) },
		"few":       func() float64 { return float64(dice.IntN(3) - 1) },
		"alike":     func() float64 { return 0.01 },
		"odd": func() float64 {
			return []float64{math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324, -5e-324}[dice.IntN(5)]
		},
		"undefined": func() float64 { return []float64{math.NaN(), 1, -1}[dice.IntN(3)] },
	}
	for name, draw := range draws {
		for _, n := range []int{radixFrom - 1, radixFrom, 50_000} {
			x := make([]float64, n)
			for i := range x {
				x[i] = draw()
			}
			before, want := slices.Clone(x), slices.Clone(x)
			slices.Sort(want)
			if got := Sort(x); !slices.EqualFunc(got, want, same) || !slices.EqualFunc(x, before, same) {
				t.Errorf("%s: %d values are not sorted, or not left as they were", name, n)
			}
		}
	}
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func BenchmarkSort(b *testing.B) {
	dice := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 1_000_000)
	for i := range x {
		x[i] = math.Round(1e7*dice.ExpFloat64()) / 1e9
	}
	for b.Loop() {
		Sort(x)
	}
}

// ln(0.025)/ln(q): 36 for the 90th percentile, 72 for the 95th, 368 for the
// 99th, 3688 for the 99.9th; the median needs 6 (1-0.5^6 = 0.984).
func TestSampleFor(t *testing.T) {
	for p, want := range map[float64]int{50: 6, 90: 36, 10: 36, 95: 72, 99: 368, 99.9: 3688, 100: math.MaxInt} {
		if got := SampleFor(p); got != want {
			t.Errorf("SampleFor(%v) = %d, want %d", p, got, want)
		}
	}
}

func ExampleSorted_Percentile() {
	ttft := Sort([]float64{0.1, 0.2, 0.4, 0.8, 1.6})
	fmt.Printf("median %.2f s, P99 %.3f s\n", ttft.Median(), ttft.Percentile(99))
	fmt.Printf("a P99 wants %d observations\n", SampleFor(99))
	// Output:
	// median 0.40 s, P99 1.568 s
	// a P99 wants 368 observations
}
