package plot

import (
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Chart is lines through points of two figures.
type Chart struct {
	Title, X, Y string
	Lines       []Path
}

// A Path is a line with a colour of its own.
type Path struct {
	Name  string
	Spots []Spot
	Loose bool // without lines between the spots
}

// A Spot is a point of a line.
type Spot struct {
	X, Y   float64
	Low    float64 // of Y over repetitions, or of its interval; 0: not known
	High   float64
	Left   float64 // the same of X
	Right  float64
	Label  string // next to it
	Ringed bool   // it is to be seen first
}

// Draw draws the chart, on logarithmic axes where a linear one could not show small values.
func (c Chart) Draw(w io.Writer) error {
	var keys []key
	for i, line := range c.Lines {
		keys = append(keys, key{line.Name, variantStyle(i, 2)})
	}
	if len(keys) == 1 && keys[0].name == "" {
		keys = nil
	}
	p := newPicture(c.Title, c.X, c.Y, keys)
	x, y := newReach(), newReach()
	for _, line := range c.Lines {
		for _, s := range line.Spots {
			x.add(s.X, s.X)
			x.add(s.Left, s.Right)
			y.add(s.Y, s.Y)
			y.add(s.Low, s.High)
		}
	}
	if !(x.high > 0) || !(y.high > 0) {
		return errNothing
	}
	x.lay(&p.X)
	y.lay(&p.Y)
	p.Add(paths(c.Lines))
	return p.write(w)
}

// A reach is what an axis of positive numbers has to hold.
type reach struct{ low, high float64 }

func newReach() reach { return reach{math.Inf(1), 0} }

func (r *reach) add(low, high float64) {
	if high > 0 {
		r.high = max(r.high, high)
	}
	if low > 0 {
		r.low = min(r.low, low)
	}
}

// lay gives an axis its scale, ends and ticks.
func (r reach) lay(axis *gonum.Axis) {
	logarithmic := r.high > maxLinear*r.low
	axis.Min, axis.Max = 0, r.high*1.06
	if logarithmic {
		axis.Scale, axis.Min, axis.Max = gonum.LogScale{}, r.low*0.85, r.high*1.2
	}
	axis.Tick.Marker = roundTicks(axis.Min, axis.Max, logarithmic)
}

// paths draws what lies between the axes.
type paths []Path

// Plot draws lines, then spots, so that no line covers a spot.
func (all paths) Plot(c draw.Canvas, p *gonum.Plot) {
	x, y := p.Transforms(&c)
	for i, line := range all {
		var points []vg.Point
		for _, s := range line.Spots {
			points = append(points, vg.Point{X: x(s.X), Y: y(s.Y)})
		}
		if !line.Loose {
			c.StrokeLines(variantStyle(i, 1.3), points)
		}
	}
	for i, line := range all {
		for _, s := range line.Spots {
			s.draw(c, x, y, variantStyle(i, 1))
		}
	}
}

func (s Spot) draw(c draw.Canvas, x, y func(float64) vg.Length, style draw.LineStyle) {
	at := vg.Point{X: x(s.X), Y: y(s.Y)}
	style.Dashes = nil
	if s.High > s.Low && s.Low > 0 {
		c.StrokeLine2(style, at.X, y(s.Low), at.X, y(s.High))
	}
	if s.Right > s.Left && s.Left > 0 {
		c.StrokeLine2(style, x(s.Left), at.Y, x(s.Right), at.Y)
	}
	if s.Ringed {
		c.DrawGlyph(draw.GlyphStyle{Color: style.Color, Radius: ringSize, Shape: draw.CircleGlyph{}}, at)
		c.DrawGlyph(draw.GlyphStyle{Color: color.White, Radius: ringSize - 1.2, Shape: draw.CircleGlyph{}}, at)
	}
	c.DrawGlyph(draw.GlyphStyle{Color: style.Color, Radius: dotSize, Shape: draw.CircleGlyph{}}, at)
	label := textStyle(8)
	label.Color = style.Color
	below := vg.Length(7)
	if s.Right > s.Left { // out of the bar
		below = 10
	}
	c.FillText(label, vg.Point{X: at.X + ringSize + 1, Y: at.Y - below}, s.Label)
}

// ringSize is the radius of what marks a spot, in points.
const ringSize = 5.5

// roundTicks mark an axis at one, two and five times powers of ten.
func roundTicks(low, high float64, logarithmic bool) gonum.ConstantTicks {
	if logarithmic {
		return logTicks(low, high)
	}
	step := roundUp((high - low) / 8)
	var values []float64
	for i := math.Ceil(low/step - 1e-9); i*step <= high*(1+1e-9); i++ {
		values = append(values, tidy(i*step)+0) // not -0
	}
	return marksAt(values...)
}

// fewTicks mark a low axis from 0.
func fewTicks(high float64) gonum.ConstantTicks {
	step := roundUp(high / 3)
	var values []float64
	for i := 0.0; i*step <= high*1.05; i++ {
		values = append(values, tidy(i*step))
	}
	return marksAt(values...)
}

// logTicks leaves out the twos and fives where there would be too many.
func logTicks(low, high float64) gonum.ConstantTicks {
	factors := []float64{1, 2, 5}
	if math.Log10(high/low) > 3.5 {
		factors = []float64{1}
	}
	var values []float64
	for d := math.Floor(math.Log10(low)); d <= math.Log10(high); d++ {
		for _, f := range factors {
			if v := tidy(f * math.Pow(10, d)); v >= low && v <= high {
				values = append(values, v)
			}
		}
	}
	return marksAt(values...)
}

// tidy takes off what arithmetic adds behind the digits that are meant.
func tidy(v float64) float64 {
	t, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		return v
	}
	return t
}

func marksAt(values ...float64) (ticks gonum.ConstantTicks) {
	for _, v := range values {
		ticks = append(ticks, gonum.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', -1, 64)})
	}
	return ticks
}

// roundUp is the least of one, two and five times a power of ten that is not below v.
func roundUp(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(v)))
	i := slices.IndexFunc([]float64{1, 2, 5, 10}, func(f float64) bool { return f*p >= v*(1-1e-9) })
	return []float64{1, 2, 5, 10}[i] * p
}
