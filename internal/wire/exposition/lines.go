package exposition

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/plan"
)

// lines rewrites a page for the reference parser, line for line, so that its line numbers
// stay true.
type lines struct {
	page  *Page
	rest  []byte            // behind the line
	open  bool              // it is OpenMetrics
	typed map[string]string // families with a type
	ended bool              // after # EOF
}

// rewrite returns the text format. Comments other than types are gone.
func (l *lines) rewrite(text []byte) ([]byte, error) {
	out := make([]byte, 0, len(text)+len(text)/8)
	for n := 1; len(text) > 0; n++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if text, l.rest = rest, rest; !whole {
			return nil, fmt.Errorf("the page ends in the middle of line %d", n)
		}
		var err error
		if out, err = l.line(out, n, bytes.Trim(line, " \t\r")); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, '\n')
	}
	if l.open && !l.ended {
		return nil, errors.New("the page ends before # EOF")
	}
	return out, nil
}

// line appends what a line is in the text format, which may be nothing.
func (l *lines) line(out []byte, n int, line []byte) ([]byte, error) {
	switch {
	case len(line) == 0:
	case l.ended:
		return nil, errors.New("there is more after # EOF")
	case len(line) > maxLine:
		l.page.doubt(plan.Say(LongLine, "line", n, "bytes", len(line)))
	case !utf8.Valid(line):
		l.page.doubt(plan.Say(NotText, "line", n))
	case line[0] == '#':
		l.ended = l.open && string(line) == "# EOF"
		out = l.comment(out, string(line))
	case l.unused(line):
	case l.open:
		return l.sample(out, string(line))
	default:
		out = append(out, line...)
	}
	return out, nil
}

// types are those of the text format that the parser reads, by what they are called.
var types = map[string]string{"counter": "counter", "gauge": "gauge", "histogram": "histogram", "summary": "summary", "untyped": "untyped"}

// comment appends the first type of a family. A type that the text format does not have is
// left out, which makes the family untyped.
func (l *lines) comment(out []byte, line string) []byte {
	fields := strings.Fields(line)
	if len(fields) != 4 || fields[0] != "#" || fields[1] != "TYPE" {
		return out
	}
	name, kind := l.spelt(fields[2]), types[strings.ToLower(fields[3])]
	if l.typed[name] != "" || kind == "" {
		return out
	}
	l.typed[name] = kind
	if l.open && kind == "counter" && !strings.HasSuffix(name, "_total") {
		name += "_total"
	}
	return append(out, "# TYPE "+name+" "+kind...)
}

// spelt is the name of a family as its samples have it. Python's client has no colons in those
// of OpenMetrics, but in the types (prometheus_client 0.26).
func (l *lines) spelt(name string) string {
	bare := strings.ReplaceAll(name, ":", "_")
	if !l.open || bare == name {
		return name
	}
	rest := l.rest
	for bytes.HasPrefix(rest, []byte("#")) {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	if bytes.HasPrefix(rest, []byte(bare)) {
		return bare
	}
	return name
}

// unused reports whether a sample is a bucket of a histogram or belongs to a summary: most of
// an engine's page, and none of what is read.
func (l *lines) unused(line []byte) bool {
	end := bytes.IndexAny(line, "{ \t")
	if end < 0 {
		return false
	}
	name := line[:end]
	if family, ok := bytes.CutSuffix(name, []byte("_bucket")); ok && l.typed[string(family)] == "histogram" {
		return true
	}
	return l.typed[string(name)] == "summary"
}

// sample appends a sample of OpenMetrics: name{labels} value [seconds] [# exemplar]. When a
// series was created is left out.
func (l *lines) sample(out []byte, line string) ([]byte, error) {
	series, rest := cutSeries(line)
	if name, _, _ := strings.Cut(series, "{"); l.creation(name) {
		return out, nil
	}
	rest, _, _ = strings.Cut(rest, "#")
	fields := strings.Fields(rest)
	if len(fields) == 0 || len(fields) > 2 {
		return nil, fmt.Errorf("%d numbers after the name, not a value and perhaps a timestamp", len(fields))
	}
	out = append(append(append(out, series...), ' '), fields[0]...)
	if len(fields) == 1 {
		return out, nil
	}
	seconds, err := strconv.ParseFloat(fields[1], 64)
	if ms := math.Round(seconds * 1000); err == nil && math.Abs(ms) < math.MaxInt64 {
		return strconv.AppendInt(append(out, ' '), int64(ms), 10), nil
	}
	return nil, fmt.Errorf("%.40q is no timestamp", fields[1])
}

// creation reports whether a name says when a series of a family began.
func (l *lines) creation(name string) bool {
	family, ok := strings.CutSuffix(name, "_created")
	if !ok {
		return false
	}
	switch l.typed[family] {
	case "counter", "histogram", "summary":
		return true
	}
	return false
}

// cutSeries splits a line behind its labels, or behind its name if it has none.
func cutSeries(line string) (series, rest string) {
	open := strings.IndexAny(line, "{ \t")
	if open < 0 {
		return line, ""
	}
	if line[open] != '{' {
		return line[:open], line[open:]
	}
	quoted := false
	for i := open; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == '}' && !quoted:
			return line[:i+1], line[i+1:]
		}
	}
	return line, ""
}
