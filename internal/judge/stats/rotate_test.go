package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pitot-bench/pitot/internal/test/race"
)

// twoGroups returns the arguments of Rotation for two groups of runs,
// b[metric][run].
func twoGroups(a, b [][]float64) (effects []float64, groups [][][]float64, p []float64) {
	for i := range a {
		e := StudentDifference(a[i], b[i])
		effects = append(effects, e.Value/math.Sqrt(1/float64(len(a[i]))+1/float64(len(b[i]))))
		p = append(p, e.P())
	}
	return effects, [][][]float64{a, b}, p
}

// For one metric it is the t-test, also for the same metric ten times; for
// independent metrics it is nearly Šidák's 1-(1-p)^m.
func TestRotationKnowsWhatMetricsHaveInCommon(t *testing.T) {
	a, b := []float64{1, 2, 3}, []float64{4, 5.5, 6}
	one := StudentDifference(a, b).P()
	same := Rotation(twoGroups(slices.Repeat([][]float64{a}, 10), slices.Repeat([][]float64{b}, 10)))
	for _, p := range same {
		if math.Abs(p-one) > 0.004 { // four standard errors of a share of 2 % in 10 000
			t.Errorf("the same metric ten times: %v, alone %v", p, one)
		}
	}
	dice := rand.New(rand.NewPCG(1, 1))
	var manyA, manyB [][]float64
	for range 12 {
		var x, y []float64
		for range 60 {
			x, y = append(x, dice.NormFloat64()), append(y, dice.NormFloat64())
		}
		manyA, manyB = append(manyA, x), append(manyB, y)
	}
	for i := range manyB[0] {
		manyB[0][i] += 0.52
	}
	effects, groups, p := twoGroups(manyA, manyB)
	want := 1 - math.Pow(1-p[0], 12)
	if got := Rotation(effects, groups, p); math.Abs(got[0]-want) > 0.02 {
		t.Errorf("%v, want %v of P %v", got[0], want, p[0])
	}
}

func TestRotationOfOddMetrics(t *testing.T) {
	nan := math.NaN()
	effects := []float64{1, 0, 5, 2}
	groups := [][][]float64{{{1, 2, 3}, {4, 4, 4}, {7, 7, 7}, {1, 3, 5}}}
	got := Rotation(effects, groups, []float64{0.4, 1, 0, nan})
	if !(got[0] >= 0.4) || got[1] != 1 || !(got[2] > 0 && got[2] < 0.001) || !math.IsNaN(got[3]) {
		t.Errorf("%v", got)
	}
	if got := Rotation(nil, nil, nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if got := Rotation([]float64{1}, [][][]float64{{{3}}}, []float64{0.5}); !math.IsNaN(got[0]) {
		t.Errorf("without any noise seen: %v", got)
	}
}

// The result does not depend on the order of the runs or the scale of the metrics.
func TestRotationMindsNeitherOrderNorScale(t *testing.T) {
	a, b := [][]float64{{1, 2, 4}, {3, 1, 2}}, [][]float64{{4, 5.5, 6}, {2, 6, 4}}
	want := Rotation(twoGroups(a, b))
	got := Rotation(twoGroups([][]float64{{40, 10, 20}, {2, 3, 1}}, [][]float64{{60, 40, 55}, {4, 2, 6}}))
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-9 {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func TestRotationRaisesFewFalseAlarms(t *testing.T) {
	race.Skip(t)
	for _, n := range []int{2, 3, 4} {
		dice := seeded("rotation", n)
		alarms := 0
		for range costlySets {
			var sets [2][][]float64
			for g := range sets {
				sets[g] = make([][]float64, 8)
				for range n {
					shared := dice.NormFloat64()
					for m := range sets[g] {
						sets[g][m] = append(sets[g][m], shared+0.7*dice.NormFloat64())
					}
				}
			}
			if slices.Min(Rotation(twoGroups(sets[0], sets[1]))) <= 0.05 {
				alarms++
			}
		}
		rate := float64(alarms) / costlySets
		t.Logf("%d and %d runs: %.2f %%", n, n, 100*rate)
		if rate > 0.06 || rate < 0.035 {
			t.Errorf("%d and %d runs: a false alarm in %.2f %% of the data sets", n, n, 100*rate)
		}
	}
}

// Of two groups the directions are Helmert's, by hand: 1 and 2 of A, 41 and 44 of B differ by 41
// with a factor of 1, and the noise is (2-1)/√2 and (44-41)/√2.
func TestDirectionsAreRotationOfNoiseTakenApart(t *testing.T) {
	a, b := [][]float64{{1, 2}, {3, 1}}, [][]float64{{41, 44}, {22, 26}}
	effects, groups, p := twoGroups(a, b)
	want := Rotation(effects, groups, p)
	got := Directions([][]float64{{41, 1 / math.Sqrt2, 3 / math.Sqrt2}, {22, -2 / math.Sqrt2, 4 / math.Sqrt2}}, p)
	for i := range want {
		if math.Abs(got[i]-want[i]) > 0.002 { // four standard errors of a share of 0.1 % in 10 000
			t.Errorf("%v, want %v", got, want)
		}
	}
	if got := Directions([][]float64{{1}, {math.NaN(), 2}}, []float64{0.5, 0.5}); !math.IsNaN(got[0]) || !math.IsNaN(got[1]) {
		t.Errorf("without any noise seen: %v", got)
	}
}
