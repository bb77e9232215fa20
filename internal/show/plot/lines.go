package plot

import (
	"errors"
	"fmt"
	"io"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Curves is a variant in a plot: a line for each run, all in one colour, which shows the spread
// of its runs.
type Curves struct {
	Name string
	Runs []Digest
}

// TTFT draws the distribution of the time to the first token: the share of
// requests that took at most so long.
func TTFT(w io.Writer, l *words.Language, variants []Curves) error {
	p := newPicture(l.Word("plot.ttft"), l.Word("plot.ttft-x"), l.Word("plot.ttft-y"), keysOf(variants))
	return p.distribution(w, variants, func(d Digest) Quantiles { return d.TTFT })
}

// ITL draws that of the gaps between tokens.
func ITL(w io.Writer, l *words.Language, variants []Curves) error {
	p := newPicture(l.Word("plot.itl"), l.Word("plot.itl-x"), l.Word("plot.itl-y"), keysOf(variants))
	return p.distribution(w, variants, func(d Digest) Quantiles { return d.ITL })
}

// distribution draws milliseconds on a logarithmic axis where they differ by more than
// a linear one could show.
func (p picture) distribution(w io.Writer, variants []Curves, of func(Digest) Quantiles) error {
	low, high, logarithmic := extent(variants, of)
	if !(high > 0) {
		return errNothing
	}
	if logarithmic {
		p.X.Scale = gonum.LogScale{}
	}
	p.Y.Scale = oddsScale{}
	percents := QuantilePercents()
	err := p.lines(variants, func(d Digest) (points plotter.XYs) {
		for i, v := range of(d) {
			if percents[i] >= leastPercent && percents[i] <= mostPercent {
				points = append(points, plotter.XY{X: max(low, 1000*v), Y: percents[i]})
			}
		}
		return points
	})
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, leastPercent, mostPercent
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks(low, high, logarithmic), marksAt(1, 10, 25, 50, 75, 90, 95, 99, 99.9)
	return errors.Join(err, p.write(w))
}

// extent is what an axis of milliseconds has to hold: a logarithmic one has four
// decades at most.
func extent(variants []Curves, of func(Digest) Quantiles) (low, high float64, logarithmic bool) {
	low = math.Inf(1)
	for _, v := range variants {
		for _, d := range v.Runs {
			if q := of(d); len(q) > 0 {
				low, high = min(low, 1000*q.at(leastPercent)), max(high, 1000*q.at(mostPercent))
			}
		}
	}
	if high > maxLinear*low {
		low = max(low, high/1e4)
		return low * 0.9, high * 1.05, true
	}
	return 0, high * 1.02, false
}

// The ends of an axis of shares, in percent.
const (
	leastPercent = 1
	mostPercent  = 99.9
)

// maxLinear is by how much the ends of a linear axis of latencies may differ.
const maxLinear = 20

// oddsScale gives the tail the room that it needs to be seen: percents p lie by
// ln(p/(100-p)).
type oddsScale struct{}

// Normalize is where x lies between the ends, from 0 to 1.
func (oddsScale) Normalize(least, most, x float64) float64 {
	odds := func(p float64) float64 { return math.Log(p / (100 - p)) }
	return (odds(x) - odds(least)) / (odds(most) - odds(least))
}

// errNothing is for callers that did not look first.
var errNothing = errors.New("there is nothing to draw")

// Output draws tokens per second over time, in windows of WindowOf.
func Output(w io.Writer, l *words.Language, variants []Curves) error {
	window := WindowOf(variants)
	if window == 0 {
		return errNothing
	}
	p := newPicture(l.Word("plot.output"), l.Word("plot.time"), l.Word("plot.output-y"), keysOf(variants))
	p.addStalls(l.Word("plot.stalls"), variants)
	err := p.lines(variants, func(d Digest) plotter.XYs { return d.Output.rates(window) })
	p.X.Min, p.Y.Min, p.Y.Max = 0, 0, p.Y.Max*1.05
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks(0, p.X.Max, false), roundTicks(0, p.Y.Max, false)
	return errors.Join(err, p.write(w))
}

// WindowOf is the window of an Output in seconds, a power of two; 0 if no run
// knows when its tokens came.
func WindowOf(variants []Curves) (window float64) {
	longest := 0.0
	for _, v := range variants {
		for _, d := range v.Runs {
			window, longest = max(window, d.Output.Window), max(longest, d.Output.End)
		}
	}
	for window > 0 && longest/window > pieces {
		window *= 2
	}
	return window
}

// pieces is into how many windows the longest run is cut, about.
const pieces = 60

func keysOf(variants []Curves) (keys []key) {
	for i, v := range variants {
		keys = append(keys, key{v.Name, variantStyle(i, 2)})
	}
	return keys
}

// lines draws the runs of each variant, thinner where there are several.
func (p picture) lines(variants []Curves, points func(Digest) plotter.XYs) error {
	for i, v := range variants {
		width := vg.Length(1.6)
		if len(v.Runs) > 1 {
			width = 0.9
		}
		for _, run := range v.Runs {
			xy := points(run)
			if len(xy) == 0 {
				continue
			}
			line, err := plotter.NewLine(xy)
			if err != nil {
				return fmt.Errorf("draw %s: %w", v.Name, err)
			}
			line.LineStyle = variantStyle(i, width)
			p.Add(line)
		}
	}
	return nil
}

// rates are tokens per second, each in the middle of its window. A last window that
// was cut to less than half is left out.
func (f Flow) rates(window float64) (points plotter.XYs) {
	if f.Window == 0 {
		return nil
	}
	n := int(window / f.Window)
	for i := 0; i < len(f.Tokens); i += n {
		from := float64(i) * f.Window
		lasted := min(window, f.End-from)
		if lasted < window/2 && i > 0 {
			break
		}
		sum := 0.0
		for _, tokens := range f.Tokens[i:min(i+n, len(f.Tokens))] {
			sum += tokens
		}
		points = append(points, plotter.XY{X: from + lasted/2, Y: sum / lasted})
	}
	return points
}
