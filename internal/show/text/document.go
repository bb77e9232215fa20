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
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	if len(parts) > 0 {
		d.Line(PadRight(name, 8), strings.Join(parts, " · "))
	}
}
