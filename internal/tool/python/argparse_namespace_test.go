package python

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadNamespace(t *testing.T) {
	text := `Namespace(backend='sglang', base_url=None, model='it\'s "a\\b"\x41\u00e9\n', rate=inf, ratio=0.25, n=-3, ` +
		`stages=['CPU', "G,P)U"], range=(1, 2), body={'a': [1, {'b': ')'}]}, run=<function f.<locals>.g at 0x7f>, ` +
		`header=['Authorization=Bearer x'], hf_token='abc', tokenizer='t', tag="it's") and more`
	got, rest, err := ReadNamespace(text)
	if err != nil || rest != " and more" {
		t.Fatalf("%v, rest %q", err, rest)
	}
	want := map[string]string{
		"backend": "sglang", "base_url": "None", "model": `it's "a\b"Aé` + "\n", "rate": "inf", "ratio": "0.25", "n": "-3",
		"stages": `['CPU', "G,P)U"]`, "range": "(1, 2)", "body": `{'a': [1, {'b': ')'}]}`, "run": "<function f.<locals>.g at 0x7f>",
		"header": "***", "hf_token": "***", "tokenizer": "t", "tag": "it's",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, cut := range []string{"Namespace(", "Namespace(a=1, b", "Namespace(a='x", "Namespace(a=[1, 2", `Namespace(a='\`} {
		if _, _, err := ReadNamespace(cut); !errors.Is(err, ErrCut) {
			t.Errorf("%s: %v", cut, err)
		}
	}
	for _, bad := range []string{"Namespace", "Namespace(a=1])", "Namespace(not a name=1)"} {
		if _, _, err := ReadNamespace(bad); err == nil || errors.Is(err, ErrCut) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func FuzzReadNamespace(f *testing.F) {
	f.Add(`Namespace(a='it\'s', b=[1, {'c': (2,)}], d=<f at 0x7>, e=inf)rest`)
	f.Add(`Namespace(a="\x41\u00e9\U0001f600`)
	f.Fuzz(func(t *testing.T, text string) {
		settings, rest, err := ReadNamespace(text)
		if !strings.HasSuffix(text, rest) {
			t.Errorf("%q is no end of %q", rest, text)
		}
		if err == nil && len(settings) > strings.Count(text, "=") {
			t.Errorf("%d settings in %q", len(settings), text)
		}
	})
}

// What is told sets arguments, but for what cannot be read; a text with several items is
// the list of them.
func TestFill(t *testing.T) {
	told := true
	was := &told
	a := struct {
		N       int      `arg:"n" default:"1"`
		Rate    float64  `arg:"the-rate" default:"2"`
		Backend string   `arg:"backend" default:"a" choices:"a b"`
		Names   []string `arg:"names" nargs:"*"`
		On      bool     `arg:"on"`
		Off     bool     `arg:"off"`
		Own     *bool    `arg:"own"`
	}{Own: was}
	options := Options(&a, "", nil)
	Fill(options, map[string]string{"n": "5", "the_rate": "x", "backend": "c", "names": "['y', 'z']", "on": "True", "off": "False", "own": "None", "more": "1"})
	if a.N != 5 || a.Rate != 2 || a.Backend != "a" || strings.Join(a.Names, " ") != "y z" || !a.On || a.Off || a.Own != was {
		t.Errorf("%+v", a)
	}
}
