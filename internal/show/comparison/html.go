package comparison

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"

	"github.com/pitot-bench/pitot/internal/judge/compare"
)

// HTML writes a comparison as a page that needs nothing beside it: no script,
// no other file. Where changes have intervals, bars show them, all of a workload on
// one scale, with a band for what is of no interest; further out the scale is
// logarithmic, lest one doubling make points of all others.
func HTML(w io.Writer, c compare.Comparison, o Options) error {
	if err := pageTemplate.Execute(w, newShown(c, o)); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

var pageTemplate = template.Must(template.New("comparison").Parse(pageText))

//go:embed page.html.tmpl
var pageText string

// Bar is that of a cell, nil where there is no interval.
func (s section) Bar(margin float64, c cell) *bar {
	if !c.hasBar() {
		return nil
	}
	reach := s.reach()
	unit := max(margin, reach/100)
	at := func(v float64) float64 {
		return 50 * max(-1, min(1, math.Asinh(v/unit)/math.Asinh(reach/unit)))
	}
	return &bar{at(c.of.Interval.Low), at(c.of.Interval.High), at(-margin), 2 * at(margin)}
}

// A bar is an interval of a change on a scale from -50 to 50.
type bar struct{ Low, High, BandX, Band float64 }

// reach is what the ends of the scale stand for.
func (s section) reach() float64 {
	reach := 0.0
	for _, r := range s.Rows {
		for _, c := range r.Cells {
			if c.hasBar() {
				reach = max(reach, math.Abs(c.of.Interval.Low), math.Abs(c.of.Interval.High))
			}
		}
	}
	if reach == 0 {
		return 1
	}
	return reach
}

func (c cell) hasBar() bool { return c.Interval != "" && !c.of.Plain }
