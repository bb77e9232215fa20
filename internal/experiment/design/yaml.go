package design

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// YAML is the file of an experiment: fields in their order, commands of several lines as
// they stand. Read makes the same of it.
func (e *Experiment) YAML() ([]byte, error) {
	b, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("write an experiment: %w", err)
	}
	n, err := plan.ParseJSON(b)
	if err != nil {
		return nil, fmt.Errorf("write an experiment: %w", err)
	}
	var y yamlWriter
	for _, m := range n.Members {
		y.member("", "", m)
	}
	return []byte(y.String()), nil
}

// A yamlWriter writes the part of YAML that plan.Parse reads.
type yamlWriter struct{ strings.Builder }

// member writes a field. lead precedes its key, indent the lines below it.
func (y *yamlWriter) member(lead, indent string, m plan.Member) {
	y.WriteString(lead + scalar(m.Key) + ":")
	y.value(indent, m.Value)
}

// value writes a value behind its key.
func (y *yamlWriter) value(indent string, n *plan.Node) {
	switch {
	case flow(n) != "":
		y.WriteString(" " + flow(n) + "\n")
	case n.Kind == plan.Map:
		y.WriteByte('\n')
		for _, m := range n.Members {
			y.member(indent+"  ", indent+"  ", m)
		}
	case n.Kind == plan.List:
		y.WriteByte('\n')
		for _, item := range n.Items {
			y.item(indent+"  ", item)
		}
	case literal(n.Text):
		y.literal(indent+"  ", n.Text)
	default:
		y.WriteString(" " + scalar(n.Text) + "\n")
	}
}

// item writes an item of a list; a map begins behind the dash.
func (y *yamlWriter) item(indent string, n *plan.Node) {
	if n.Kind != plan.Map || len(n.Members) == 0 {
		y.WriteString(indent + "-")
		y.value(indent, n)
		return
	}
	lead := indent + "- "
	for _, m := range n.Members {
		y.member(lead, indent+"  ", m)
		lead = indent + "  "
	}
}

// flow is a value on one line: a number, an empty one, or a short list of plain values.
func flow(n *plan.Node) string {
	switch {
	case n.Kind == plan.Null:
		return "null"
	case n.Kind == plan.Bool:
		return n.Text
	case n.Kind == plan.Number:
		return decimal(n.Text)
	case n.Kind == plan.Map && len(n.Members) == 0:
		return "{}"
	case n.Kind != plan.List:
		return ""
	}
	items := make([]string, len(n.Items))
	for i, item := range n.Items {
		items[i] = flow(item)
		if item.Kind == plan.String && !literal(item.Text) {
			items[i] = scalar(item.Text)
			if items[i] == item.Text && strings.ContainsAny(item.Text, ",{}") {
				items[i] = "'" + item.Text + "'"
			}
		}
		if items[i] == "" || item.Kind == plan.List {
			return ""
		}
	}
	if line := "[" + strings.Join(items, ", ") + "]"; len(line) <= 80 {
		return line
	}
	return ""
}

// decimal is a number of JSON as YAML takes one for a number.
func decimal(text string) string {
	x, err := strconv.ParseFloat(text, 64)
	if !strings.ContainsAny(text, "eE") || err != nil {
		return text
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	return digits + "e" + exponent
}

// literal reports whether a text is best read as lines.
func literal(text string) bool {
	if !strings.Contains(strings.TrimSuffix(text, "\n"), "\n") || strings.HasSuffix(text, "\n\n") {
		return false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.TrimSpace(line) != line && strings.TrimRight(line, " ") != line || strings.ContainsFunc(line, odd) {
			return false
		}
	}
	return text[0] != ' '
}

// odd reports whether a character needs an escape to be read again.
func odd(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError || r == '\ufeff' }

func (y *yamlWriter) literal(indent, text string) {
	mark := " |-\n"
	if strings.HasSuffix(text, "\n") {
		mark = " |\n"
	}
	y.WriteString(mark)
	for line := range strings.Lines(text) {
		y.WriteString(indent + strings.TrimSuffix(line, "\n") + "\n")
	}
}

// bare matches texts that YAML reads as they stand, such as most command lines, and reserved
// those of them that it takes for something else. All others are quoted.
var (
	bare     = lazy.Regexp(`^(?:[\pL_/$]|--?[a-zA-Z]|\.\.?/)(?:[\pL\pN_ ./$(){}=+,%@~^-]|:[\pL\pN_/$])*$|^[0-9][0-9.]*(?:%|[hmsun\x{b5}][0-9hmsun\x{b5}.]*)$`)
	reserved = lazy.Regexp(`(?i)^(true|false|null|y|n|yes|no|on|off)$`)
)

// scalar is a text as a value or a key.
func scalar(text string) string {
	strange := text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, odd)
	switch {
	case strange:
		return quoted(text)
	case bare.MatchString(text) && !reserved.MatchString(text) && text[len(text)-1] != ' ':
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// quoted is a text in double quotes, with the escapes that JSON and YAML share.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case odd(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case odd(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
