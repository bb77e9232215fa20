// Package words renders messages in a language. Each language has one catalogue, the only place
// with the texts of notes, verdicts and definitions.
//
// A catalogue is a file of lines, a code and its text:
//
//	requests-left-late: requests left late: P99 {p99:ms %.1f} ms, the limit is {limit:ms %.1f} ms
//
// Names in braces are arguments of the message. A colon and a format may follow:
//
//	{n}                     as short as it can be, 6 digits at most
//	{n:%.2f}                by a verb of package fmt
//	{share:pct %.3g}        in percent; ms, us, GiB likewise
//	{took:dur}              as a duration: 1m30s
//	{n:one request|many {n} requests}
//	                        by number: 1, and any other; of yes and no, which it is
//	{why:?: {why}}          the text behind the question mark, if there is such an
//	                        argument and it is neither 0 nor empty
//	{names:and}             a list, joined by list.and, list.stop ...; else by list.comma
//
// A text in quotes is as Go reads it, for one that begins or ends with blanks, or is
// empty. A message in a message is rendered in the same language.
//
// A new language is a new file: its name is what --lang takes. Codes that begin with
// language say how it is written: language.unspaced names a script, such as Han, that has
// no blanks between its characters, and one between them and Latin letters or digits.
// Where an argument meets the text around it, blanks follow that rule.
package words

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/plain"
)

// A Language has the words of every message.
type Language struct {
	Name     string // en, zh
	texts    map[plan.Code]string
	unspaced *unicode.RangeTable // a script without blanks, nil for none
}

// Default is the language of what has no other.
const Default = "en"

// Names are the languages, the default first.
func Names() []string {
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(languages())), func(name string) bool { return name == Default })
	return append([]string{Default}, others...)
}

// In is the language of that name, the default for one that is not known.
func In(name string) *Language {
	if l := languages()[name]; l != nil {
		return l()
	}
	return languages()[Default]()
}

// languages read their catalogues, each when it is asked for.
var languages = sync.OnceValue(func() map[string]func() *Language {
	entries, err := files.ReadDir("catalogues")
	if err != nil {
		panic(err) // it is part of the program
	}
	all := map[string]func() *Language{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".txt")
		all[name] = sync.OnceValue(func() *Language {
			text, err := files.ReadFile(path.Join("catalogues", e.Name()))
			l := &Language{Name: name, texts: map[plan.Code]string{}}
			if err = cmp.Or(err, l.read(string(text))); err != nil {
				panic(fmt.Sprintf("catalogue %s: %v", name, err)) // a test reads them all
			}
			return l
		})
	}
	return all
})

//go:embed catalogues/*.txt
var files embed.FS

// read takes the lines of a catalogue. Indented lines go on with the text before them.
func (l *Language) read(text string) error {
	var last plan.Code
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			l.texts[last] += " " + strings.TrimSpace(line)
		default:
			code, text, ok := strings.Cut(line, ": ")
			last = plan.Code(code)
			if !ok || l.Knows(last) {
				return fmt.Errorf("%q: must be a new code, a colon and a text", line)
			}
			if quoted, err := strconv.Unquote(text); err == nil {
				text = quoted
			}
			l.texts[last] = text
		}
	}
	l.unspaced = unicode.Scripts[l.texts["language.unspaced"]]
	return nil
}

// Word says what a code and arguments are, as plan.Msg takes them.
func (l *Language) Word(code plan.Code, args ...any) string { return l.Say(plan.Msg(code, args...)) }

// Knows reports whether the language has words for a code.
func (l *Language) Knows(code plan.Code) bool {
	_, ok := l.texts[code]
	return ok
}

// Under returns the texts as they stand in the catalogue, by their codes without the prefix
// that selects them.
func (l *Language) Under(prefix string) map[string]string {
	all := map[string]string{}
	for code, text := range l.texts {
		if name, ok := strings.CutPrefix(string(code), prefix); ok {
			all[name] = text
		}
	}
	return all
}

// SayAll says all messages, joined as a list of a kind.
func (l *Language) SayAll(kind string, all []plan.Message) string {
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = l.Say(m)
	}
	return l.Join(kind, texts...)
}

