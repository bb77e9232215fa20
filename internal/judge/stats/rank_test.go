package stats

import (
	"math"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
	"pgregory.net/rapid"
)

// Tables of Mann and Whitney (1947): of 5 and 5 values U ≤ 2 has the one-sided
// probability 4/252, of 4 and 6 values U = 0 has 1/210.
func TestMannWhitneyTable(t *testing.T) {
	// 5 and 7 are above 4, 7 is above 6: U = 3, which 7 of 252 arrangements reach below.
	test := MannWhitney([]float64{4, 6, 8, 9, 10}, []float64{1, 2, 3, 5, 7})
	if test != (Test{P: 14. / 252, Statistic: 3, Exact: true, Arrangements: 252}) {
		t.Errorf("%+v", test)
	}
	if p := MannWhitney([]float64{4, 6, 7, 9, 10}, []float64{1, 2, 3, 5, 5.5}).P; p != 8./252 {
		t.Errorf("U = 2: P = %v", p)
	}
	if p := MannWhitney([]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8, 9, 10}).P; p != 2./210 {
		t.Errorf("U = 24: P = %v", p)
	}
}

// Of the 256 signs of 8 pairs, the negative ranks of five sum up to at most 3: none, 1,
// 2, 3 and 1+2; any table of Wilcoxon's test has 5/256 there, one-sided.
func TestWilcoxonTable(t *testing.T) {
	test := WilcoxonSignedRank([]float64{-1, -2, 3, 4, 5, 6, 7, 8})
	if test != (Test{P: 10. / 256, Statistic: 33, Exact: true, Arrangements: 256}) {
		t.Errorf("%+v", test)
	}
	if test := WilcoxonSignedRank([]float64{0, 0, 0}); test.P != 1 || test.Statistic != 0 {
		t.Errorf("no difference at all: %+v", test)
	}
}

// Hollander, Wolfe and Chicken (2014), chapter 4: permeability of membranes at term and
// before; R's wilcox.test documents W = 35, P = 0.2544, the shift 0.305 and the interval
// -0.15 to 0.76 at 95 %.
func TestHodgesLehmannOfPermeability(t *testing.T) {
	term := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	early := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	test, e := MannWhitney(early, term), HodgesLehmann(early, term, 0.95)
	near(t, "U", test.Statistic, 35, 0)
	near(t, "P", test.P, 0.2544, 5e-5)
	near(t, "shift", e.Value, 0.305, 1e-12)
	nearInterval(t, "interval", e.Interval, [2]float64{-0.15, 0.76}, 1e-12)
}

// The same, chapter 3: depression of nine patients before and after a drug; R documents
// V = 40, P = 0.03906 two-sided; the middle of the Walsh averages is 0.46 with 0.01 to
// 0.786 at 96.1 %.
func TestHodgesLehmannOfDepression(t *testing.T) {
	before := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	after := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	var d []float64
	for i := range before {
		d = append(d, before[i]-after[i])
	}
	test, e := WilcoxonSignedRank(d), HodgesLehmannPaired(d, 0.95)
	near(t, "V", test.Statistic, 40, 0)
	near(t, "P", test.P, 0.0390625, 1e-12)
	near(t, "middle", e.Value, 0.46, 1e-9)
	nearInterval(t, "interval", e.Interval, [2]float64{0.01, 0.786}, 1e-9)
	near(t, "level", e.Interval.Level, 1-0.0390625, 1e-12)
}

// benchmath enumerates the distribution of U by another method, with ties that
// leave it symmetric.
func TestUAsBenchmathHasIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		m := rapid.IntRange(1, 8).Draw(t, "m")
		steps := 1_000_000_000
		if n == m && rapid.Bool().Draw(t, "ties") {
			steps = 8
		}
		value := rapid.Map(rapid.IntRange(0, steps), func(i int) float64 { return float64(i) })
		a, b := rapid.SliceOfN(value, n, n).Draw(t, "a"), rapid.SliceOfN(value, m, m).Draw(t, "b")
		all := slices.Concat(a, b)
		slices.Sort(all)
		if len(slices.Compact(all)) < n+m && n != m || all[0] == all[len(all)-1] {
			return
		}
		thresholds := &benchmath.DefaultThresholds
		want := benchmath.AssumeNothing.Compare(benchmath.NewSample(slices.Clone(a), thresholds), benchmath.NewSample(slices.Clone(b), thresholds))
		if got := MannWhitney(a, b).P; math.Abs(got-want.P) > 1e-12 {
			t.Fatalf("P = %v, benchmath has %v", got, want.P)
		}
	})
}

