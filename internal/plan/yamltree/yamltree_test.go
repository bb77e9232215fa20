package yamltree

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml/parser"
)

const file = "name: a\nport: 0x10\ntext: |\n  two\n  lines\nlist: [1, 2]\nnone:\n"

func TestPairsArePlainOrNot(t *testing.T) {
	tree, err := parser.ParseBytes([]byte(file), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"name": "a", "port": "0x10", "text": "two\nlines\n"}
	pairs := Pairs(tree.Docs[0].Body)
	if len(pairs) != 5 {
		t.Fatalf("%d pairs", len(pairs))
	}
	for _, p := range pairs {
		key := p.Key.GetToken().Value
		text, ok := Plain(p.Value)
		if plain, there := want[key]; ok != there || text != plain {
			t.Errorf("%s is %q, plain %v; want %q, %v", key, text, ok, plain, there)
		}
	}
	if Pairs(pairs[0].Value) != nil {
		t.Error("a scalar has members")
	}
	m := NewMistake("f.yaml", strings.Split(file, "\n"), pairs[1].Value.GetToken())
	m.Problem = "must be decimal"
	if got, want := m.Error(), "f.yaml:2:7: must be decimal\n  2 | port: 0x10\n    |       ^"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestAMistakeWithoutAPlaceIsAtTheTop(t *testing.T) {
	if m := NewMistake("f.yaml", []string{"a: 1\r"}, nil); m.Line != 1 || m.Column != 1 || m.Text != "a: 1" {
		t.Errorf("%+v", m)
	}
}
