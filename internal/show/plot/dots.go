package plot

import (
	"image/color"
	"io"
	"math"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/pitot-bench/pitot/internal/show/words"
)

// Dots are figures of variants relative to those of a baseline.
type Dots struct {
	Baseline string
	Variants []string // the others
	Rows     []DotRow
	Margin   float64 // differences below it are of no interest: 0.02
}

// A DotRow is a figure.
type DotRow struct {
	Name string
	Dots []Dot // by variant
}

// A Dot is by how much a variant differs from the baseline.
type Dot struct {
	Change    float64 // 0.034 is 3.4 % more; NaN if nobody knows
	Low, High float64 // NaN without an interval
	Settled   bool    // there is a verdict on it: it is drawn full
}

// Changes draws a row for each figure, and in it a dot for each variant.
func Changes(w io.Writer, l *words.Language, d Dots) error {
	if len(d.Rows) == 0 || len(d.Variants) == 0 {
		return errNothing
	}
	var keys []key
	for i, name := range d.Variants {
		keys = append(keys, key{name, variantStyle(i+1, 2)})
	}
	p := newPicture(l.Word("plot.changes", "baseline", d.Baseline), l.Word("plot.changes-x"), "", keys)
	row := vg.Length(rowPad + dotRow*len(d.Variants))
	p.height = row*vg.Length(len(d.Rows)) + 44
	low, high := d.reach()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 100*low, 100*high, -0.5, float64(len(d.Rows))-0.5
	p.X.Tick.Marker = signedTicks(100*low, 100*high)
	p.Y.Scale = gonum.InvertedScale{Normalizer: gonum.LinearScale{}}
	var names gonum.ConstantTicks
	for i, r := range d.Rows {
		names = append(names, gonum.Tick{Value: float64(i), Label: shorten(r.Name, p.Y.Tick.Label, plotWidth/3)})
	}
	p.Y.Tick.Marker, p.Y.Tick.Length, p.Y.Width = names, 0, 0
	p.grid.Horizontal.Color = color.White
	p.Add(dots{d, low, high})
	return p.write(w)
}

// reach is the range of an axis: it contains all dots, and intervals as far as dots can still be
// distinguished.
func (d Dots) reach() (low, high float64) {
	var least, most, lowest, highest float64
	for _, r := range d.Rows {
		for _, v := range r.Dots {
			least, most = lower(least, v.Change), -lower(-most, -v.Change)
			lowest, highest = lower(lowest, v.Low), -lower(-highest, -v.High)
		}
	}
	far := 3 * max(-least, most)
	low, high = min(least, max(lowest, -far)), max(most, min(highest, far))
	side := max(1.5*d.Margin, 0.01, 0.15*(high-low))
	return max(-1, 1.1*min(low, -side)), 1.1 * max(high, side)
}

// lower is the lower of a and b, if b is a number.
func lower(a, b float64) float64 {
	if b < a && !math.IsInf(b, 0) {
		return b
	}
	return a
}

func signedTicks(low, high float64) (ticks gonum.ConstantTicks) {
	for _, t := range roundTicks(low, high, false) {
		if t.Value > 0 {
			t.Label = "+" + t.Label
		} else if t.Value < 0 {
			t.Label = "−" + t.Label[1:]
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// dots draws what lies between the axes.
type dots struct {
	Dots
	low, high float64 // of the axis
}

// Plot draws the margin, the line of no change, and the dots.
func (d dots) Plot(c draw.Canvas, p *gonum.Plot) {
	x, y := p.Transforms(&c)
	left, right := x(-100*d.Margin), x(100*d.Margin)
	c.FillPolygon(band, []vg.Point{{X: left, Y: c.Min.Y}, {X: right, Y: c.Min.Y}, {X: right, Y: c.Max.Y}, {X: left, Y: c.Max.Y}})
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.8}, x(0), c.Min.Y, x(0), c.Max.Y)
	for i, r := range d.Rows {
		if i > 0 {
			c.StrokeLine2(draw.LineStyle{Color: faint, Width: 0.6}, c.Min.X, y(float64(i)-0.5), c.Max.X, y(float64(i)-0.5))
		}
		top := y(float64(i)) + dotRow*vg.Length(len(d.Variants)-1)/2
		for j, dot := range r.Dots {
			d.draw(c, x, dot, variantStyle(j+1, 1.3), top-dotRow*vg.Length(j))
		}
	}
}

// draw draws one with its interval. What goes beyond the axis ends there without a
// cap.
func (d dots) draw(c draw.Canvas, x func(float64) vg.Length, dot Dot, s draw.LineStyle, at vg.Length) {
	if math.IsNaN(dot.Change) {
		return
	}
	if !math.IsNaN(dot.Low) && !math.IsNaN(dot.High) {
		low, high := x(100*max(d.low, dot.Low)), x(100*min(d.high, dot.High))
		c.StrokeLine2(s, low, at, high, at)
		s.Dashes = nil
		if dot.Low >= d.low {
			c.StrokeLine2(s, low, at-2, low, at+2)
		}
		if dot.High <= d.high {
			c.StrokeLine2(s, high, at-2, high, at+2)
		}
	}
	center := vg.Point{X: x(100 * dot.Change), Y: at}
	c.DrawGlyph(draw.GlyphStyle{Color: s.Color, Radius: dotSize, Shape: draw.CircleGlyph{}}, center)
	if !dot.Settled {
		c.DrawGlyph(draw.GlyphStyle{Color: color.White, Radius: dotSize - 1.1, Shape: draw.CircleGlyph{}}, center)
	}
}

// Heights of a row of dots, in points.
const (
	dotRow  = 9
	rowPad  = 9
	dotSize = 3
)
