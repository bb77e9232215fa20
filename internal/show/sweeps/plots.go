package sweeps

import (
	"errors"
	"io"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Plot is a file about a sweep or a search: a picture as SVG, a table.
type Plot struct {
	File string // name of a file for it
	Draw func(io.Writer) error
}

// Subtitle is what stands under the titles of plots of runs: model and date, and the workload where all have one.
func Subtitle(runs []trace.Run, l *words.Language) string {
	var models, dates, loads []string
	add := func(all *[]string, one string) {
		if one = doc.Clean(one); one != "" && !slices.Contains(*all, one) {
			*all = append(*all, one)
		}
	}
	for _, r := range runs {
		add(&models, r.Plan.Model)
		add(&loads, l.Say(r.Plan.Workload))
		if !r.Started.IsZero() {
			add(&dates, r.Started.Format(time.DateOnly))
		}
	}
	if slices.Sort(dates); len(dates) > 2 {
		dates = []string{dates[0], "…", dates[len(dates)-1]}
	}
	if len(loads) > 1 {
		loads = nil
	}
	return doc.Join(" · ", l.Join("comma", models...), doc.Join(" ", dates...), doc.Join("", loads...))
}

// WriteFiles writes files by their names.
func WriteFiles(all []Plot, write func(name string, make func(io.Writer) error) error) error {
	var errs []error
	for _, p := range all {
		errs = append(errs, write(p.File, p.Draw))
	}
	return errors.Join(errs...)
}

// mostLines are as many as can be distinguished.
const mostLines = 14

// Plots are those that the sweep has something for: latency against throughput, throughput
// against the load, and what a device gives against what a user gets.
func Plots(s curve.Sweep, l *words.Language) (all []Plot) {
	add := func(name string, c plot.Chart) {
		if slices.ContainsFunc(c.Lines, func(p plot.Path) bool { return len(p.Spots) > 0 }) {
			all = append(all, Plot{name + ".svg", c.Draw})
		}
	}
	if s.Load != "" {
		add("latency", plot.Chart{
			Title: title(s, l, "sweep.plot-latency"), X: l.Word("sweep.axis-requests"), Y: l.Word("sweep.axis-latency"), Lines: lines(s, throughput, latency),
		})
		add("throughput", plot.Chart{
			Title: title(s, l, "sweep.plot-throughput"), X: s.Load, Y: l.Word("sweep.axis-output"), Lines: unlabelled(lines(s, load(s), axis(figure.OutputThroughput))),
		})
	}
	add("pareto", plot.Chart{
		Title: title(s, l, "sweep.plot-pareto"), X: l.Word("sweep.axis-user"), Y: l.Word("sweep.axis-device"), Lines: pareto(s),
	})
	return all
}

// title is that of a plot, which says whether it is of simulations.
func title(s curve.Sweep, l *words.Language, code plan.Code) string {
	more := len(s.Curves)
	if more <= mostLines {
		more = 0
	}
	return l.Word("sweep.plot", "what", plan.Msg(code, "load", s.Load), "name", doc.Clean(s.Name), "level", s.Level, "simulated", s.Simulated && s.Level == 0,
		"shown", mostLines, "curves", more)
}

// A value is what a row has on an axis.
type value func(curve.Row) curve.Spread

// axis has a figure as it is shown: its prediction with the interval, else its mean with the
// smallest and the largest of the runs.
func axis(name string) value {
	scale := figure.Lookup(name).Show().Factor
	return func(r curve.Row) curve.Spread {
		f := r.Figures[name]
		if p, ok := r.Predicted[name]; ok {
			f.Smallest, f.Largest = p.Low, p.High
		}
		return curve.Spread{Mean: scale * r.Mean(name), Smallest: scale * f.Smallest, Largest: scale * f.Largest}
	}
}

var (
	throughput = axis(figure.RequestThroughput)
	latency    = axis(figure.E2EL.Mean())
)

func load(s curve.Sweep) value {
	return func(r curve.Row) curve.Spread { return curve.Spread{Mean: curve.Number(r.Point.Value(s.Load))} }
}

// lines are the curves of a sweep, their knees with a ring.
func lines(s curve.Sweep, x, y value) (all []plot.Path) {
	for _, c := range s.Curves[:min(len(s.Curves), mostLines)] {
		line := plot.Path{Name: c.Fixed.String()}
		for _, i := range c.Rows {
			if at, ok := spot(x(s.Rows[i]), y(s.Rows[i]), s.Level > 0); ok {
				at.Label, at.Ringed = doc.Clean(s.Rows[i].Point.Value(s.Load)), c.Knee.Row == i && c.Knee.Bound == curve.Inside
				line.Spots = append(line.Spots, at)
			}
		}
		all = append(all, line)
	}
	return all
}

// unlabelled are lines without the loads, which are on their axis.
func unlabelled(all []plot.Path) []plot.Path {
	for _, line := range all {
		for i := range line.Spots {
			line.Spots[i].Label = ""
		}
	}
	return all
}

// spot is the point of two values, if there is one. Of runs it has the spread of y, of
// predictions that of both.
func spot(x, y curve.Spread, both bool) (plot.Spot, bool) {
	finite := x.Mean > 0 && y.Mean > 0 && !math.IsInf(x.Mean, 0)
	at := plot.Spot{X: x.Mean, Y: y.Mean, Low: y.Smallest, High: y.Largest}
	if both {
		at.Left, at.Right = x.Smallest, x.Largest
	}
	return at, finite
}

// user and device are the axes of the front, with intervals where there are predictions.
func user(s curve.Sweep, row int) curve.Spread {
	v := curve.Spread{Mean: s.PerUser(row)}
	if p, ok := s.Rows[row].Predicted[figure.TPOT.Mean()]; ok && p.Low > 0 {
		v.Smallest, v.Largest = 1/p.High, 1/p.Low
	}
	return v
}

func device(s curve.Sweep, row int) curve.Spread {
	v := curve.Spread{Mean: s.PerDevice(row)}
	if p, ok := s.Rows[row].Predicted[figure.OutputThroughput]; ok {
		v.Smallest, v.Largest = p.Low/float64(s.Devices), p.High/float64(s.Devices)
	}
	return v
}

// pareto are the points, by curve, and those of the front with a ring.
func pareto(s curve.Sweep) (all []plot.Path) {
	curves := s.Curves
	if s.Load == "" {
		one := curve.Curve{}
		for i := range s.Rows {
			one.Rows = append(one.Rows, i)
		}
		curves = []curve.Curve{one}
	}
	for _, c := range curves[:min(len(curves), mostLines)] {
		line := plot.Path{Name: c.Fixed.String()}
		for _, i := range c.Rows {
			at, ok := spot(user(s, i), device(s, i), s.Level > 0)
			if ok {
				at.Label, at.Ringed = doc.Clean(s.Rows[i].Point.Value(s.Load)), slices.Contains(s.Front, i)
				line.Spots = append(line.Spots, at)
			}
		}
		all = append(all, line)
	}
	return all
}
