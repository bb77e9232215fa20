package stats

import (
	"fmt"
	"math"
	"testing"
)

// Hours of sleep that two drugs gave to the same ten patients, "Student" (1908),
// Biometrika 6.
var (
	drug1 = []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2}
	drug2 = []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

// R's documentation of t.test has them: paired t = -4.0621, df = 9, P = 0.002833,
// interval -2.4599 to -0.7001; Welch t = -1.8608, df = 17.776, P = 0.07939, interval
// -3.3655 to 0.2055; Student's t the same at df = 18, P = 0.07919, -3.3639 to 0.2039.
func TestSleep(t *testing.T) {
	var d []float64
	for i := range drug1 {
		d = append(d, drug1[i]-drug2[i])
	}
	e := StudentMean(d)
	nearInterval(t, "paired", e.Interval(0.95), [2]float64{-2.4598858, -0.7001142}, 1e-7)
	near(t, "paired t", e.Value/e.Error, -4.0621, 1e-4)
	near(t, "paired P", e.P(), 0.002833, 1e-6)
	e = welch(drug2, drug1)
	nearInterval(t, "Welch", e.Interval(0.95), [2]float64{-3.3654832, 0.2054832}, 1e-7)
	near(t, "Welch t", e.Value/e.Error, -1.8608, 1e-4)
	near(t, "Welch P", e.P(), 0.07939, 1e-5)
	near(t, "Welch df", e.DF, 17.776, 1e-4)
	e = StudentDifference(drug2, drug1)
	nearInterval(t, "Student", e.Interval(0.95), [2]float64{-3.363874, 0.203874}, 1e-6)
	near(t, "Student P", e.P(), 0.07919, 1e-5)
	near(t, "df", e.DF, 18, 0)
}

// welch is Welch's difference: at the own ratio of the variances.
func welch(a, b []float64) Estimate {
	if len(a) < 2 || len(b) < 2 || !finite(a, b) {
		return noEstimate
	}
	two := TwoGroupsOf(a, b)
	return two.Difference(Mean(b)-Mean(a), FamilyRatio([]TwoGroups{two}))
}

// Ratios of 9 and 4 make one of 6: 49/18.5 degrees of freedom, where Welch has 2.439 and 2.941 and
// Student 4.
func TestDifferenceAtTheRatioOfTheFamily(t *testing.T) {
	one, other := TwoGroupsOf([]float64{0, 2, 4}, []float64{6, 12, 18}), TwoGroupsOf([]float64{1, 2, 3}, []float64{5, 7, 9})
	ratio := FamilyRatio([]TwoGroups{one, other, TwoGroupsOf([]float64{1, 1}, []float64{2, 3})})
	near(t, "ratio", ratio, 6, 1e-12)
	e := one.Difference(10, ratio)
	near(t, "degrees of freedom", e.DF, 49/18.5, 1e-12)
	near(t, "t", e.Value/e.Error, 2.738613, 1e-6)
	near(t, "P", e.P(), 0.08199, 1e-5)
	near(t, "half width", e.Interval(0.95).High-10, 12.5433, 1e-5)
	near(t, "Welch's P", welch([]float64{0, 2, 4}, []float64{6, 12, 18}).P(), 0.08980, 1e-5)
	near(t, "Student's P", one.Pooled(10).P(), 0.05198, 1e-5)
	e = other.Difference(5, ratio)
	near(t, "t", e.Value/e.Error, 3.872983, 1e-6)
	near(t, "P", e.P(), 0.03795, 1e-5)
	near(t, "half width", e.Interval(0.95).High-5, 4.4347, 1e-5)
	near(t, "Welch's P", welch([]float64{1, 2, 3}, []float64{5, 7, 9}).P(), 0.03156, 1e-5)
}

// Ratios of 2.5 and 10, with 3 and 5 values: one of 5 and 16/(1/2+9/4) degrees of freedom.
func TestDifferenceOfUnlikeGroups(t *testing.T) {
	one, other := TwoGroupsOf([]float64{0, 2, 4}, []float64{3, 5, 7, 9, 11}), TwoGroupsOf([]float64{1, 2, 3}, []float64{2, 4, 6, 8, 10})
	ratio := FamilyRatio([]TwoGroups{one, other})
	near(t, "degrees of freedom", one.Difference(5, ratio).DF, 5.818182, 1e-6)
	near(t, "P", one.Difference(5, ratio).P(), 0.03488, 1e-5)
	near(t, "P of the other", other.Difference(4, ratio).P(), 0.04082, 1e-5)
}

