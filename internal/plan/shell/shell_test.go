package shell

import (
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string][]string{
		"":                                 nil,
		"  a  b\tc\n":                      {"a", "b", "c"},
		"vllm bench \\\n  serve\n  --x 1":  {"vllm", "bench", "serve", "--x", "1"},
		"a\\\r\nb":                         {"ab"},
		`'a b' "c d" e\ f ''`:              {"a b", "c d", "e f", ""},
		`--body='{"a": "$x"}'`:             {`--body={"a": "$x"}`},
		`"a\"b\\c\d\$x` + "\\\n" + `e"`:    {`a"b\c\d$xe`},
		"a # a comment\n b#c #":            {"a", "b#c"},
		"--input-len lognormal(200,0.7) $": {"--input-len", "lognormal(200,0.7)", "$"},
		"a[0] {b} *.c ~ 100$ 'é' \\é":      {"a[0]", "{b}", "*.c", "~", "100$", "é", "é"},
	} {
		got, err := Split(line)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", line, got, err, want)
		}
	}
}

func TestOnlyAShellCouldRunThese(t *testing.T) {
	for line, want := range map[string]string{
		"a 'b":         "the quote before b is not closed",
		`a "b c`:       "the quote before b c is not closed",
		`a\`:           "ends in a backslash",
		"a > log":      "> means something",
		"a | tee b":    "| means something",
		"u?a=1&b=2":    "& means something",
		"a $MODEL":     "$MODEL is put in by a shell",
		`a "${HOME}/"`: "${HOME}/\" is put in by a shell",
		"a $(b)":       "$(b) is put in",
		"a `b`":        "` means something",
	} {
		if _, err := Split(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}

// What Join writes, Split reads.
func FuzzJoin(f *testing.F) {
	f.Add("a b", "it's", "")
	f.Add("$x", "\\\n", "#")
	f.Add("~", "--x=1&2", "é\x80")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		words := []string{a, b, c}
		got, err := Split(Join(words))
		if err != nil || !slices.Equal(got, words) {
			t.Fatalf("%q became %q, %v", words, got, err)
		}
		_, _ = Split(a)
	})
}
