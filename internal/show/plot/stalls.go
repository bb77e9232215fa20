package plot

import (
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// stalls are bands behind the bars.
type stalls [][2]float64

// Plot draws them.
func (s stalls) Plot(c draw.Canvas, p *gonum.Plot) {
	x, _ := p.Transforms(&c)
	for _, t := range s {
		left, right := x(t[0]), x(t[1])
		c.FillPolygon(band, []vg.Point{{X: left, Y: c.Min.Y}, {X: right, Y: c.Min.Y}, {X: right, Y: c.Max.Y}, {X: left, Y: c.Max.Y}})
	}
}

// stallMarks are bars at the upper edge of a plot of several runs, in the colour of the
// variant, whose bands could not be told apart.
type stallMarks struct {
	stalls [][2]float64
	style  draw.LineStyle
}

// Plot draws them.
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
