package syntax

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// A flag that keeps its last value takes one only, however it is written; the same one again loses nothing.
func TestOnce(t *testing.T) {
	for line, want := range map[string]string{
		"--count 5 --count=5 -n5 -n 5 --number 5": "<nil>",
		"--count 5 -n6":                    `--count: is given twice, as "5" and as "6"; give it once`,
		"-n 5 --number 6":                  `--count: is given twice, as "5" and as "6"; give it once`,
		"--text a --text=":                 `--text: is given twice, as "a" and as ""; give it once`,
		"--text=a=b --text a=c":            `--text: is given twice, as "a=b" and as "a=c"; give it once`,
		"--list a --list b":                "<nil>",
		"--yes --yes --yes=true":           "<nil>",
		"--yes --no-yes":                   `--yes: is given twice, as "true" and as "false"; give it once`,
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
		_, err = Parse(parser, strings.Fields(line))
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}