// The interval of a median: benchmath selects the same values if both are
// symmetric.
func TestMedianIntervalAsBenchmathHasIt(t *testing.T) {
	dice := seeded("median", 0)
	for n := 6; n <= 60; n++ {
		x := Sort(noises[0].runs(dice, n))
		want := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(x), &benchmath.DefaultThresholds), 0.95)
		got := QuantileInterval(x, 50, 0.95)
		if got.Level+1e-12 < 0.95 || got.Level > want.Confidence+0.06 || got.Holds(want.Center) == false {
			t.Errorf("%d values: %+v, benchmath has %+v", n, got, want)
		}
		if math.Abs(got.Level-want.Confidence) < 1e-9 && (got.Low != want.Lo || got.High != want.Hi) {
			t.Errorf("%d values: %+v, benchmath has %+v", n, got, want)
		}
	}
}

// Above the size of the exact tests, the normal distribution gives the same as
// enumeration.
func TestManyRanksAreNormal(t *testing.T) {
	dice := seeded("ranks", 0)
	for _, ties := range []float64{1e-6, 2} {
		draw := func(n int, shift float64) []float64 {
			x := noises[0].runs(dice, n)
			for i := range x {
				x[i] = math.Round((x[i]+shift)/ties) * ties
			}
			return x
		}
		a, b := draw(51, 0), draw(50, 1.5)
		test := MannWhitney(a, b)
		ranks := doubledRanks(slices.Concat(b, a))
		counted := shareBeyond(subsetSums(ranks, 50), sum(ranks[:50]), 2*50*102)
		if test.Exact || math.Abs(test.P-counted) > 0.003 {
			t.Errorf("%+v, counted out %v", test, counted)
		}
		d := slices.DeleteFunc(draw(200, -99), func(v float64) bool { return v == 0 })
		test = WilcoxonSignedRank(d)
		sizes := slices.Clone(d)
		for i := range sizes {
			sizes[i] = math.Abs(sizes[i])
		}
		ranks = doubledRanks(sizes)
		counted = shareBeyond(signSums(ranks), int(2*test.Statistic), sum(ranks))
		if len(d) <= exactRanks || test.Exact || math.Abs(test.P-counted) > 0.003 {
			t.Errorf("%d: %+v, counted out %v", len(d), test, counted)
		}
	}
	k, _ := cut(subsetSums(upTo(101), 50)[50*51/2:], 0.95)
	if n := normalCut(50*51/2, 50*51*102/12, 0.95); n < k-2 || n > k+2 {
		t.Errorf("ends of 51 and 50: %d, counted out %d", n, k)
	}
	k, _ = cut(signSums(upTo(101)), 0.95)
	if n := normalCut(101*102/4, 101*102*203/24, 0.95); n < k-2 || n > k+2 {
		t.Errorf("ends of 101 pairs: %d, counted out %d", n, k)
	}
}

func TestShiftsOfManyValues(t *testing.T) {
	dice := seeded("shifts", 0)
	a, b := noises[0].runs(dice, 60), noises[0].runs(dice, 60)
	e := HodgesLehmann(a, b, 0.95)
	student, _ := StudentDifference(a, b, 0.95)
	near(t, "low", e.Interval.Low, student.Interval.Low, 1)
	near(t, "high", e.Interval.High, student.Interval.High, 1)
	e, student = HodgesLehmannPaired(slices.Concat(a, b), 0.95), StudentMean(slices.Concat(a, b), 0.95)
	near(t, "low, pairs", e.Interval.Low, student.Interval.Low, 0.005)
	near(t, "high, pairs", e.Interval.High, student.Interval.High, 0.005)
}
