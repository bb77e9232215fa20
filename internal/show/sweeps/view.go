package sweeps

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// The names of the axes of the front that are no figures.
const (
	perUser   = "user"
	perDevice = "device"
)

// View is a sweep as a page shows it, and the statements on all its points, the answer first. Those on single points
// are in the points.
func View(s curve.Sweep, l *words.Language) (v view.Sweep, says []string) {
	v = view.Sweep{
		Load: s.Load, Settings: settings(s), Devices: s.Devices, Level: s.Level, WhatIf: append([]string{}, s.WhatIf...),
		Quantities: quantities(s, l), Points: []view.SweepPoint{}, Curves: []view.SweepCurve{},
	}
	for i := range s.Rows {
		v.Points = append(v.Points, pointOf(s, i, v.Quantities, l))
	}
	for i, c := range s.Curves {
		one := view.SweepCurve{Name: c.Fixed.String(), Points: c.Rows}
		if c.Knee.Bound != curve.None {
			one.Knee = l.Say(knee(s, c))
		}
		for _, row := range c.Rows {
			v.Points[row].Curve = i
		}
		v.Curves = append(v.Curves, one)
	}
	return v, slices.Concat(objectives(s, l), knees(s, l), front(s, l), unsettled(s, l), uncalibrated(s, l))
}

// quantities are those of the table that some point has, and the axes of the front.
func quantities(s curve.Sweep, l *words.Language) (all []view.Quantity) {
	for _, c := range columns {
		if c.figure == "" || !slices.ContainsFunc(s.Rows, func(r curve.Row) bool { return !math.IsNaN(r.Mean(c.figure)) }) {
			continue
		}
		q := figure.Lookup(c.figure)
		all = append(all, view.Quantity{Name: q.Name, Title: l.Say(q.Title()), Unit: string(q.Unit)})
	}
	return append(all,
		view.Quantity{Name: perUser, Title: l.Word("sweep.per-user"), Unit: "tok/s"},
		view.Quantity{Name: perDevice, Title: l.Word("sweep.per-device"), Unit: "tok/s"})
}

func pointOf(s curve.Sweep, row int, quantities []view.Quantity, l *words.Language) view.SweepPoint {
	r := s.Rows[row]
	p := view.SweepPoint{
		Values: []string{}, Curve: -1, Runs: r.Runs, Failed: []string{}, Figures: map[string]view.SweepSpread{},
		Knee: isKnee(s, row), Front: slices.Contains(s.Front, row), Refused: r.Refused, Extrapolated: r.Extrapolated,
	}
	for _, one := range r.Point {
		p.Values = append(p.Values, one.Value)
	}
	if at := curve.Number(r.Point.Value(s.Load)); s.Load != "" {
		p.Load = view.Number(at)
	}
	for _, why := range r.Failed {
		p.Failed = append(p.Failed, l.Say(why))
	}
	for _, q := range quantities {
		if one, ok := spreadOf(s, row, q.Name); ok {
			p.Figures[q.Name] = one
		}
	}
	return p
}

func spreadOf(s curve.Sweep, row int, name string) (out view.SweepSpread, ok bool) {
	r := s.Rows[row]
	switch name {
	case perUser:
		at := user(s, row)
		out = view.SweepSpread{N: len(r.Runs), Value: at.Mean, Low: positive(at.Smallest), High: positive(at.Largest)}
		_, out.Predicted = r.Predicted[figure.TPOT.Mean()]
	case perDevice:
		at := device(s, row)
		out = view.SweepSpread{N: len(r.Runs), Value: at.Mean, Low: positive(at.Smallest), High: positive(at.Largest)}
		_, out.Predicted = r.Predicted[figure.OutputThroughput]
	default:
		f := r.Figures[name]
		out = view.SweepSpread{N: f.N, Value: r.Mean(name)}
		if f.N > 1 {
			out.SD, out.Low, out.High = view.Number(f.SD), view.Number(f.Smallest), view.Number(f.Largest)
		}
		if p, predicted := r.Predicted[name]; predicted {
			out.Predicted, out.SD, out.Low, out.High = true, nil, view.Number(p.Low), view.Number(p.High)
		}
	}
	return out, view.Number(out.Value) != nil
}

func positive(v float64) *float64 {
	if v <= 0 {
		return nil
	}
	return view.Number(v)
}
