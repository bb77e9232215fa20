package calibrate

import (
	"context"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/model/profile"
)

// An Interval is where a fitted number lies as far as the evidence can tell, at 95 %: in the
// profile's notation, and as a share of the number.
type Interval struct {
	Low, High string
	Share     float64 // High less Low; 0 where nothing was found out
}

// Determined reports whether the evidence determines the number: its interval spans at most
// Undetermined of it.
func (i Interval) Determined() bool { return i.Share <= Undetermined }

// Undetermined is the share of a number from which on its interval determines nothing.
const Undetermined = 0.5

// determine finds the intervals of fitted numbers, by one linear step of a fit around the
// values found:
//
//	J     how the logarithm of each figure changes with that of each number
//	S     how figures vary from draw to draw, all at once: the measured run was one draw
//	R     what the fit left of each figure, squared: what the model cannot say
//	W     a figure weighs by its variance in S+R alone
//	step  δ = (JᵀWJ)⁻¹ JᵀW r, so its variance is that matrix times S+R times its transpose
//
// Of two numbers that do the same to all figures JᵀWJ has next to no inverse, and both get
// intervals without end.
func (f FitPlan) determine(ctx context.Context, p *profile.Profile, fields []field, out *Fitted) {
	var moving []int // fields with influence
	for i := range fields {
		if !out.Fields[i].Idle {
			moving = append(moving, i)
		}
	}
	draws, measured := f.logs(ctx, p, max(f.Draws, variedDraws))
	if draws == nil || len(moving) == 0 || len(moving) > len(measured) {
		return
	}
	slopes := mat.NewDense(len(measured), len(moving), nil)
	for k, i := range moving {
		slope := f.slope(ctx, p, fields[i])
		if len(slope) != len(measured) {
			return
		}
		slopes.SetCol(k, slope)
	}
	deviation := deviations(slopes, spread(draws, measured))
	for k, i := range moving {
		out.Fields[i].Interval = fields[i].around(2 * deviation[k])
	}
}

// variedDraws are so many draws that their variance is known to about a third.
const variedDraws = 24

// nudge is the change of a number that measures its effect, on the scale of logarithms.
const nudge = 0.15

// rounding is a relative error below which no figure of a note is.
const rounding = 0.002

// slope is how the logarithms of the figures change with that of a field.
func (f FitPlan) slope(ctx context.Context, p *profile.Profile, of field) []float64 {
	was := of.value()
	defer of.set(was)
	var ends [2][]float64
	var at [2]float64
	for i, by := range []float64{-nudge, nudge} {
		of.set(was * math.Exp(by))
		at[i] = math.Log(of.value()) // integers are rounded
		draws, _ := f.logs(ctx, p, f.Draws)
		ends[i] = means(draws)
	}
	if len(ends[0]) != len(ends[1]) || at[0] == at[1] {
		return nil
	}
	for j := range ends[1] {
		ends[1][j] = (ends[1][j] - ends[0][j]) / (at[1] - at[0])
	}
	return ends[1]
}

// logs are the logarithms of all figures of the evidence marked as fitted, by draw, and of
// what was measured; nil once ctx has ended, and for a profile that makes no figures.
func (f FitPlan) logs(ctx context.Context, p *profile.Profile, draws int) (simulated [][]float64, measured []float64) {
	simulated = make([][]float64, draws)
	for i := range p.Evidence {
		e := &p.Evidence[i]
		if !e.Fitted {
			continue
		}
		runs, err := simulate(ctx, p, e, FitDraws, draws, f.Rules)
		if err != nil {
			return nil, nil
		}
		for _, m := range e.Measured.Figures() {
			measured = append(measured, math.Log(m.Value))
			for d, run := range runs {
				v := math.Log(run[m.Name])
				if math.IsInf(v, 0) || math.IsNaN(v) {
					return nil, nil
				}
				simulated[d] = append(simulated[d], v)
			}
		}
	}
	return simulated, measured
}

func means(draws [][]float64) []float64 {
	if len(draws) == 0 {
		return nil
	}
	out := make([]float64, len(draws[0]))
	for j := range out {
		column := make([]float64, len(draws))
		for d := range draws {
			column[d] = draws[d][j]
		}
		out[j] = stats.Mean(column)
	}
	return out
}

// spread is S+R, of each figure at least what the rounding of notes leaves.
func spread(draws [][]float64, measured []float64) *mat.SymDense {
	middle, n := means(draws), len(measured)
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sum := 0.0
			for _, d := range draws {
				sum += (d[i] - middle[i]) * (d[j] - middle[j])
			}
			out.SetSym(i, j, sum/float64(len(draws)-1))
		}
		left := measured[i] - middle[i]
		out.SetSym(i, i, out.At(i, i)+left*left+rounding*rounding)
	}
	return out
}

// deviations are the standard deviations of the steps; +Inf where nothing determines them.
func deviations(slopes *mat.Dense, noise *mat.SymDense) []float64 {
	_, k := slopes.Dims()
	out := make([]float64, k)
	var weighted, square, inverse, step, variance mat.Dense
	weighted.Apply(func(i, _ int, v float64) float64 { return v / noise.At(i, i) }, slopes)
	square.Mul(weighted.T(), slopes)
	if err := inverse.Inverse(&square); err != nil && mat.Cond(&square, 2) > 1e12 {
		for i := range out {
			out[i] = math.Inf(1)
		}
		return out
	}
	step.Mul(&inverse, weighted.T())
	variance.Product(&step, noise, step.T())
	for i := range out {
		out[i] = math.Sqrt(max(0, variance.At(i, i)))
	}
	return out
}

// threeDigits are those that an interval deserves.
func threeDigits(v float64) float64 {
	out, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	return out
}

// around is the interval of a number with the error off, on the scale of logarithms; at most a
// factor of 1000.
func (f field) around(off float64) Interval {
	var out Interval
	if math.IsNaN(off) {
		return out
	}
	was := f.value()
	defer f.set(was)
	off = min(off, math.Log(1000))
	f.set(threeDigits(was * math.Exp(-off)))
	out.Low = f.String()
	f.set(threeDigits(was * math.Exp(off)))
	out.High = f.String()
	out.Share = 2 * math.Sinh(off)
	return out
}
