package flags

import (
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// Of a flag that keeps its last value it is said that it does, however it is written; the same one again loses nothing. Two
// URLs are a mistake.
func TestOnce(t *testing.T) {
	for line, want := range map[string]string{
		"--count 5 --count=5 -n5 -n 5 --number 5": "",
		"--count 5 -n6":                    `--count: is given twice, as "5" and as "6"; the last one counts`,
		"-n 5 --number 6":                  `--count: is given twice, as "5" and as "6"; the last one counts`,
		"--text a --text=":                 `--text: is given twice, as "a" and as ""; the last one counts`,
		"--text=a=b --text a=c":            `--text: is given twice, as "a=b" and as "a=c"; the last one counts`,
		"--list a --list b":                "",
		"--yes --yes --yes=true":           "",
		"--yes --no-yes":                   `--yes: is given twice, as "true" and as "false"; the last one counts`,
		"--url https://a:key@h/v1 --url b": "--url: is given twice, as \"https://h/v1\" and as \"b\"; give it once, or compare two servers with `pitot ab`",
	} {
		var g struct {
			Count int `short:"n" aliases:"number" default:"7"`
			Text  string
			List  []string
			Yes   bool `negatable:""`
			URL   string
		}
		parser, err := kong.New(&g, Numbers, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		_, warnings, err := Parse(parser, strings.Fields(line))
		if err != nil {
			warnings = append(warnings, err.Error())
		}
		if got := strings.Join(warnings, "\n"); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
