package stats

import (
	"math"
	"slices"
	"testing"
)

// Two metrics of 2 and 2 runs, by hand. The three arrangements, without mirror
// images, by the runs they group, with the difference of sums:
//
//	              runs 1 2 | 3 4   1 3 | 2 4   1 4 | 2 3
//	0 1 | 4 9          12               6              4      -> P 1/3
//	0 9 | 1 5           3              13              5      -> P 1
//
// Over the deviations, √49 and √50.75, the largest of both is 1.71, 1.82 and 0.70:
// the first metric's 1.71 is reached twice.
func TestMaxTByHand(t *testing.T) {
	p, adjusted := MaxT([][]float64{{0, 1}, {0, 9}}, [][]float64{{4, 9}, {1, 5}})
	if want := []float64{1. / 3, 1}; !slices.Equal(p, want) {
		t.Errorf("p = %v, want %v", p, want)
	}
	if want := []float64{2. / 3, 1}; !slices.Equal(adjusted, want) {
		t.Errorf("adjusted = %v, want %v", adjusted, want)
	}
}

// One metric repeated ten times is one metric: no correction, while Holm's is
// tenfold.
func TestMaxTOfTheSameMetric(t *testing.T) {
	a, b := slices.Repeat([][]float64{{1, 2, 3, 4}}, 10), slices.Repeat([][]float64{{5, 6, 7, 8}}, 10)
	for i := range a {
		a[i], b[i] = slices.Clone(a[i]), slices.Clone(b[i])
		for j := range a[i] {
			a[i][j] *= math.Pow(10, float64(i)) // in other units
			b[i][j] *= math.Pow(10, float64(i))
		}
	}
	_, adjusted := MaxT(a, b)
	for _, p := range adjusted {
		if p != 2./70 {
			t.Fatalf("adjusted = %v", adjusted)
		}
	}
	if p := Holm(slices.Repeat([]float64{2. / 70}, 10)); math.Abs(p[0]-20./70) > 1e-15 {
		t.Errorf("Holm has %v", p)
	}
}

func TestMetricsThatCannotBeTested(t *testing.T) {
	nan := math.NaN()
	a := [][]float64{{1, 2, 3, 4}, {7, 7, 7, 7}, {1, nan, 3, 4}, {1, 2}, {0, 0, 0, 0}, {1, 2, 3, 4}}
	b := [][]float64{{5, 6, 7, 8}, {7, 7, 7, 7}, {1, 2, 3, 4}, {1, 2}, {1, 1, 1, 1}}
	p, adjusted := MaxT(a, b)
	least := 2. / 70
	want := []float64{least, 1, nan, nan, least, nan}
	if !slices.EqualFunc(p, want, same) || !slices.EqualFunc(adjusted, want, same) {
		t.Errorf("p = %v, adjusted = %v, want %v", p, adjusted, want)
	}
	p, adjusted = MaxTPaired([][]float64{{1, 2, 3}, {0, 0, 0}, {1, math.Inf(1), 2}})
	want = []float64{0.25, 1, nan}
	if !slices.EqualFunc(p, want, same) || !slices.EqualFunc(adjusted, want, same) {
		t.Errorf("pairs: p = %v, adjusted = %v, want %v", p, adjusted, want)
	}
}

// A metric's own P is that of the permutation test, and the correction never lowers
// it.
func TestMaxTBesideSingleTests(t *testing.T) {
	dice := seeded("max T", 6)
	for range 50 {
		a, b := correlated(dice, noises[1], 5, 6), correlated(dice, noises[1], 5, 6)
		p, adjusted := MaxT(a, b)
		_, d := differences(a, b)
		q, paired := MaxTPaired(d)
		holm := Holm(p)
		for i := range p {
			if p[i] != permuted(a[i], b[i]) || q[i] != flipped(d[i]) {
				t.Fatalf("metric %d: %v and %v", i, p[i], q[i])
			}
			if adjusted[i] < p[i] || paired[i] < q[i] || adjusted[i] > max(holm[i], 1) {
				t.Fatalf("metric %d: %v adjusted to %v, %v to %v", i, p[i], adjusted[i], q[i], paired[i])
			}
		}
	}
}
