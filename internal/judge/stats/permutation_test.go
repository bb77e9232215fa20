package stats

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Of the 20 arrangements of 1 2 3 | 4 5 9 only the observed one and its mirror
// image reach the difference 4; of 1 2 4 | 3 5 9 (10/3) so do those with 1 2 3,
// each with its mirror image.
func TestPermutationByHand(t *testing.T) {
	test := Permutation([]float64{1, 2, 3}, []float64{4, 5, 9})
	if test != (Test{P: 0.1, Statistic: 4, Exact: true, Arrangements: 20}) {
		t.Errorf("%+v", test)
	}
	if p := Permutation([]float64{1, 2, 4}, []float64{3, 5, 9}).P; p != 0.2 {
		t.Errorf("P = %v", p)
	}
}

// Fisher (1935), The Design of Experiments, section 21: of the 32768 signs of
// Darwin's fifteen pairs of maize, 1726 give a sum as far from 0.
func TestSignFlipOfDarwinsMaize(t *testing.T) {
	d := []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}
	test := SignFlip(d)
	if test.P != 1726./32768 || !test.Exact || test.Arrangements != 32768 {
		t.Errorf("%+v", test)
	}
}

// 4 and 4 values have 69 other arrangements and so 34 pairs of them; at 95 % the interval
// is between the largest and the smallest of the swaps, mean(b swapped)-mean(a swapped):
// of 1 2 3 4 and 11 13 15 17, 11-4 and 17-1.
func TestPermutationIntervalByHand(t *testing.T) {
	e := PermutationInterval([]float64{1, 2, 3, 4}, []float64{11, 13, 15, 17}, 0.95)
	nearInterval(t, "interval", e.Interval, [2]float64{7, 16}, 1e-12)
	near(t, "level", e.Interval.Level, 1-2./70, 1e-15)
	near(t, "difference", e.Value, 11.5, 1e-15)
	e = PermutationInterval([]float64{1, 2, 3}, []float64{4, 5, 6}, 0.95)
	if !math.IsNaN(e.Interval.Low) || !math.IsNaN(e.Interval.High) || e.Value != 3 {
		t.Errorf("3 and 3 values have no interval, got %+v", e)
	}
}

// The interval contains the shifts that the test does not reject at the level
// reached.
func TestThePermutationIntervalInvertsTheTest(t *testing.T) {
	value := rapid.Float64Range(90, 110)
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(value, 2, 6).Draw(t, "a")
		b := rapid.SliceOfN(value, 2, 6).Draw(t, "b")
		i := PermutationInterval(a, b, rapid.SampledFrom([]float64{0.5, 0.8, 0.9, 0.95}).Draw(t, "level")).Interval
		if math.IsNaN(i.Level) {
			return
		}
		shifted := func(s float64) []float64 {
			x := make([]float64, len(b))
			for j, v := range b {
				x[j] = v - s
			}
			return x
		}
		step := 1e-6
		for s, held := range map[float64]bool{i.Low - step: false, i.Low + step: true, i.High - step: true, i.High + step: false} {
			if i.High-i.Low < 3*step {
				return
			}
			if p := Permutation(a, shifted(s)).P; (p > 1-i.Level+1e-9) != held {
				t.Fatalf("%v: P = %v of the shift %v", i, p, s)
			}
		}
	})
}

// 15 and 15 values have 155 117 520 arrangements; sampling gives about the P of
// Student's t, which is close for so many values.
func TestManyValuesAreDrawn(t *testing.T) {
	dice := seeded("drawn", 15)
	a, b := noises[0].runs(dice, 15), noises[0].runs(dice, 15)
	for i := range b {
		b[i] += 4
	}
	test := Permutation(a, b)
	_, student := StudentDifference(a, b, 0.95)
	if test.Exact || test.Arrangements != usual.drawn || math.Abs(test.P-student.P) > 0.005 {
		t.Errorf("%+v, Student has %v", test, student.P)
	}
	if again := Permutation(a, b); again != test {
		t.Errorf("%+v, then %+v", test, again)
	}
	var d []float64
	for range 3 {
		d = append(d, a[:10]...)
	}
	for i := range d {
		d[i] -= 99
	}
	flips, mean := SignFlip(d), StudentMean(d, 0.95).differsFromZero()
	if flips.Exact || math.Abs(flips.P-mean.P) > 0.01 {
		t.Errorf("%+v, Student has %v", flips, mean.P)
	}
}

func TestTheLeastP(t *testing.T) {
	for _, c := range []struct {
		na, nb int
		p      float64
	}{{3, 3, 0.1}, {4, 4, 2. / 70}, {3, 5, 1. / 56}, {10, 10, 2. / 184756}, {30, 30, 1e-5}} {
		near(t, fmt.Sprint(c.na, c.nb), MinArrangementP(c.na, c.nb), c.p, 1e-15)
	}
	for n, p := range map[int]float64{1: 1, 5: 1. / 16, 6: 1. / 32, 100: 1e-5} {
		near(t, fmt.Sprint(n), MinSignP(n), p, 1e-15)
	}
	low, high := []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}
	near(t, "apart", Permutation(low, high).P, MinArrangementP(5, 5), 1e-15)
	near(t, "positive", SignFlip(low).P, MinSignP(5), 1e-15)
}

func ExamplePermutationInterval() {
	before := []float64{102.1, 98.4, 101.7, 99.9}
	after := []float64{96.0, 94.8, 97.3, 95.1}
	i := PermutationInterval(before, after, 0.95).Interval
	fmt.Printf("%.1f to %.1f, %.1f %%\n", i.Low, i.High, 100*i.Level)
	// Output:
	// -7.3 to -1.1, 97.1 %
}
