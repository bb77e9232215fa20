package calibrate

import (
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// One number that moves two figures alike is known as well as their mean; two numbers that
// do the same to all figures are not known at all.
func TestDeviationsByHand(t *testing.T) {
	noise := mat.NewSymDense(2, []float64{0.01, 0, 0, 0.01})
	if got := deviations(mat.NewDense(2, 1, []float64{1, 1}), noise); math.Abs(got[0]-0.1/math.Sqrt2) > 1e-12 {
		t.Errorf("%v", got)
	}
	// With correlation 1 the second figure says nothing new.
	noise = mat.NewSymDense(2, []float64{0.01, 0.01, 0.01, 0.01})
	if got := deviations(mat.NewDense(2, 1, []float64{1, 1}), noise); math.Abs(got[0]-0.1) > 1e-12 {
		t.Errorf("%v", got)
	}
	noise = mat.NewSymDense(2, []float64{0.01, 0, 0, 0.01})
	if got := deviations(mat.NewDense(2, 2, []float64{1, 2, 1, 2}), noise); !math.IsInf(got[0], 1) || !math.IsInf(got[1], 1) {
		t.Errorf("%v", got)
	}
}

func TestIntervalsOfFittedNumbers(t *testing.T) {
	v := 10.0
	f := field{reflect.ValueOf(&v).Elem()}
	for off, want := range map[float64]Interval{
		0: {"10", "10", 0}, math.Log(1.1): {"9.09", "11", 1.1 - 1/1.1}, math.Log(2): {"5", "20", 1.5}, math.Inf(1): {"0.01", "10000", 1000 - 0.001}, math.NaN(): {},
	} {
		got := f.around(off)
		if got.Low != want.Low || got.High != want.High || math.Abs(got.Share-want.Share) > 1e-9 || got.Determined() != (want.Share <= 0.5) || v != 10 {
			t.Errorf("off by %v: %+v, want %+v; then %v", off, got, want, v)
		}
	}
}
