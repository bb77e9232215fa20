package text

import (
	"slices"
	"strings"
)

// A Document is a text for a terminal in the making.
type Document struct{ strings.Builder }

// Line writes parts, and no blanks behind them.
func (d *Document) Line(parts ...string) {
	d.WriteString(strings.TrimRight(strings.Join(parts, ""), " ") + "\n")
}

// Field is a line of the head: a name and parts with dots between, without those that are
// empty; no line without any.
func (d *Document) Field(name string, parts ...string) {
	if said := Join(" · ", parts...); said != "" {
		d.Line(PadRight(name, 8), said)
	}
}

// Join joins the parts that are not empty.
func Join(between string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" }), between)
}
