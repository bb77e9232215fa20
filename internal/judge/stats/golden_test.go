package stats

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// golden is testdata/inference.json, written by testdata/inference.py with scipy
// 1.17.1, statsmodels 0.15.0, arch 8.0.0 and mpmath: permutation tests by scipy's full
// enumeration, power by integration in 25 digits.
type golden struct {
	Two []struct {
		A, B                                        []float64
		StudentT, StudentP, WelchT, WelchP, WelchDF float64
		Student, Welch                              [2]float64
		Permutation, MannWhitney                    float64
		U                                           float64
	}
	One []struct {
		D                           []float64
		T, P, SignFlip, Wilcoxon, W float64
		Student                     [2]float64
	}
	Power []struct {
		N                     int
		Effect, Power, Paired float64
	}
	Far    []struct{ DF, Far, Alpha, Power float64 }
	Adjust []struct{ P, Holm, BH []float64 }
	TOST   struct {
		A, B         []float64
		Low, High, P float64
	}
	Block []struct {
		N             int
		Rho, Circular float64
	}
	Bootstrap struct{ MeanBCa, MeanPercentile, Var20BCa, Var20Percentile [2]float64 }
}

func readGolden(t *testing.T) golden {
	t.Helper()
	b, err := os.ReadFile("testdata/inference.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(b, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// near fails unless got equals want to within rel of it, or of 1.
func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*max(1, math.Abs(want))) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func nearInterval(t *testing.T, what string, got Interval, want [2]float64, rel float64) {
	t.Helper()
	near(t, what+", low", got.Low, want[0], rel)
	near(t, what+", high", got.High, want[1], rel)
}

func TestTwoSamplesAsScipyHasThem(t *testing.T) {
	for _, c := range readGolden(t).Two {
		e, test := StudentDifference(c.A, c.B, 0.95)
		near(t, "Student's t", test.Statistic, c.StudentT, 1e-10)
		near(t, "Student's P", test.P, c.StudentP, 1e-10)
		nearInterval(t, "Student's interval", e.Interval, c.Student, 1e-9)
		e, test = WelchDifference(c.A, c.B, 0.95)
		near(t, "Welch's t", test.Statistic, c.WelchT, 1e-10)
		near(t, "Welch's P", test.P, c.WelchP, 1e-10)
		near(t, "Welch's degrees of freedom", e.DF, c.WelchDF, 1e-10)
		nearInterval(t, "Welch's interval", e.Interval, c.Welch, 1e-9)
		test = MannWhitney(c.A, c.B)
		near(t, "U", test.Statistic, c.U, 0)
		near(t, "P of U", test.P, c.MannWhitney, 1e-12)
		if !test.Exact {
			t.Errorf("U of %d and %d values is not exact", len(c.A), len(c.B))
		}
		if c.Permutation >= 0 {
			near(t, "P of all arrangements", Permutation(c.A, c.B).P, c.Permutation, 1e-12)
		}
	}
}

func TestPairsAsScipyHasThem(t *testing.T) {
	for _, c := range readGolden(t).One {
		e := StudentMean(c.D, 0.95)
		near(t, "t of the mean", e.differsFromZero().Statistic, c.T, 1e-10)
		near(t, "P of the mean", e.differsFromZero().P, c.P, 1e-10)
		nearInterval(t, "interval of the mean", e.Interval, c.Student, 1e-9)
		test := WilcoxonSignedRank(c.D)
		near(t, "W", test.Statistic, c.W, 0)
		near(t, "P of W", test.P, c.Wilcoxon, 1e-12)
		if c.SignFlip >= 0 {
			near(t, "P of all signs", SignFlip(c.D).P, c.SignFlip, 1e-12)
		}
	}
}

func TestAdjustmentsAsStatsmodelsHasThem(t *testing.T) {
	for _, c := range readGolden(t).Adjust {
		holm, bh := Holm(c.P), BenjaminiHochberg(c.P)
		for i := range c.P {
			near(t, "Holm", holm[i], c.Holm[i], 1e-14)
			near(t, "Benjamini-Hochberg", bh[i], c.BH[i], 1e-14)
		}
	}
}

func TestPowerAsIntegrated(t *testing.T) {
	g := readGolden(t)
	for _, c := range g.Power {
		near(t, "power", Power(1, c.Effect, c.N, 0.05), c.Power, 1e-8)
		near(t, "power of pairs", PairedPower(1, -c.Effect, c.N, 0.05), c.Paired, 1e-8)
	}
	for _, c := range g.Far {
		near(t, "power far out", power(1, c.Far, c.DF, c.Alpha), c.Power, 1e-7)
	}
}

func TestEquivalenceAsStatsmodelsHasIt(t *testing.T) {
	c := readGolden(t).TOST
	e, _ := StudentDifference(c.A, c.B, 0.9)
	near(t, "P of TOST", TOST(e, c.Low, c.High).P, c.P, 1e-10)
}

func TestBlockLengthAsArchHasIt(t *testing.T) {
	for _, c := range readGolden(t).Block {
		near(t, "block length", max(1, politisWhite(recipe(c.N, c.Rho))), max(1, c.Circular), 1e-9)
	}
}

// Bounds from 200 000 rounds of scipy's plain bootstrap; ours with the same reach,
// 1.96, from 20 000, with a scatter of about a hundredth of the width.
func TestBootstrapAsScipyHasIt(t *testing.T) {
	g := readGolden(t).Bootstrap
	x := recipe(100, 0)
	for i := range x {
		x[i] = math.Exp(2 * x[i])
	}
	mean := func(index []int) float64 { return Mean(at(x, index)) }
	variance := func(index []int) float64 { return math.Pow(Std(at(x, index)), 2) }
	r := Resampling{Rounds: 20000, Level: 0.95, Seed: 1, Block: 1}
	for _, c := range []struct {
		what            string
		n               int
		statistic       func([]int) float64
		percentile, bca [2]float64
	}{{"mean", 100, mean, g.MeanPercentile, g.MeanBCa}, {"variance", 20, variance, g.Var20Percentile, g.Var20BCa}} {
		drawn := r.draw(c.n, c.statistic)
		slack := 0.015 * (c.bca[1] - c.bca[0])
		bias := normalQuantile(drawn.rankOf(c.statistic(upToIndex(c.n))))
		nearInterval(t, c.what+", percentile", drawn.between(normalQuantile(0.975), 0, 0, 0.95), c.percentile, slack)
		nearInterval(t, c.what+", BCa", drawn.between(normalQuantile(0.975), bias, acceleration(c.n, c.statistic, 1), 0.95), c.bca, slack)
	}
}

// recipe is a series that Python and Go compute identically: noise from a
// congruential generator, each value with rho of the last.
func recipe(n int, rho float64) []float64 {
	x := make([]float64, n)
	state, v := uint64(12345), 0.0
	for i := range x {
		state = (state*1103515245 + 12345) % (1 << 31)
		v = rho*v + float64(state)/(1<<31) - 0.5
		x[i] = v
	}
	return x
}

func at(x []float64, index []int) []float64 {
	y := make([]float64, len(index))
	for i, j := range index {
		y[i] = x[j]
	}
	return y
}

func normalQuantile(p float64) float64 { return studentQuantile(math.Inf(1), p) }

func upToIndex(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}
