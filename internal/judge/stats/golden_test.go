package stats

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// golden is testdata/inference.json, written by testdata/inference.py with scipy
// 1.17.1, statsmodels 0.15.0 and mpmath: permutation tests by scipy's full
// enumeration, power by integration in 25 digits.
type golden struct {
	Two []struct {
		A, B                                        []float64
		StudentT, StudentP, WelchT, WelchP, WelchDF float64
		Student, Welch                              [2]float64
		Permutation                                 float64
	}
	One []struct {
		D              []float64
		T, P, SignFlip float64
		Student        [2]float64
	}
	Power []struct {
		N                     int
		Effect, Power, Paired float64
	}
	Far    []struct{ DF, Far, Alpha, Power float64 }
	Adjust []struct{ P, Holm []float64 }
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
		e := StudentDifference(c.A, c.B)
		near(t, "Student's t", e.Value/e.Error, c.StudentT, 1e-10)
		near(t, "Student's P", e.P(), c.StudentP, 1e-10)
		nearInterval(t, "Student's interval", e.Interval(0.95), c.Student, 1e-9)
		e = welch(c.A, c.B)
		near(t, "Welch's t", e.Value/e.Error, c.WelchT, 1e-10)
		near(t, "Welch's P", e.P(), c.WelchP, 1e-10)
		near(t, "Welch's degrees of freedom", e.DF, c.WelchDF, 1e-10)
		nearInterval(t, "Welch's interval", e.Interval(0.95), c.Welch, 1e-9)
		if c.Permutation >= 0 {
			p, _ := MaxT([][]float64{c.A}, [][]float64{c.B})
			near(t, "P of all arrangements", p[0], c.Permutation, 1e-12)
		}
	}
}

func TestPairsAsScipyHasThem(t *testing.T) {
	for _, c := range readGolden(t).One {
		e := StudentMean(c.D)
		near(t, "t of the mean", e.Value/e.Error, c.T, 1e-10)
		near(t, "P of the mean", e.P(), c.P, 1e-10)
		nearInterval(t, "interval of the mean", e.Interval(0.95), c.Student, 1e-9)
		if c.SignFlip >= 0 {
			p, _ := MaxTPaired([][]float64{c.D})
			near(t, "P of all signs", p[0], c.SignFlip, 1e-12)
		}
	}
}

func TestAdjustmentsAsStatsmodelsHasThem(t *testing.T) {
	for _, c := range readGolden(t).Adjust {
		holm := Holm(c.P)
		for i := range c.P {
			near(t, "Holm", holm[i], c.Holm[i], 1e-14)
		}
	}
}

func TestPowerAsIntegrated(t *testing.T) {
	g := readGolden(t)
	for _, c := range g.Power {
		near(t, "power", Power(1, c.Effect, c.N, false, 0.05), c.Power, 1e-8)
		near(t, "power of pairs", Power(1, -c.Effect, c.N, true, 0.05), c.Paired, 1e-8)
	}
	for _, c := range g.Far {
		near(t, "power far out", power(1, c.Far, c.DF, c.Alpha), c.Power, 1e-7)
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
