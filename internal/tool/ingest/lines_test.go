package ingest

import (
	"strings"
	"testing"
)

func TestShownIsWhatATerminalShows(t *testing.T) {
	for text, want := range map[string]string{
		"plain 优化":              "plain 优化",
		"a\tb":                  "a\tb",
		"abcdef\rXY":            "XYcdef",
		"abcdef\rXY\x1b[K":      "XY",
		"abcdef\r\x1b[2KXY":     "XY",
		"abc\x1b[1K.":           "   .",
		"ab\b\bX":               "Xb",
		"\x1b[31;1mred\x1b[0m!": "red!",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\aend": "linkend",
		"\x1b(Bok\x1b=": "ok",
		"bell\a":        "bell",
		"end\r":         "end",
		"\x1b":          "",
		"\x1b[12":       "",
		"\x1b]":         "",
	} {
		if got := shown(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := shown("\r" + strings.Repeat("x", 2*widest)); len(got) != widest {
		t.Errorf("%d characters shown", len(got))
	}
}

// A progress bar of 20 MB in one line leaves its last state, and the lines behind
// it their numbers.
func TestLongLines(t *testing.T) {
	const bar = "\r 45%|####      | 225/500 [00:23<00:28,  9.8it/s]"
	text := strings.Repeat(bar, 400_000) + "\r100%|##########| 500/500\x1b[K\nnext\n" + strings.Repeat("y", 2*longestLine) + "\nlast"
	var got []line
	for l, err := range lines(decoded(source("a", text))) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, l)
	}
	if len(got) != 4 || got[0].text != "100%|##########| 500/500" || got[1] != (line{n: 2, text: "next"}) || len(got[2].text) != longestLine || got[3] != (line{n: 4, text: "last"}) {
		t.Errorf("%d lines, the first %.100q", len(got), got[0].text)
	}
}

func TestWhatIsJSON(t *testing.T) {
	for text, want := range map[string]bool{
		"{\"a\": 1}":                     true,
		"\n\n  {\n \"a\": 1}":            true,
		"\ufeff{\"a\": 1}":               true,
		"[{\"a\": 1}]":                   true,
		"{}":                             true,
		"[2026-01-02 10:11:12] INFO":     false,
		"[rank0]: ====":                  false,
		"{'a': 1}":                       false,
		"":                               false,
		"============ Serving Benchmark": false,
	} {
		if got := isJSON(source("a", text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
