package report

import (
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Dots are figures of variants relative to those of a baseline.
type Dots struct {
	Variants []string // without the baseline
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

// Heights of a row of dots, in points.
const (
	dotRow  = 9
	rowPad  = 9
	dotSize = 3
)

// DotPlot draws a row for each figure, and in it a dot for each variant.
func DotPlot(w io.Writer, a Axes, d Dots) error {
	if len(d.Rows) == 0 || len(d.Variants) == 0 {
		return errNothing
	}
	var keys []key
	for i, name := range d.Variants {
		keys = append(keys, key{name, variantStyle(i+1, 2)})
	}
	p := newPicture(a, keys)
	row := vg.Length(rowPad + dotRow*len(d.Variants))
	p.height = row*vg.Length(len(d.Rows)) + 44
	reach := d.reach()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -100*reach, 100*reach, -0.5, float64(len(d.Rows))-0.5
	p.X.Tick.Marker = signedTicks(100 * reach)
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	var names plot.ConstantTicks
	for i, r := range d.Rows {
		names = append(names, plot.Tick{Value: float64(i), Label: shorten(r.Name, p.Y.Tick.Label, plotWidth/3)})
	}
	p.Y.Tick.Marker, p.Y.Tick.Length, p.Y.Width = names, 0, 0
	p.grid.Horizontal.Color = color.White
	p.Add(dots{d, reach})
	return p.write(w)
}

// reach is how far an axis goes to both sides: all dots are on it, and of intervals
// what does not make dots too small to be told apart.
func (d Dots) reach() float64 {
	dot, interval := 0.0, 0.0
	for _, r := range d.Rows {
		for _, v := range r.Dots {
			dot = larger(dot, v.Change)
			interval = larger(larger(interval, v.Low), v.High)
		}
	}
	return max(1.5*d.Margin, 0.01, 1.1*min(max(dot, interval), 3*dot), 1.1*dot)
}

// larger is the larger of a and the size of b, if that is a number.
func larger(a, b float64) float64 {
	if b = math.Abs(b); b > a && !math.IsInf(b, 0) {
		return b
	}
	return a
}

func signedTicks(reach float64) (ticks plot.ConstantTicks) {
	for _, t := range roundTicks(-reach, reach, false) {
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
	reach float64
}

// Plot draws the margin, the line of no change, and the dots.
func (d dots) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	side := 100 * min(d.Margin, d.reach)
	c.FillPolygon(band, []vg.Point{{X: x(-side), Y: c.Min.Y}, {X: x(side), Y: c.Min.Y}, {X: x(side), Y: c.Max.Y}, {X: x(-side), Y: c.Max.Y}})
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
		low, high := x(100*max(-d.reach, dot.Low)), x(100*min(d.reach, dot.High))
		c.StrokeLine2(s, low, at, high, at)
		s.Dashes = nil
		if dot.Low >= -d.reach {
			c.StrokeLine2(s, low, at-2, low, at+2)
		}
		if dot.High <= d.reach {
			c.StrokeLine2(s, high, at-2, high, at+2)
		}
	}
	center := vg.Point{X: x(100 * dot.Change), Y: at}
	c.DrawGlyph(draw.GlyphStyle{Color: s.Color, Radius: dotSize, Shape: draw.CircleGlyph{}}, center)
	if !dot.Settled {
		c.DrawGlyph(draw.GlyphStyle{Color: color.White, Radius: dotSize - 1.1, Shape: draw.CircleGlyph{}}, center)
	}
}
