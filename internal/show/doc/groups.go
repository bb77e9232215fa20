package doc

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/show/plain"
)

// Field is a line of a head: a name, and the parts that are not empty with dots between; "" without
// any.
func Field(name string, parts ...string) string {
	text := Join(" · ", parts...)
	if text == "" {
		return ""
	}
	return PadRight(name, 8) + text
}

// Join joins the parts that are not empty.
func Join(between string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" }), between)
}

// Clean is plain.Line of a text, with one blank between its words.
func Clean(s string) string { return strings.Join(strings.Fields(plain.Line(s)), " ") }

// Groups collect names by the statement about them, in the order in which each statement came
// first.
type Groups []Group

// A Group is the names that share a statement.
type Group struct {
	Text  string
	Names []string
}

// Add puts a name into the group of the statement said.
func (g *Groups) Add(text, name string) {
	i := slices.IndexFunc(*g, func(o Group) bool { return o.Text == text })
	if i < 0 {
		i, *g = len(*g), append(*g, Group{Text: text})
	}
	if group := &(*g)[i]; !slices.Contains(group.Names, name) {
		group.Names = append(group.Names, name)
	}
}
