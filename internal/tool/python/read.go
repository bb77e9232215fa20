package python

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrCut is the error for a text that ends within a value.
var ErrCut = errors.New("it is cut off")

// closers are what ends a value that begins with a bracket. Angles are those of
// objects that have no other form: `<function run at 0x7f>`.
var closers = map[byte]byte{'(': ')', '[': ']', '{': '}', '<': '>'}

// ValueEnd is the length of a value: up to the comma or the bracket that is not
// its own.
func ValueEnd(s string) (int, error) {
	var open []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\'' || c == '"':
			n, err := quoteEnd(s[i:])
			if err != nil {
				return 0, err
			}
			i += n - 1
		case len(open) == 0 && (c == ',' || c == ')'):
			return i, nil
		case closers[c] != 0:
			open = append(open, closers[c])
		case len(open) > 0 && c == open[len(open)-1]:
			open = open[:len(open)-1]
		case strings.IndexByte(")]}", c) >= 0:
			return 0, fmt.Errorf("unexpected %c", c)
		}
	}
	return 0, ErrCut
}

func quoteEnd(s string) (int, error) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1, nil
		}
	}
	return 0, ErrCut
}

// Unquote is a value without the quotes of a string.
func Unquote(s string) string {
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return s
	}
	if n, err := quoteEnd(s); err != nil || n != len(s) {
		return s
	}
	return unescape(s[1 : len(s)-1])
}

// escaped are the characters that Python writes with a letter.
var escaped = map[byte]string{'n': "\n", 'r': "\r", 't': "\t", '\\': `\`, '\'': "'", '"': `"`}

// escapeDigits are how many hexadecimal digits follow a letter.
var escapeDigits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// unescape takes the escapes out of a string; one that is none of Python's stays.
func unescape(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			break
		}
		b.WriteString(s[:i])
		c := s[i+1]
		s = s[i+2:]
		digits := escapeDigits[c]
		switch r, err := strconv.ParseUint(s[:min(digits, len(s))], 16, 32); {
		case escaped[c] != "":
			b.WriteString(escaped[c])
		case digits > 0 && err == nil && utf8.ValidRune(rune(r)):
			b.WriteRune(rune(r))
			s = s[min(digits, len(s)):]
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	b.WriteString(s)
	return b.String()
}

// Strings are the strings of a printed list.
func Strings(list string) (out []string) {
	for {
		i := strings.IndexAny(list, `'"`)
		if i < 0 {
			return out
		}
		n, err := quoteEnd(list[i:])
		if err != nil {
			return out
		}
		out = append(out, Unquote(list[i:i+n]))
		list = list[i+n:]
	}
}
