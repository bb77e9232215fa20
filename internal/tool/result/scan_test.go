package result

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

// keep reads an object.
func keep(text string) (*Object, error) {
	s := fromText("", text)
	k := &objectScanner{scanner: newScanner(s.Data, s.Size, fileStart), room: keptTotal}
	o := k.object(0, true)
	return o, k.err
}

func TestPythonsJSON(t *testing.T) {
	o, err := keep(`{"a": Infinity, "b": -Infinity, "c": [NaN, 1], "d": "NaN \" Infinity", "e": "\\", "f": "\ud83d\ude00 \ud83d \u4e09", "g": -1.5e-3, "a": 2}`)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := o.Float("a"); !ok || v != 2 || strings.Join(o.Names, "") != "abcdefg" {
		t.Errorf("a is %v, names %v", v, o.Names)
	}
	if n, _ := o.Get("b").(Number); !math.IsInf(n.Float(), -1) {
		t.Errorf("b is %v", n)
	}
	if _, ok := o.Float("b"); ok {
		t.Error("b is taken for a finite number")
	}
	if l := o.List("c"); l.N != 2 || l.of != numbers || l.odd.column != 39 {
		t.Errorf("c is %+v", l)
	}
	for name, want := range map[string]string{"d": `NaN " Infinity`, "e": `\`, "f": "😀 � 三"} {
		if got := o.Text(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if v, _ := o.Float("g"); v != -0.0015 {
		t.Errorf("g is %v", v)
	}
}

// Windows end anywhere.
func TestValuesAcrossWindows(t *testing.T) {
	for shift := range 40 {
		blanks := strings.Repeat(" ", windowSize-20+shift)
		o, err := keep("{" + blanks + `"name": "a\u4e09b", "v": -12.5e1}`)
		if v, _ := o.Float("v"); err != nil || o.Text("name") != "a三b" || v != -125 {
			t.Fatalf("shifted by %d: %v, %q, %v", shift, err, o.Text("name"), v)
		}
	}
}

// What is not kept is still checked and counted.
func TestLongListsAreOnlyLookedAt(t *testing.T) {
	items := strings.TrimSuffix(strings.Repeat("[1, 2], ", KeptItems+1), ", ")
	o, err := keep(`{"a": [` + items + `], "b": [` + strings.Repeat(`{"c": ["x", null, true, {}]}, `, 1000) + `3], "t": "` + strings.Repeat("三", keptText) + `"}`)
	if err != nil {
		t.Fatal(err)
	}
	if l := o.List("a"); l.N != KeptItems+1 || l.Items != nil || l.of != arrays || l.min != 1 || l.max != 2 || l.odd.line != 0 {
		t.Errorf("a is %+v", l)
	}
	if l := o.List("b"); l.N != 1001 || l.of != others || l.odd.line != 1 {
		t.Errorf("b is %+v", l)
	}
	if text := o.Text("t"); len(text) > keptText || strings.Trim(text, "三") != "" {
		t.Errorf("%d bytes of t", len(text))
	}
}

func TestTooMuchToKeep(t *testing.T) {
	s := fromText("", `{"a": ["x"`+strings.Repeat(`, "x"`, 100)+`]}`)
	k := &objectScanner{scanner: newScanner(s.Data, s.Size, fileStart), room: 100 * perValue}
	if k.object(0, true); k.err == nil || !strings.Contains(k.err.Error(), "more than 32 MiB of settings") {
		t.Errorf("%v", k.err)
	}
}

// FuzzScanner: what encoding/json takes for an object is one, of the same
// members.
func FuzzScanner(f *testing.F) {
	f.Add(`{"a": [1, {"b": "\u00e9\n"}], "c": null, "d": -0.5E+7, "": true}`)
	f.Add(`{"a": Infinity, "b": [[1], [], ["x"]], "c": 01}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, err := keep(text)
		var at *scanError
		if err != nil && !errors.As(err, &at) {
			t.Fatalf("a mistake without a place: %v", err)
		}
		var want map[string]any
		if json.Unmarshal([]byte(text), &want) != nil || want == nil {
			return
		}
		if err != nil {
			if strings.Contains(err.Error(), "deep") {
				return
			}
			t.Fatalf("encoding/json reads it: %v", err)
		}
		for name, v := range want {
			if f, ok := v.(float64); ok {
				if got, _ := o.Float(name); got != f && len(name) < maxName {
					t.Errorf("%q is %v, want %v", name, got, f)
				}
			}
		}
	})
}

func fromText(name, text string) Source {
	return Source{Name: name, Data: strings.NewReader(text), Size: int64(len(text))}
}
