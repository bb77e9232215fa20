package cli

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// A part is a workload of a mix, or a tenant: settings of its own, as one text.
type part struct {
	words []string // name=value, as they were written
	partSettings
}

// partSettings are what a part can say.
type partSettings struct {
	Name   string  `help:"Name in the report."`
	Weight float64 `default:"1" help:"Share of the arrivals."`
	workloadSettings
	Rate       float64  `help:"Requests per second."`
	Ramp       string   `help:"Rising or falling rate."`
	Replay     string   `help:"Send at the times in this file."`
	Speed      float64  `default:"1" help:"Divide the times by this."`
	Arrival    string   `enum:",constant,poisson,gamma" default:"" help:"Process."`
	Burstiness float64  `default:"1" help:"Shape of gamma arrivals."`
	Model      string   `help:"Model or adapter."`
	APIKeyEnv  string   `name:"api-key-env" help:"Environment variable with the bearer key."`
	Header     []string `sep:"none" help:"Header of every request."`
}

// UnmarshalText reads NAME=VALUE pairs with blanks between; a value with blanks in it is
// in quotes.
func (p *part) UnmarshalText(text []byte) error {
	*p = part{}
	words, err := splitWords(string(text))
	if err != nil {
		return err
	}
	parser, err := kong.New(&p.partSettings, kong.Name("part"), kong.NoDefaultHelp())
	if err != nil {
		return err
	}
	var args []string
	for _, w := range words {
		name, _, ok := strings.Cut(w, "=")
		if !ok || strings.HasPrefix(name, "-") {
			return fmt.Errorf("%q: must be NAME=VALUE, such as workload=random", w)
		}
		if name != "header" && slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--"+name+"=") }) {
			return fmt.Errorf("%s is there twice", name)
		}
		args = append(args, "--"+w)
	}
	if _, err := parser.Parse(args); err != nil {
		return errors.New(inPart(inPlainWords(err).Error()))
	}
	p.words = words
	return nil
}

var flagInText = regexp.MustCompile(`--(?:no-)?([a-z])`)

// inPart puts an error about flags into the words of a part, where there are none.
func inPart(text string) string {
	return strings.ReplaceAll(flagInText.ReplaceAllString(text, "$1"), "unknown flag", "unknown setting")
}

// String is the text of a part, without secrets.
func (p part) String() string {
	var out []string
	for _, w := range p.words {
		name, value, _ := strings.Cut(w, "=")
		if name == "header" {
			value = maskHeader(value)
		}
		out = append(out, name+"="+quoted(value))
	}
	return strings.Join(out, " ")
}

// says tells whether a part has a setting of its own.
func (p part) says(name string) bool {
	return slices.ContainsFunc(p.words, func(w string) bool { return strings.HasPrefix(w, name+"=") })
}

// quoted is a value that splitWords gives back.
func quoted(value string) string {
	if value == "" || strings.ContainsAny(value, " \t\n\"'\\") {
		return strconv.Quote(value)
	}
	return value
}

// splitWords splits at blanks outside of quotes.
func splitWords(text string) (words []string, err error) {
	for rest := strings.TrimSpace(text); rest != ""; rest = strings.TrimSpace(rest) {
		word := ""
		for rest != "" && !strings.ContainsRune(" \t\n", rune(rest[0])) {
			if rest[0] == '"' || rest[0] == '\'' {
				inside, n, err := quotedPiece(rest)
				if err != nil {
					return nil, err
				}
				word, rest = word+inside, rest[n:]
				continue
			}
			i := strings.IndexAny(rest, " \t\n\"'")
			if i < 0 {
				i = len(rest)
			}
			word, rest = word+rest[:i], rest[i:]
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return nil, errors.New("is empty: must be NAME=VALUE pairs, such as workload=random")
	}
	return words, nil
}

// quotedPiece is what is in the quotes that text begins with, and where they end.
func quotedPiece(text string) (string, int, error) {
	if text[0] == '\'' {
		end := strings.IndexByte(text[1:], '\'')
		if end < 0 {
			return "", 0, fmt.Errorf("%s: the quote is not closed", text)
		}
		return text[1 : 1+end], end + 2, nil
	}
	prefix, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", 0, fmt.Errorf("%s: the quote is not closed", text)
	}
	inside, err := strconv.Unquote(prefix)
	return inside, len(prefix), err
}
