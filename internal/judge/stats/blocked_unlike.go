package stats

import "math"

// Noise is the variance of the units of each variant. Only ratios are meaningful.
type Noise []float64

// Noise is that of the variants over all figures together, each a value by unit: a noisy server is
// noisy in many figures, and what a single figure shows of a few units is chance. Squares of what
// the model leaves of a variant's units have noise of the other variants in them, as
//
//	E[left of variant k] = Σ over variants l of share(k, l) × variance(l)
//
// where a share is the sum of the squared entries of the residual projection between their units.
// That is solved by factors, so that no variance is negative. Without any noise all are 1.
func (d *Design) Noise(figures [][]float64) Noise {
	of := make(Noise, d.variants)
	for k := range of {
		of[k] = 1
	}
	left, shares := d.residualsOf(figures), d.shares()
	if left == nil {
		return of
	}
	for range solving {
		factor := make([]float64, len(of))
		for k := range of {
			if expected := dot(shares[k], of); expected > 0 {
				factor[k] = left[k] / expected
			}
		}
		for k := range of {
			if factor[k] > 0 {
				of[k] = min(most, max(1/most, of[k]*factor[k]))
			}
		}
	}
	return of
}

const (
	solving = 100
	most    = 1e6
)

// residualsOf are the shares of the variants in what the model leaves, the geometric mean over figures;
// nil if there is no noise.
func (d *Design) residualsOf(figures [][]float64) []float64 {
	logs, n := make([]float64, d.variants), 0.0
	for _, y := range figures {
		squares, all := make([]float64, d.variants), 0.0
		for i, r := range d.residuals(y) {
			squares[d.units[i].Variant] += r * r
			all += r * r
		}
		if !(clean(math.Sqrt(all), y) > 0) {
			continue
		}
		n++
		for k := range logs {
			logs[k] += math.Log(max(squares[k]/all, 1/most))
		}
	}
	if n == 0 {
		return nil
	}
	for k := range logs {
		logs[k] = math.Exp(logs[k] / n)
	}
	return logs
}

// residuals are what the model leaves of values.
func (d *Design) residuals(y []float64) []float64 {
	out := make([]float64, len(y))
	for _, q := range d.residual {
		along := dot(q, y)
		for i := range out {
			out[i] += along * q[i]
		}
	}
	return out
}

func (d *Design) shares() [][]float64 {
	out := make([][]float64, d.variants)
	for k := range out {
		out[k] = make([]float64, d.variants)
	}
	for i, u := range d.units {
		axis := make([]float64, len(d.units))
		axis[i] = 1
		for j, m := range d.residuals(axis) {
			out[u.Variant][d.units[j].Variant] += m * m
		}
	}
	return out
}

// Unlike is the standard error of an estimator, in standard deviations of a unit as SD has it, and
// the degrees of freedom of that (Satterthwaite 1946), where the noise of variants differs.
func (d *Design) Unlike(e *Estimator, of Noise) (factor, df float64) {
	trace, square, effect := 0.0, 0.0, 0.0
	for j, p := range e.residual {
		for k, q := range e.residual {
			along := 0.0
			for i, u := range d.units {
				along += p[i] * q[i] * of[u.Variant]
			}
			if square += along * along; j == k {
				trace += along
			}
		}
	}
	for i, u := range d.units {
		effect += e.weights[i] * e.weights[i] * of[u.Variant]
	}
	n := float64(len(e.residual))
	return math.Sqrt(effect * n / trace), trace * trace / square
}
