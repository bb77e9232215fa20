package conformity

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Plot draws the error of the clients' P99 ITL by the number of streams, as SVG: a
// colour for each client, a broken line where tokens come spread.
func Plot(w io.Writer, reports []conform.Report, l *words.Language) error {
	canvas := vgsvg.New(10*vg.Inch, 5.5*vg.Inch)
	if err := drawErrors(draw.New(canvas), reports, l); err != nil {
		return err
	}
	_, err := canvas.WriteTo(w)
	return err
}

// drawErrors draws the plot, and beside it what its lines are.
func drawErrors(c draw.Canvas, reports []conform.Report, l *words.Language) error {
	p, legend := plot.New(), plot.NewLegend()
	p.Title.Text = l.Word("conformity.plot")
	p.X.Label.Text, p.Y.Label.Text = l.Word("conformity.plot-x"), l.Word("conformity.plot-y")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.Y.Tick.Marker = plot.LogTicks{Prec: -1}
	p.Add(plotter.NewGrid())
	var streams []float64
	clients := clientsOf(reports)
	for i, r := range reports {
		for _, arrivals := range []conform.Arrivals{conform.Lockstep, conform.Spread} {
			points := errorsByStreams(r, arrivals)
			if len(points) == 0 {
				continue
			}
			line, marks, err := plotter.NewLinePoints(points)
			if err != nil {
				return fmt.Errorf("draw %s: %w", r.Client, err)
			}
			line.Color, marks.Color, marks.Shape = plotutil.Color(i), plotutil.Color(i), draw.CircleGlyph{}
			if arrivals == conform.Spread {
				line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
			}
			p.Add(line, marks)
			legend.Add(l.Word("conformity.plot-line", "client", clients[i], "arrivals", string(arrivals), "means", ofMeans(r)), line, marks)
			for _, xy := range points {
				streams = append(streams, xy.X)
			}
		}
	}
	if streams == nil {
		return errors.New("there is nothing to draw: no client reports a P99 ITL in a cell of streams")
	}
	p.X.Min, p.X.Max = 1, max(2, p.X.Max)
	p.Y.Min, p.Y.Max = least, max(10, p.Y.Max)
	p.X.Tick.Marker = ticksAt(streams)
	legend.Top, legend.Left, legend.Padding = true, true, vg.Points(3)
	beside := legend.Rectangle(c).Size().X + 2*vg.Points(12)
	p.Draw(draw.Crop(c, 0, -beside, 0, 0))
	legend.Draw(draw.Crop(c, c.Size().X-beside+vg.Points(12), 0, 0, -vg.Points(24)))
	return nil
}

// errorsByStreams are the points of a client, of cells that nothing disturbs.
func errorsByStreams(r conform.Report, arrivals conform.Arrivals) plotter.XYs {
	shares := map[int][]float64{}
	for _, result := range r.Results {
		c := result.Cell
		if c.Streams < 1 || c.Open() || c.Busy || c.Faults > 0 || c.Arrivals != arrivals {
			continue
		}
		for _, f := range result.Figures {
			if share, ok := f.Relative(); ok && f.Metric == gapsOf(r) && f.Statistic == conform.P99 {
				shares[c.Streams] = append(shares[c.Streams], max(least, 100*math.Abs(share)))
			}
		}
	}
	var points plotter.XYs
	for streams, v := range shares {
		slices.Sort(v)
		points = append(points, plotter.XY{X: float64(streams), Y: v[len(v)/2]})
	}
	slices.SortFunc(points, func(a, b plotter.XY) int { return int(a.X - b.X) })
	return points
}

// least is the smallest error that the plot tells from none, in percent.
const least = 0.001

// ofMeans tells a client whose ITL is a mean, and so cannot go far wrong.
func ofMeans(r conform.Report) bool {
	code := r.Definitions[gapsOf(r)].Code
	return code == metrics.BetweenTokens || code == metrics.WeighedGaps
}

// gapsOf is the name that a client has for single gaps, if it reports them.
func gapsOf(r conform.Report) conform.Metric {
	if !r.Definitions[conform.ICL].IsZero() {
		return conform.ICL
	}
	return conform.ITL
}

// ticksAt marks the numbers of streams that there are.
func ticksAt(streams []float64) plot.ConstantTicks {
	slices.Sort(streams)
	var ticks plot.ConstantTicks
	for _, n := range slices.Compact(streams) {
		ticks = append(ticks, plot.Tick{Value: n, Label: strconv.FormatFloat(n, 'f', -1, 64)})
	}
	return ticks
}
