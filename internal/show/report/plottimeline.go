package report

import (
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Phases are the words for what a request goes through.
type Phases struct {
	Wait    string // from when the schedule wanted it
	Prefill string // until the first token
	Decode  string // until the last
	Whole   string // of an answer that was not streamed
	Failed  string
}

// A phase is a part of all requests in one colour.
type phase struct {
	name  string
	color color.RGBA
	of    func(Span) (from, to float64) // NaN where a request has none
}

func (w Phases) list() []phase {
	never := math.NaN()
	return []phase{
		{w.Wait, color.RGBA{R: 0xbb, G: 0xbb, B: 0xbb, A: 0xff}, func(s Span) (float64, float64) { return s.Wanted, s.Sent }},
		{w.Prefill, okabeIto[4], func(s Span) (float64, float64) {
			if s.Failed {
				return never, never
			}
			return s.Sent, s.First
		}},
		{w.Decode, okabeIto[0], func(s Span) (float64, float64) {
			if s.Failed {
				return never, never
			}
			return s.First, s.Done
		}},
		{w.Whole, okabeIto[2], func(s Span) (float64, float64) {
			if s.Failed || !math.IsNaN(s.First) {
				return never, never
			}
			return s.Sent, s.Done
		}},
		{w.Failed, okabeIto[6], func(s Span) (float64, float64) {
			if !s.Failed {
				return never, never
			}
			return s.Sent, s.Done
		}},
	}
}

// TimelinePlot draws a bar for each request of a run, the first on top.
func TimelinePlot(w io.Writer, a Axes, words Phases, l Timeline) error {
	if len(l.Spans) == 0 {
		return errNothing
	}
	p := newPicture(a, nil)
	last := 0.0
	for _, s := range l.Spans {
		last = max(last, s.Done)
	}
	rows := float64(l.Spans[len(l.Spans)-1].Row + l.Every)
	for _, phase := range words.list() {
		b := bars{spans: l.Spans, phase: phase, high: float64(l.Every)}
		if b.any() {
			p.Add(b)
			p.keys = append(p.keys, key{phase.name, draw.LineStyle{Color: phase.color, Width: 7}})
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, last*1.01, 1, rows
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks(0, p.X.Max, false), roundTicks(0, rows, false)[1:]
	return p.write(w)
}

// bars draws one phase of all requests, as one path.
type bars struct {
	spans []Span
	phase phase
	high  float64 // of a row
}

func (b bars) any() bool {
	for _, s := range b.spans {
		if from, to := b.phase.of(s); to > from {
			return true
		}
	}
	return false
}

// Plot draws them.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	thick := max(0.4, min(8, 0.85*(y(1)-y(1+b.high))))
	var path vg.Path
	for _, s := range b.spans {
		if from, to := b.phase.of(s); to > from {
			middle := y(float64(s.Row) + b.high/2)
			path.Move(vg.Point{X: x(from), Y: middle})
			path.Line(vg.Point{X: x(to), Y: middle})
		}
	}
	c.SetLineStyle(draw.LineStyle{Color: b.phase.color, Width: thick})
	c.Stroke(path)
}
