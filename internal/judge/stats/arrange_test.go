package stats

import (
	"fmt"
	"math"
	"testing"
)

// Of the 20 arrangements of 1 2 3 | 4 5 9 only the observed one and its mirror
// image reach the difference 4; of 1 2 4 | 3 5 9 (10/3) so do those with 1 2 3,
// each with its mirror image.
func TestPermutationByHand(t *testing.T) {
	if p := permuted([]float64{1, 2, 3}, []float64{4, 5, 9}); p != 0.1 {
		t.Errorf("P = %v", p)
	}
	if p := permuted([]float64{1, 2, 4}, []float64{3, 5, 9}); p != 0.2 {
		t.Errorf("P = %v", p)
	}
}

// permuted is the P of one metric by MaxT, and flipped that by MaxTPaired.
func permuted(a, b []float64) float64 {
	p, _ := MaxT([][]float64{a}, [][]float64{b})
	return p[0]
}

func flipped(d []float64) float64 {
	p, _ := MaxTPaired([][]float64{d})
	return p[0]
}

// Fisher (1935), The Design of Experiments, section 21: of the 32768 signs of
// Darwin's fifteen pairs of maize, 1726 give a sum as far from 0.
func TestSignFlipOfDarwinsMaize(t *testing.T) {
	d := []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}
	if p := flipped(d); p != 1726./32768 {
		t.Errorf("P = %v", p)
	}
}

// 15 and 15 values have 155 117 520 arrangements; sampling gives about the P of
// Student's t, which is close for so many values.
func TestManyValuesAreDrawn(t *testing.T) {
	dice := seeded("drawn", 15)
	a, b := noises[0].runs(dice, 15), noises[0].runs(dice, 15)
	for i := range b {
		b[i] += 4
	}
	p := permuted(a, b)
	student := StudentDifference(a, b).P()
	if math.Abs(p-student) > 0.005 {
		t.Errorf("P = %v, Student has %v", p, student)
	}
	if again := permuted(a, b); again != p {
		t.Errorf("P = %v, then %v", p, again)
	}
	if rest := p * float64(usual.drawn); rest != math.Round(rest) {
		t.Errorf("P = %v is no share of the %d drawn", p, usual.drawn)
	}
	var d []float64
	for range 3 {
		d = append(d, a[:10]...)
	}
	for i := range d {
		d[i] -= 99
	}
	flips, mean := flipped(d), StudentMean(d).P()
	if math.Abs(flips-mean) > 0.01 {
		t.Errorf("P = %v, Student has %v", flips, mean)
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
	near(t, "apart", permuted(low, high), MinArrangementP(5, 5), 1e-15)
	near(t, "positive", flipped(low), MinSignP(5), 1e-15)
}
