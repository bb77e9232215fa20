package plot

import (
	"image/color"
	"io"
	"math"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/pitot-bench/pitot/internal/show/words"
)

// Requests draws a bar for each request of a variant's run, the first on top.
func Requests(w io.Writer, l *words.Language, variant string, t Timeline) error {
	if len(t.Spans) == 0 {
		return errNothing
	}
	p := newPicture(l.Word("plot.requests", "variant", variant), l.Word("plot.time"), l.Word("plot.requests-y"), nil)
	last := 0.0
	for _, s := range t.Spans {
		last = max(last, s.Done)
	}
	rows := float64(t.Spans[len(t.Spans)-1].Row + t.Every)
	if len(t.Stalls) > 0 {
		p.Add(stalls(t.Stalls))
		p.keys = append(p.keys, key{l.Word("plot.stalls"), draw.LineStyle{Color: band, Width: 7}})
	}
	for _, phase := range phases(l) {
		b := bars{spans: t.Spans, phase: phase, high: float64(t.Every)}
		if b.any() {
			p.Add(b)
			p.keys = append(p.keys, key{phase.name, draw.LineStyle{Color: phase.color, Width: 7}})
		}
	}
	if len(t.Failed) > 0 {
		p.Add(failed(t.Failed))
		p.keys = append(p.keys, key{l.Word("plot.failed-at"), draw.LineStyle{Color: okabeIto[6], Width: 1}})
		last = max(last, slices.Max(t.Failed))
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, last*1.01, 1, rows
	p.Y.Scale = gonum.InvertedScale{Normalizer: gonum.LinearScale{}}
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks(0, p.X.Max, false), roundTicks(0, rows, false)[1:]
	return p.write(w)
}

func phases(l *words.Language) []phase {
	return []phase{
		{l.Word("plot.waiting"), color.RGBA{R: 0xbb, G: 0xbb, B: 0xbb, A: 0xff}, func(s Span) (bool, float64, float64) { return true, s.Wanted, s.Sent }},
		{l.Word("plot.prefill"), okabeIto[4], func(s Span) (bool, float64, float64) { return !s.Failed, s.Sent, s.First }},
		{l.Word("plot.decode"), okabeIto[0], func(s Span) (bool, float64, float64) { return !s.Failed, s.First, s.Done }},
		{l.Word("plot.whole"), okabeIto[2], func(s Span) (bool, float64, float64) { return !s.Failed && math.IsNaN(s.First), s.Sent, s.Done }},
		{l.Word("plot.failed"), okabeIto[6], func(s Span) (bool, float64, float64) { return s.Failed, s.Sent, s.Done }},
	}
}

// A phase is a part of all requests in one colour.
type phase struct {
	name  string
	color color.RGBA
	of    func(Span) (has bool, from, to float64) // NaN where nobody knows
}

// bars draws one phase of all requests, as one path.
type bars struct {
	spans []Span
	phase phase
	high  float64 // of a row
}

func (b bars) any() bool {
	return slices.ContainsFunc(b.spans, func(s Span) bool {
		has, from, to := b.phase.of(s)
		return has && to > from
	})
}

// failed are instants, marked at the upper edge.
type failed []float64

func (f failed) Plot(c draw.Canvas, p *gonum.Plot) {
	x, _ := p.Transforms(&c)
	for _, at := range f {
		c.StrokeLine2(draw.LineStyle{Color: okabeIto[6], Width: 1}, x(at), c.Max.Y-failMark, x(at), c.Max.Y)
	}
}

// failMark is the height of the mark of a failure, in points.
const failMark = 9

func (b bars) Plot(c draw.Canvas, p *gonum.Plot) {
	x, y := p.Transforms(&c)
	thick := max(0.4, min(8, 0.85*(y(1)-y(1+b.high))))
	var path vg.Path
	for _, s := range b.spans {
		if has, from, to := b.phase.of(s); has && to > from {
			middle := y(float64(s.Row) + b.high/2)
			path.Move(vg.Point{X: x(from), Y: middle})
			path.Line(vg.Point{X: x(to), Y: middle})
		}
	}
	c.SetLineStyle(draw.LineStyle{Color: b.phase.color, Width: thick})
	c.Stroke(path)
}

// stalls are bands behind the bars.
type stalls [][2]float64

func (s stalls) Plot(c draw.Canvas, p *gonum.Plot) {
	x, _ := p.Transforms(&c)
	for _, t := range s {
		left, right := x(t[0]), x(t[1])
		c.FillPolygon(band, []vg.Point{{X: left, Y: c.Min.Y}, {X: right, Y: c.Min.Y}, {X: right, Y: c.Max.Y}, {X: left, Y: c.Max.Y}})
	}
}

// stallMarks are bars at the upper edge of a plot of several runs, in the colour of the variant;
// their bands could not be distinguished.
type stallMarks struct {
	stalls [][2]float64
	style  draw.LineStyle
}

func (m stallMarks) Plot(c draw.Canvas, p *gonum.Plot) {
	x, _ := p.Transforms(&c)
	for _, t := range m.stalls {
		c.StrokeLine2(m.style, x(t[0]), c.Max.Y-m.style.Width/2, max(x(t[1]), x(t[0])+1), c.Max.Y-m.style.Width/2)
	}
}

// stallMark is the height of a mark, in points.
const stallMark = 4

// addStalls marks when the streams of each run stood still. A single run gets bands behind
// its line.
func (p *picture) addStalls(name string, variants []Curves) {
	single := len(variants) == 1 && len(variants[0].Runs) == 1
	found := false
	for i, v := range variants {
		for _, run := range v.Runs {
			switch some := run.Timeline.Stalls; {
			case len(some) == 0:
				continue
			case single:
				p.Add(stalls(some))
			default:
				style := variantStyle(i, stallMark)
				style.Dashes = nil
				p.Add(stallMarks{some, style})
			}
			found = true
		}
	}
	if found {
		colour := ink
		if single {
			colour = band
		}
		p.keys = append(p.keys, key{name, draw.LineStyle{Color: colour, Width: stallMark}})
	}
}