func TestDegreesOfFreedomOfOddRatios(t *testing.T) {
	two := TwoGroups{NA: 3, NB: 5, VA: 1, VB: 1}
	for ratio, want := range map[float64]float64{0: 2, math.Inf(1): 4} {
		near(t, fmt.Sprint("ratio ", ratio), two.Difference(1, ratio).DF, want, 0)
	}
	two.NB = 3
	near(t, "equal variances, as many of each", two.Difference(1, 1).DF, 4, 1e-12)
	near(t, "no noise at all", FamilyRatio([]TwoGroups{{NA: 2, NB: 2}}), 1, 0)
}

// Deviations of {1,2,3} and {10,14}: squares 2 and 8 with 3 degrees of freedom.
func TestPooledSD(t *testing.T) {
	sd, df := PooledSD([]float64{1, 2, 3}, []float64{99}, []float64{10, 14}, nil)
	near(t, "pooled deviation", sd, math.Sqrt(10./3), 1e-15)
	if df != 3 {
		t.Errorf("%v degrees of freedom", df)
	}
	if sd, df := PooledSD([]float64{1}, []float64{2}); !math.IsNaN(sd) || df != 0 {
		t.Errorf("single values have the deviation %v, %v", sd, df)
	}
}

// knownDifference is a difference of means of na and nb values with a standard deviation from
// elsewhere, with df degrees of freedom.
func knownDifference(difference, sd, df float64, na, nb int) Estimate {
	return Estimate{difference, sd * math.Sqrt(1/float64(na)+1/float64(nb)), df}
}

// 1.959964·√(2²·(1/1+1/4)) = 4.382613; z = 3/√5, twice 1-Φ(1.341641) = 0.179712.
func TestAKnownDeviationMakesItNormal(t *testing.T) {
	e := knownDifference(3, 2, math.Inf(1), 1, 4)
	nearInterval(t, "known deviation", e.Interval(0.95), [2]float64{3 - 4.382613, 3 + 4.382613}, 1e-6)
	near(t, "z", e.Value/e.Error, 1.3416408, 1e-7)
	near(t, "P", e.P(), 0.179712, 1e-5)
	// With 3 degrees of freedom the 97.5 % point of t is 3.182446 (any table).
	e = knownDifference(3, 2, 3, 1, 4)
	near(t, "reach", e.Interval(0.95).High-3, 3.182446*math.Sqrt(5), 1e-6)
}

// Tables of t have 12.7062, 4.3027, 3.1824, 2.7764, 2.2622, 2.0423 at 97.5 %.
func TestStudentTable(t *testing.T) {
	for df, want := range map[float64]float64{1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 9: 2.2622, 30: 2.0423, 1e9: 1.96} {
		near(t, fmt.Sprint("t of ", df), studentQuantile(df, 0.975), want, 5e-5)
	}
}

func TestADifferenceWithoutNoise(t *testing.T) {
	same, more := []float64{0.1, 0.1, 0.1}, []float64{0.3, 0.3, 0.3}
	for _, f := range []func(a, b []float64) Estimate{StudentDifference, welch} {
		e := f(same, more)
		if e.P() != 0 || !math.IsInf(e.Value/e.Error, 1) || e.Interval(0.95).Low != e.Value || e.Error != 0 {
			t.Errorf("0.1 and 0.3: %+v", e)
		}
		if e := f(same, same); e.P() != 1 || e.Value != 0 {
			t.Errorf("0.1 and 0.1: %+v", e)
		}
	}
}

// StudentDifference is Student's two-sample test, to which the others are compared.
func StudentDifference(a, b []float64) Estimate {
	if len(a) < 1 || len(b) < 1 || !finite(a, b) {
		return noEstimate
	}
	sd, df := PooledSD(a, b)
	if !(df > 0) {
		return noEstimate
	}
	return Estimate{Mean(b) - Mean(a), sd * math.Sqrt(1/float64(len(a))+1/float64(len(b))), df}
}
