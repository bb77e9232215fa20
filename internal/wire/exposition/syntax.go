package exposition

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// A rawLabel is a label as it stands in a page.
type rawLabel struct{ name, value []byte }

// cutName cuts the name of a metric off a line: letters, digits, underscores and colons.
func cutName(line []byte) (name, rest []byte) { return cutWord(line, true) }

func cutWord(text []byte, colons bool) (word, rest []byte) {
	end := 0
	for ; end < len(text); end++ {
		c := text[end]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' && colons
		if !letter && (end == 0 || c < '0' || c > '9') {
			break
		}
	}
	return text[:end], text[end:]
}

func skip(text []byte) []byte { return bytes.TrimLeft(text, " \t") }

// readLabels reads {name="value",...}, if present, and stores the labels if wanted.
func (r *Reader) readLabels(text []byte, wanted bool) (rest []byte, err error) {
	r.labels = r.labels[:0]
	text, braced := bytes.CutPrefix(skip(text), []byte("{"))
	for braced {
		if text = skip(text); bytes.HasPrefix(text, []byte("}")) {
			return text[1:], nil
		}
		var l rawLabel
		if l, text, err = cutLabel(text); err != nil {
			return nil, err
		}
		if wanted {
			r.labels = append(r.labels, l)
		}
		switch text = skip(text); {
		case bytes.HasPrefix(text, []byte(",")):
			text = text[1:]
		case !bytes.HasPrefix(text, []byte("}")):
			return nil, fmt.Errorf("%.40q behind a label, not a comma or the end of the labels", text)
		}
	}
	return text, nil
}

// cutLabel cuts name="value" off a text.
func cutLabel(text []byte) (l rawLabel, rest []byte, err error) {
	l.name, rest = cutWord(text, false)
	if len(l.name) == 0 || string(l.name) == "__name__" {
		return l, nil, fmt.Errorf("%.40q begins with no name of a label", text)
	}
	rest, is := bytes.CutPrefix(skip(rest), []byte("="))
	rest, quoted := bytes.CutPrefix(skip(rest), []byte(`"`))
	if !is || !quoted {
		return l, nil, fmt.Errorf("label %.40q has no value", l.name)
	}
	for end := 0; end < len(rest); end++ {
		switch rest[end] {
		case '"':
			l.value = rest[:end]
			return l, rest[end+1:], nil
		case '\\':
			if end++; end < len(rest) && escapes[rest[end]] == 0 {
				return l, nil, fmt.Errorf("label %.40q has an escape %q, which there is not", l.name, rest[end-1:end+1])
			}
		}
	}
	return l, nil, fmt.Errorf("the value of label %.40q has no end", l.name)
}

// escapes of label values.
var escapes = [256]byte{'n': '\n', '"': '"', '\\': '\\'}

// unescaped is the value of a label, valid until the next one.
func (r *Reader) unescaped(value []byte) []byte {
	if bytes.IndexByte(value, '\\') < 0 {
		return value
	}
	r.plain = r.plain[:0]
	for i := 0; i < len(value); i++ {
		c := value[i]
		if c == '\\' {
			i++
			c = escapes[value[i]]
		}
		r.plain = append(r.plain, c)
	}
	return r.plain
}

// numbers reads the value behind a series and, if it is there, the instant: milliseconds, or seconds
// in OpenMetrics, where an exemplar may follow.
func (r *Reader) numbers(text []byte) (value float64, stamp time.Time, err error) {
	if r.open {
		text, _, _ = bytes.Cut(text, []byte("#"))
	}
	first, rest := word(skip(bytes.TrimRight(text, " \t")))
	second, rest := word(rest)
	if len(first) == 0 || len(rest) > 0 {
		return 0, stamp, errors.New("want a value behind the name, and perhaps a timestamp")
	}
	if value, err = number(first); err != nil || len(second) == 0 {
		return value, stamp, err
	}
	ms, err := strconv.ParseInt(string(second), 10, 64)
	if r.open {
		var seconds float64
		if seconds, err = number(second); err == nil && !(math.Abs(seconds*1000) < math.MaxInt64) {
			err = strconv.ErrRange
		}
		ms = int64(math.Round(seconds * 1000))
	}
	if err != nil {
		return 0, stamp, fmt.Errorf("%.40q is no timestamp", second)
	}
	return value, time.UnixMilli(ms), nil
}

// number is a number as both formats have it: without the underscores and the powers of two of Go's.
func number(text []byte) (float64, error) {
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || bytes.ContainsAny(text, "pP_") {
		return 0, fmt.Errorf("%.40q is no number", text)
	}
	return v, nil
}
