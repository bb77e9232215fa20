package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A Served request is one as `vllm bench serve` sees it.
type Served struct {
	Start, TTFT    float64   // s
	Gaps           []float64 // s, between token events
	Prompt, Output int       // tokens
}

// Gaps draws a bar for each request, the first on top: up to its first token, then its gaps in
// one of three colours, by two limits in seconds.
func Gaps(w io.Writer, l *words.Language, requests []Served, limits [2]float64) error {
	if len(requests) == 0 {
		return errNothing
	}
	ms := [2]string{fmt.Sprintf("%g", limits[0]*1000), fmt.Sprintf("%g", limits[1]*1000)}
	p := newPicture(l.Word("plot.gaps"), l.Word("plot.time"), l.Word("plot.requests-y"), nil)
	spans, last := gapSpans(requests, limits)
	for i, of := range spans {
		name := []string{"TTFT", l.Word("plot.gaps-below", "limit", ms[0]), l.Word("plot.gaps-between", "from", ms[0], "to", ms[1]), l.Word("plot.gaps-above", "limit", ms[1])}[i]
		b := bars{spans: of, high: 1, phase: phase{name, okabeIto[[]int{5, 2, 4, 1}[i]], func(s Span) (bool, float64, float64) { return true, s.Sent, s.Done }}}
		p.Add(b)
		p.keys = append(p.keys, key{name, draw.LineStyle{Color: b.phase.color, Width: 7}})
	}
	rows := float64(len(requests) + 1)
	p.height = max(plotHeight, min(mostHigh, vg.Length(3*rows)))
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, max(last, math.SmallestNonzeroFloat32)*1.01, 1, rows
	p.Y.Scale = gonum.InvertedScale{Normalizer: gonum.LinearScale{}}
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks(0, p.X.Max, false), roundTicks(0, rows, false)[1:]
	return p.write(w)
}

// mostHigh is the most of a plot that grows with its rows, in points.
const mostHigh = 6000

// gapSpans are the parts of requests by colour, and when the last ends. Gaps of one colour in a
// row are one part.
func gapSpans(requests []Served, limits [2]float64) (spans [4][]Span, last float64) {
	zero := requests[0].Start
	for _, r := range requests {
		zero = min(zero, r.Start)
	}
	for i, r := range requests {
		at := r.Start - zero + r.TTFT
		spans[0] = append(spans[0], Span{Row: i + 1, Sent: at - r.TTFT, Done: at})
		before := 0
		for _, gap := range r.Gaps {
			of := 3
			if gap < limits[0] {
				of = 1
			} else if gap < limits[1] {
				of = 2
			}
			if of == before {
				spans[of][len(spans[of])-1].Done += gap
			} else {
				spans[of] = append(spans[of], Span{Row: i + 1, Sent: at, Done: at + gap})
			}
			at, before = at+gap, of
		}
		last = max(last, at)
	}
	return spans, last
}

// Tokens draws how many tokens prompts and answers have: their distributions, and those of each
// request.
func Tokens(w io.Writer, l *words.Language, requests []Served) error {
	if len(requests) == 0 {
		return errNothing
	}
	var prompts, outputs, both plotter.Values
	for _, r := range requests {
		prompts, outputs, both = append(prompts, float64(r.Prompt)), append(outputs, float64(r.Output)), append(both, float64(r.Prompt+r.Output))
	}
	p := newPicture(l.Word("plot.tokens"), "", "", []key{
		{l.Word("plot.tokens-prompt"), draw.LineStyle{Color: okabeIto[0], Width: 7}}, {l.Word("plot.tokens-output"), draw.LineStyle{Color: okabeIto[1], Width: 7}},
	})
	p.height = 2 * plotHeight
	p.stacked = [][]*gonum.Plot{
		{spread(l, "plot.tokens-prompt", prompts, okabeIto[0]), spread(l, "plot.tokens-output", outputs, okabeIto[1])},
		{spread(l, "plot.tokens-total", both, okabeIto[2]), heaps(l, prompts, both)},
	}
	return p.write(w)
}

// spreadBins are those of a distribution of tokens.
const spreadBins = 30

// spread is how many requests have how many tokens.
func spread(l *words.Language, name plan.Code, tokens plotter.Values, fill color.Color) *gonum.Plot {
	p := newPicture("", l.Word(name), l.Word("plot.tokens-requests"), nil)
	h, err := plotter.NewHist(tokens, spreadBins)
	if err == nil {
		h.FillColor, h.Color = fill, color.White
		p.Add(h)
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks(p.X.Min, max(p.X.Max, p.X.Min+1), false), roundTicks(0, max(1, p.Y.Max), false)
	return p.Plot
}

// heaps are the tokens of each request, those of its answer on top.
func heaps(l *words.Language, prompts, both plotter.Values) *gonum.Plot {
	p := newPicture("", l.Word("plot.requests-y"), l.Word("plot.tokens-total"), nil)
	n := float64(len(both))
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, n+1, 0, max(1, slices.Max(both))*1.05
	for i, tokens := range []plotter.Values{both, prompts} {
		p.Add(columns{tokens, okabeIto[1-i]})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks(0, n, false), roundTicks(0, p.Y.Max, false)
	return p.Plot
}

// columns are heights by number, from 1.
type columns struct {
	heights plotter.Values
	color   color.RGBA
}

func (b columns) Plot(c draw.Canvas, p *gonum.Plot) {
	x, y := p.Transforms(&c)
	var path vg.Path
	for i, h := range b.heights {
		path.Move(vg.Point{X: x(float64(i + 1)), Y: y(0)})
		path.Line(vg.Point{X: x(float64(i + 1)), Y: y(h)})
	}
	c.SetLineStyle(draw.LineStyle{Color: b.color, Width: max(0.3, 0.8*(x(2)-x(1)))})
	c.Stroke(path)
}
