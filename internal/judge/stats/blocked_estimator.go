package stats

import (
	"math"
)

// An Estimator is a linear estimate with the directions in which its noise is seen.
type Estimator struct {
	weights  []float64   // by unit
	residual [][]float64 // orthonormal
	// Factor is the standard error of the estimate, in standard deviations of a unit.
	Factor float64
}

// estimator estimates the coefficient of a column in addition to the columns of a space; nil if it
// lies in that space.
func estimator(others *space, column []float64, residual [][]float64) *Estimator {
	left, ok := others.residual(column)
	if !ok {
		return nil
	}
	square := dot(left, left)
	for i := range left {
		left[i] /= square
	}
	return &Estimator{weights: left, residual: residual, Factor: 1 / math.Sqrt(square)}
}

// DF is how many degrees of freedom the noise has.
func (e *Estimator) DF() int { return len(e.residual) }

// Value is the estimate.
func (e *Estimator) Value(y []float64) float64 { return clean(dot(e.weights, y), y) }

// SD is the standard deviation of a unit; NaN without degrees of freedom.
func (e *Estimator) SD(y []float64) float64 {
	sum := 0.0
	for _, q := range e.residual {
		sum += math.Pow(dot(q, y), 2)
	}
	return clean(math.Sqrt(sum/float64(len(e.residual))), y)
}

// clean is v without the dust that is left of values that are all the same.
func clean(v float64, y []float64) float64 {
	largest := 0.0
	for _, x := range y {
		largest = max(largest, math.Abs(x))
	}
	if math.Abs(v) < 1e-13*largest {
		return 0
	}
	return v
}

// Estimate is the estimate with its standard error.
func (e *Estimator) Estimate(y []float64) Estimate {
	return Estimate{Value: e.Value(y), Error: e.SD(y) * e.Factor, DF: float64(e.DF())}
}

// Coordinates are the estimate over its Factor, and the noise: of normal noise and without an
// effect all of one variance, and independent.
func (e *Estimator) Coordinates(y []float64) []float64 {
	out := []float64{e.Value(y) / e.Factor}
	for _, q := range e.residual {
		out = append(out, dot(q, y))
	}
	return out
}

// A space is spanned by orthonormal vectors.
type space struct{ basis [][]float64 }

func newSpace(columns ...[][]float64) *space {
	s := new(space)
	for _, some := range columns {
		for _, c := range some {
			s.add(c)
		}
	}
	return s
}

// add widens the space by a vector, unless it lies in it.
func (s *space) add(x []float64) {
	left, ok := s.residual(x)
	if !ok {
		return
	}
	length := math.Sqrt(dot(left, left))
	for i := range left {
		left[i] /= length
	}
	s.basis = append(s.basis, left)
}

// residual is what of a vector is not in the space; false if that is nothing. Gram and Schmidt's
// way is gone twice, which is as exact as Householder's (Giraud et al. 2005).
func (s *space) residual(x []float64) ([]float64, bool) {
	out := append([]float64(nil), x...)
	for range 2 {
		for _, q := range s.basis {
			along := dot(q, out)
			for i := range out {
				out[i] -= along * q[i]
			}
		}
	}
	return out, dot(out, out) > 1e-18*dot(x, x)
}

// complement is an orthonormal basis of the complement of the space.
func (s *space) complement(dimensions int) [][]float64 {
	all := &space{basis: append([][]float64(nil), s.basis...)}
	for i := range dimensions {
		if len(all.basis) == dimensions {
			break
		}
		axis := make([]float64, dimensions)
		axis[i] = 1
		all.add(axis)
	}
	return all.basis[len(s.basis):]
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
