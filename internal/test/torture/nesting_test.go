package torture

import (
	"fmt"
	"testing"
)

// depths are how deep things are nested.
func depths() []int {
	return either([]int{1e3, 3e5}, []int{1e3, 1e4, 1e5, 1e6, 1e7})
}

// nested are ways of nesting, by what opens a level.
var nested = []struct{ name, before, open string }{
	{"arrays", "", "["},
	{"objects", "", `{"a":`},
	{"mixed", `{"choices":`, `[{"text":`},
}

// Whatever is nested in an answer, at every place where one is read, and closed or not.
func TestNestingInAnswers(t *testing.T) {
	t.Parallel()
	for n, by := range transports {
		for i, depth := range depths() {
			for j, way := range nested {
				if !*long && (n+i+j)%len(transports) != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", by.name, way.name, depth), func(t *testing.T) {
					t.Parallel()
					body := inTurn(text(way.before), times(way.open, depth))
					event := inTurn(text("data: "), body, text("\n\n"))
					face(t, t.Name(), by, []hostile{
						{name: "event", reply: reply{body: event}},
						{name: "error", reply: reply{status: 500, kind: "application/json", body: body}},
						{name: "closed", reply: reply{body: inTurn(text("data: "), times("[", depth), times("]", depth), text("\n\n"))}},
					})
					face(t, t.Name(), by, []hostile{{name: "body", args: whole, reply: reply{kind: "application/json", body: body}}})
				})
			}
		}
	}
}

// Whatever is nested in a file, in each that is read as JSON, YAML or a template.
func TestNestingInFiles(t *testing.T) {
	t.Parallel()
	ways := []struct{ name, before, open string }{
		{"arrays", "", "["},
		{"objects", "", `{"a":`},
		{"in-a-list", `[{"conversations":`, `[{"value":`},
		{"dashes", "", "- "},
		{"lines", "", "?\n "},
		{"brackets", "{{ ", "("},
		{"blocks", "", "{% if true %}"},
	}
	for i, in := range inputs {
		for j, way := range ways {
			for k, depth := range depths() {
				if !*long && (i+2*j+3*k)%11 != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", in.name, way.name, depth), func(t *testing.T) {
					t.Parallel()
					p := newPlace(t)
					p.pour(t, in.file(), inTurn(text(way.before), times(way.open, depth)))
					in.read(t, p)
				})
			}
		}
	}
}
