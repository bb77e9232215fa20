// Package words says messages in a language: one catalogue each, and no other place
// has the words of what Pitot notes, judges and defines.
//
// A catalogue is a file of lines, a code and its text:
//
//	requests-left-late: requests left late: P99 {p99:ms %.1f} ms, the limit is {limit:ms %.1f} ms
//
// Names in braces are arguments of the message. What follows a colon there says how a
// number is written:
//
//	{n}                     as short as it can be, 6 digits at most
//	{n:%.2f}                by a verb of package fmt
//	{share:pct %.3g}        in percent; ms, us, GiB likewise
//	{took:dur}              as a duration: 1m30s
//	{n:one request|many {n} requests}
//	                        by number: 1, and any other
//
// A text in quotes is as Go reads it, for one that begins or ends with blanks. A list is
// joined as the language does that, and a message in a message is said in the same
// language. A new language is a new file: its name is what --lang takes.
package words

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
)

//go:embed catalogues/*.txt
var files embed.FS

// A Language has the words of every message.
type Language struct {
	Name  string // en, zh
	texts map[plan.Code]string
}

// Default is the language of what has no other.
const Default = "en"

var catalogues = sync.OnceValue(func() map[string]*Language {
	all := map[string]*Language{}
	entries, err := files.ReadDir("catalogues")
	if err != nil {
		panic(err) // it is part of the program
	}
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("catalogues", e.Name()))
		if err != nil {
			panic(err)
		}
		name := strings.TrimSuffix(e.Name(), ".txt")
		l := &Language{name, map[plan.Code]string{}}
		if err := l.read(string(text)); err != nil {
			panic(fmt.Sprintf("catalogue %s: %v", name, err)) // a test reads them all
		}
		all[name] = l
	}
	return all
})

// Names are the languages, the default first.
func Names() []string {
	names := []string{Default}
	for name := range catalogues() {
		if name != Default {
			names = append(names, name)
		}
	}
	slices.Sort(names[1:])
	return names
}

// In is the language of that name, the default for one that is not known.
func In(name string) *Language {
	if l := catalogues()[name]; l != nil {
		return l
	}
	return catalogues()[Default]
}

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
			if _, twice := l.texts[last]; !ok || twice {
				return fmt.Errorf("%q: must be a new code, a colon and a text", line)
			}
			if quoted, err := strconv.Unquote(text); err == nil {
				text = quoted
			}
			l.texts[last] = text
		}
	}
	return nil
}

// Knows reports whether the language has words for a code.
func (l *Language) Knows(code plan.Code) bool { return l.texts[code] != "" }

// Say says a message. One without words, which a newer Pitot may have stored, is shown
// as its code and arguments.
func (l *Language) Say(m plan.Message) string {
	if m.Code == plan.TextCode {
		text, _ := m.Args["text"].(string)
		return text
	}
	if !l.Knows(m.Code) {
		return m.Key()
	}
	return l.fill(l.texts[m.Code], m.Args)
}

// Word says what a code and arguments are, as plan.Say takes them.
func (l *Language) Word(code plan.Code, args ...any) string { return l.Say(plan.Say(code, args...)) }

// Join says all messages, one after the other with what stands between items of a list.
func (l *Language) Join(all []plan.Message) string {
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = l.Say(m)
	}
	return strings.Join(texts, l.texts["list.comma"])
}

// fill puts arguments into a text.
func (l *Language) fill(text string, args plan.Args) string {
	var b strings.Builder
	for text != "" {
		before, inner, rest, ok := braces(text)
		b.WriteString(before)
		if !ok {
			break
		}
		name, format, _ := strings.Cut(inner, ":")
		b.WriteString(l.argument(args[name], format, args))
		text = rest
	}
	return b.String()
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

func (l *Language) argument(v any, format string, args plan.Args) string {
	switch v := v.(type) {
	case string:
		return v
	case plan.Message:
		return l.Say(v)
	case []string:
		return strings.Join(v, l.texts["list.comma"])
	case []plan.Message:
		return l.Join(v)
	case bool:
		return strconv.FormatBool(v)
	case float64:
		if one, many, plural := strings.Cut(format, "|"); plural {
			if v == 1 {
				return l.fill(one, args)
			}
			return l.fill(many, args)
		}
		return number(v, format)
	}
	return "?" // an argument that is not there
}

// scales are what a number is multiplied with before it is written.
var scales = map[string]float64{"": 1, "pct": 100, "ms": 1e3, "us": 1e6, "GiB": 1.0 / (1 << 30)}

func number(v float64, format string) string {
	if format == "dur" {
		return time.Duration(v * 1e9).String()
	}
	unit, verb, scaled := strings.Cut(format, " ")
	if !scaled {
		unit, verb = "", format
	}
	v *= scales[unit]
	if verb == "" {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	if strings.HasSuffix(verb, "d") {
		return fmt.Sprintf(verb, int64(v))
	}
	return fmt.Sprintf(verb, v)
}
