package plan

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// shape has every kind of field that a file can fill.
type shape struct {
	inner
	Name  string            `json:"name"`
	Count int               `json:"count"`
	Seed  uint32            `json:"seed"`
	Share float64           `json:"share"`
	On    *bool             `json:"on"`
	List  []point           `json:"list"`
	Texts map[string]string `json:"texts"`
	Raw   json.RawMessage   `json:"raw"`
	At    clockTime         `json:"at"`
	Not   int               `json:"-"`
}

type inner struct {
	Deep int `json:"deep"`
}

type point struct {
	X int `yaml:"x"`
}

type clockTime struct{ time.Duration }

func (c *clockTime) UnmarshalText(b []byte) (err error) {
	c.Duration, err = time.ParseDuration(string(b))
	return err
}

func TestDecode(t *testing.T) {
	yes := true
	want := shape{
		inner: inner{3}, Name: "a: b", Count: 16, Seed: 7, Share: 25e9, On: &yes, List: []point{{1}, {2}}, Texts: map[string]string{"k": "1.50"},
		Raw: json.RawMessage(`{"a":[1,2.50,"x",null,true]}`), At: clockTime{time.Minute},
	}
	files := map[string]string{
		"f.yaml": "name: 'a: b'\ndeep: 3\ncount: 0x10\nseed: 7\nshare: 25e9\non: true\nlist:\n- x: 1\n- {x: 2}\ntexts: {k: 1.50}\nraw: {a: [1, 2.50, x, ~, true]}\nat: 1m\n",
		"f.json": `{"name": "a: b", "deep": 3, "count": 16, "seed": 7, "share": 2.5e10, "on": true, "list": [{"x": 1}, {"x": 2}], "texts": {"k": "1.50"}, "raw": {"a": [1, 2.50, "x", null, true]}, "at": "1m"}`,
	}
	for name, text := range files {
		doc, err := Parse(name, []byte("\ufeff"+text))
		if err != nil {
			t.Fatal(err)
		}
		var got shape
		if err := doc.Explain(Decode(doc.Root, &got)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(shape{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	var got shape
	if p := DecodeJSON(json.RawMessage(files["f.json"]), &got); p != nil {
		t.Error(p)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(shape{})); diff != "" {
		t.Error(diff)
	}
}

// Every mistake is reported, in order, at its place.
func TestMistakesHavePlaces(t *testing.T) {
	const text = `nam: x
count: many
share: .nan
seed: -1
on: yes please
list: [{x: 1, y: 2}, 3]
texts: 5
raw: {a: .inf}
at: soon
deep: 1
deep: 2
`
	doc, err := Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got shape
	err = doc.Explain(Decode(doc.Root, &got), Problems{{Path: "count", Why: "is judged although it was misread"}, {Path: "name", Why: "is missing"}})
	want := `f.yaml:1:1: nam: unknown field, did you mean "name"?
f.yaml:1:1: name: is missing
f.yaml:2:8: count "many": must be a whole number
f.yaml:3:8: share ".nan": must be a number
f.yaml:4:7: seed "-1": must be a whole number from 0 to 4294967295
f.yaml:5:5: on "yes please": must be true or false
f.yaml:6:15: list[0].y: unknown field
f.yaml:6:22: list[1]: must be a map of fields
f.yaml:7:8: texts: must be a map
f.yaml:8:10: raw .inf: JSON has no such value
f.yaml:9:5: at: time: invalid duration "soon"
f.yaml:11:1: deep: is given twice, first in line 10`
	var heads []string
	var mistakes Mistakes
	if !errors.As(err, &mistakes) {
		t.Fatalf("%T", err)
	}
	for _, m := range mistakes {
		head, _, _ := strings.Cut(m.Error(), "\n")
		heads = append(heads, head)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), heads); diff != "" {
		t.Error(diff)
	}
	if got, want := mistakes[2].Error(), "f.yaml:2:8: count \"many\": must be a whole number\n  2 | count: many\n    |        ^"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestAFileHoldsOneDocument(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\n---\nb: 2\n": "f.yaml:3:2: a second document begins; a file must contain one",
		"a: [1\n":           "f.yaml:1:4: ",
		"a: &x 1\nb: *x\n":  "f.yaml:1:4: anchors, aliases and tags are not supported",
	} {
		doc, err := Parse("f.yaml", []byte(text))
		if err == nil {
			err = doc.Explain()
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	doc, err := Parse("f.yaml", []byte("# nothing\n"))
	if err != nil || doc.Root.Kind != Null {
		t.Errorf("%v, %v", doc, err)
	}
}

func TestPaths(t *testing.T) {
	if got := Join(Join("load", Item("", 2)), "arrival"); got != "load[2].arrival" {
		t.Error(got)
	}
	for path, want := range map[string]string{"load[2].arrival": "load[2]", "load[2]": "load", "load": ""} {
		if got := Parent(path); got != want {
			t.Errorf("%s is in %q", path, got)
		}
	}
	p := Problems{{Path: "rate", Value: "0", Why: "must be positive", Hint: "leave it out for the default"}}.Below("load[0].arrival")
	if got := p.Error(); got != "load[0].arrival.rate 0: must be positive; leave it out for the default" {
		t.Error(got)
	}
}

// Any file becomes a tree or mistakes at places within it, and the JSON of a tree
// parses into the same tree.
func FuzzParse(f *testing.F) {
	f.Add([]byte("a: [1, {b: ~}]\nc: |\n  x\n"))
	f.Add([]byte(`{"a": "\u00e9", "b": [1e9, -0.5]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := Parse("f.yaml", data)
		if err != nil {
			var mistakes Mistakes
			if !errors.As(err, &mistakes) || mistakes[0].Line < 1 || mistakes[0].Column < 1 {
				t.Fatalf("%v", err)
			}
			return
		}
		var s shape
		_ = doc.Explain(Decode(doc.Root, &s))
		text, err := doc.Root.JSON()
		if err != nil {
			return
		}
		again, err := ParseJSON(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if same, err := again.JSON(); err != nil || string(same) != string(text) {
			t.Fatalf("%s became %s", text, same)
		}
	})
}

func TestFilesOutOfBoundsAreNotParsed(t *testing.T) {
	for name, tt := range map[string]struct{ data, want string }{
		"size":    {"name: " + strings.Repeat("x", 5<<20), "f.yaml:1:1: the file is larger than 4 MiB"},
		"lines":   {strings.Repeat("\n", 20_001), "f.yaml:1:1: the file has more than 20000 lines and commas"},
		"commas":  {"a: [" + strings.Repeat("1,", 20_001) + "1]", "f.yaml:1:1: the file has more than 20000 lines and commas"},
		"flow":    {"a: 1\nb: " + strings.Repeat("[", 1e5) + strings.Repeat("]", 1e5), "f.yaml:2:104: more than 100 brackets are open here"},
		"open":    {"a: 1\nb: " + strings.Repeat("\n[", 200), "f.yaml:103:1: more than 100 brackets are open here"},
		"block":   {strings.Repeat("- ", 1e5), "f.yaml:1:1: the line is indented too deeply"},
		"control": {"a: 1\nb: \x1b[2J", "f.yaml:2:1: the line has control characters"},
		"bytes":   {"a: \xff\xfe", "f.yaml:1:1: the line is not UTF-8 text"},
	} {
		_, err := Parse("f.yaml", []byte(tt.data))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %.200v, want %s", name, err, tt.want)
		}
	}
	long := "a: " + strings.Repeat("x", 5000) + ": b"
	if _, err := Parse("f.yaml", []byte(long)); err == nil || len(err.Error()) > 1000 {
		t.Errorf("a long line: %v", err)
	}
	if _, err := Parse("f.yaml", []byte("text: \"a\tb [1] {x} don't [[\"\r\nlist: [{a: [1, {b: 2}]}]\r\n")); err != nil {
		t.Error(err)
	}
}
