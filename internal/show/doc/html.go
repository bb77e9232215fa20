package doc

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"sync"
)

// HTML writes a document as a page that needs no script and no other file. Intervals of changes are
// shown as bars, all of a table on one scale, with a band for changes of no interest; further out
// the scale is logarithmic, so that one doubling does not shrink all others to points.
func HTML(w io.Writer, d Document) error {
	if err := page().Execute(w, d); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// Fragment writes the sections of a document as HTML for a page, with headings from a level on. All
// text is escaped.
func Fragment(w io.Writer, d Document, level int) error {
	if err := page().ExecuteTemplate(w, "document", headed(d, level)); err != nil {
		return fmt.Errorf("write HTML: %w", err)
	}
	return nil
}

//go:embed page.html.tmpl
var pageText string

var (
	functions = template.FuncMap{"inline": htmlInline, "document": headed}
	page      = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Funcs(functions).Parse(pageText)) })
)

type headedSection struct {
	Section
	Heading template.HTML
}

// headed are the sections, with headings from a level on.
func headed(d Document, level int) (all []headedSection) {
	for s := range d.sections() {
		n := min(level+s.Depth, 6)
		heading := fmt.Sprintf("<h%d>%s</h%d>", n, template.HTMLEscapeString(s.Title), n)
		all = append(all, headedSection{s, template.HTML(heading)})
	}
	return all
}

// htmlInline is text with marks as HTML; without any the template escapes it.
func htmlInline(s any) any {
	var b strings.Builder
	text := fmt.Sprint(s)
	for mark, part := range spans(text) {
		if part == text {
			return text
		}
		part = template.HTMLEscapeString(part)
		switch mark {
		case strong:
			part = "<strong>" + part + "</strong>"
		case code:
			part = "<code>" + part + "</code>"
		case 0:
		default:
			part = "<br/>"
		}
		b.WriteString(part)
	}
	return template.HTML(b.String())
}

// Bar is that of a cell, nil where there is no interval.
func (t Table) Bar(c Cell) *Bar {
	if c.Reach == nil {
		return nil
	}
	reach := t.reach()
	unit := max(t.Band, reach/100)
	at := func(v float64) float64 {
		return 50 * max(-1, min(1, math.Asinh(v/unit)/math.Asinh(reach/unit)))
	}
	return &Bar{at(c.Reach.Low), at(c.Reach.High), at(-t.Band), 2 * at(t.Band)}
}

// A Bar is an interval of a change on a scale from -50 to 50.
type Bar struct{ Low, High, BandX, Band float64 }

// reach is what the ends of the scale stand for.
func (t Table) reach() float64 {
	reach := 0.0
	for _, r := range t.Rows {
		for _, c := range r.Cells {
			if c.Reach != nil {
				reach = max(reach, math.Abs(c.Reach.Low), math.Abs(c.Reach.High))
			}
		}
	}
	if reach == 0 {
		return 1
	}
	return reach
}
