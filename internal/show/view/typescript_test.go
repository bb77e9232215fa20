package view

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/test/golden"
)

// answers are the types that the page gets; those they are made of follow.
var answers = []any{
	Hello{},
	Runs{},
	Sparkline{},
	Labels{},
	Changes{},
	Progress{},
	Run{},
	Reports{},
	RunNote{},
	Course{},
	RowsHeader{},
	Request{},
	Records{},
	Comparison{},
	Experiments{},
	Experiment{},
	Note{},
	Searches{},
	Search{},
	Predicted{},
	Conformity{},
}

// The types of the page are those of this package: UPDATE=1 writes them.
func TestTypesOfThePage(t *testing.T) {
	w := typescript{seen: map[reflect.Type]bool{}}
	w.text.WriteString("// Written by internal/show/view (UPDATE=1 go test ./internal/show/view). Do not edit.\n")
	for _, a := range answers {
		w.declare(reflect.TypeOf(a))
	}
	golden.Check(t, "../../../web/src/lib/net/types.ts", w.text.String())
}

// typescript declares Go types as interfaces.
type typescript struct {
	text strings.Builder
	seen map[reflect.Type]bool
}

// declare writes a struct, after those that its fields have.
func (w *typescript) declare(t reflect.Type) {
	if w.seen[t] {
		return
	}
	w.seen[t] = true
	var fields strings.Builder
	for f := range t.Fields() {
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "" || name == "-" || option != "" {
			panic(fmt.Sprintf("%s.%s: a field of an answer has a JSON name and no options", t.Name(), f.Name))
		}
		fmt.Fprintf(&fields, "  %s: %s;\n", name, w.of(f.Type))
	}
	fmt.Fprintf(&w.text, "\nexport interface %s {\n%s}\n", t.Name(), fields.String())
}

// of is a Go type in TypeScript.
func (w *typescript) of(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "number"
	case reflect.Pointer:
		return w.of(t.Elem()) + " | null"
	case reflect.Slice:
		if inner := w.of(t.Elem()); strings.Contains(inner, "|") {
			return "(" + inner + ")[]"
		} else {
			return inner + "[]"
		}
	case reflect.Array:
		return "[" + strings.TrimSuffix(strings.Repeat(w.of(t.Elem())+", ", t.Len()), ", ") + "]"
	case reflect.Map:
		return "Record<string, " + w.of(t.Elem()) + ">"
	case reflect.Struct:
		w.declare(t)
		return t.Name()
	default:
		panic(fmt.Sprintf("no TypeScript for %s", t))
	}
}