// Say says a message in one line. One without words, which a newer Pitot may have stored, is shown
// as its code and arguments.
func (l *Language) Say(m plan.Message) string {
	if text, ok := m.Words(); ok {
		return plain.Line(text)
	}
	if !l.Knows(m.Code) {
		return m.Key()
	}
	return l.fill(l.texts[m.Code], m.Args)
}

// Join joins items as a list of a kind: comma, and, stop.
func (l *Language) Join(kind string, items ...string) string {
	if n := len(items); kind == "and" && n > 1 {
		return l.Join("comma", items[:n-1]...) + l.texts["list.and"] + items[n-1]
	}
	return strings.Join(items, l.texts[plan.Code("list."+cmp.Or(kind, "comma"))])
}

func (l *Language) fill(text string, args plan.Args) string {
	out := ""
	for text != "" {
		before, inner, rest, ok := braces(text)
		out = l.meet(out, before, false)
		if !ok {
			break
		}
		name, format, _ := strings.Cut(inner, ":")
		out = l.meet(out, l.argument(args[name], format, args), true)
		text = rest
	}
	return out
}

// braces finds the first pair of braces in a text, others within it being a part of it.
func braces(text string) (before, inner, rest string, ok bool) {
	start := strings.IndexByte(text, '{')
	if start < 0 {
		return text, "", "", false
	}
	depth := 0
	for i := start; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return text[:start], text[start+1 : i], text[i+1:], true
			}
		}
	}
	return text, "", "", false
}

// meet puts two pieces together, of which the second is an argument or follows one, with
// the blanks that the script wants there.
func (l *Language) meet(before, next string, argument bool) string {
	if l.unspaced == nil || before == "" || next == "" {
		return before + next
	}
	left, right := before, next
	if argument {
		left = strings.TrimSuffix(left, " ")
	} else {
		right = strings.TrimPrefix(right, " ")
	}
	a, _ := utf8.DecodeLastRuneInString(left)
	b, _ := utf8.DecodeRuneInString(right)
	own := func(r rune) bool { return unicode.Is(l.unspaced, r) }
	latin := func(r rune) bool { return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	switch {
	case own(a) && own(b), fullWidth(a), fullWidth(b):
		return left + right
	case own(a) && latin(b), latin(a) && own(b):
		return left + " " + right
	}
	return before + next
}

// fullWidth are marks of punctuation that have a blank in themselves.
func fullWidth(r rune) bool { return r >= 0x3001 && r <= 0x303f || r >= 0xff01 && r <= 0xff60 }

func (l *Language) argument(v any, format string, args plan.Args) string {
	if then, optional := strings.CutPrefix(format, "?"); optional {
		if nothing(v) {
			return ""
		}
		return l.fill(then, args)
	}
	one, many, choice := strings.Cut(format, "|")
	switch v := v.(type) {
	case string:
		return plain.Line(v)
	case plan.Message:
		return l.Say(v)
	case []string:
		return plain.Line(l.Join(format, v...))
	case []plan.Message:
		return l.SayAll(format, v)
	case bool, float64:
		n, number := v.(float64)
		switch {
		case number && !choice:
			return written(n, format)
		case v == true || v == 1.0:
			return l.fill(one, args)
		}
		return l.fill(many, args)
	}
	return "?" // an argument that is not there
}

// nothing tells an argument that says none, or is not there.
func nothing(v any) bool {
	switch v := v.(type) {
	case []string:
		return len(v) == 0
	case []plan.Message:
		return len(v) == 0
	case plan.Message:
		return v.IsZero()
	}
	return v == nil || v == "" || v == 0.0 || v == false
}

func written(v float64, format string) string {
	if format == "dur" {
		return time.Duration(math.Round(v * 1e9)).String()
	}
	unit, verb, scaled := strings.Cut(format, " ")
	if !scaled {
		unit, verb = "", cmp.Or(format, "%.6g")
	}
	v *= scales[unit]
	if strings.HasSuffix(verb, "d") {
		return fmt.Sprintf(verb, int64(v))
	}
	text := fmt.Sprintf(verb, v)
	if strings.HasSuffix(verb, "g") && strings.Contains(text, "e+") { // a large number in full
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return text
}

// scales are what a number is multiplied with before it is written.
var scales = map[string]float64{"": 1, "pct": 100, "ms": 1e3, "us": 1e6, "MiB": 1.0 / (1 << 20), "GiB": 1.0 / (1 << 30)}
