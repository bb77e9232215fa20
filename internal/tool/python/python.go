// Package python writes and reads values as Python does: repr, json.dumps, int and float
// of a text. The tools that Pitot speaks for are Python programs, and their printouts,
// result files and errors have to come out byte for byte.
//
// # Command lines
//
// A Parser reads command lines by the rules of Python's argparse, and prints
// arguments and usage as it does.
//
// A tool binds Options to the fields of a struct, which hold the defaults, and a Parser
// stores into them what a command line gives.
package python

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ParseInt is Python's int(text).
func ParseInt(s string) (int, error) {
	digits, ok := withoutUnderscores(asciiNumber(s))
	n, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return 0, fmt.Errorf("invalid int value: %s", Quote(s))
	}
	return n, nil
}

// ParseFloat is Python's float(text).
func ParseFloat(s string) (float64, error) {
	number, ok := withoutUnderscores(asciiNumber(s))
	if len(number) == len("+nan") && strings.ContainsRune("+-", rune(number[0])) && strings.EqualFold(number[1:], "nan") {
		return math.NaN(), nil // strconv knows no sign there
	}
	f, err := strconv.ParseFloat(number, 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // too large is inf, too small is 0
	}
	if !ok || err != nil || strings.ContainsAny(number, "xXpP") {
		return 0, fmt.Errorf("invalid float value: %s", Quote(s))
	}
	return f, nil
}

// asciiNumber is a number without the white space around it, its digits those of ASCII:
// Python takes the decimal digits of all scripts.
func asciiNumber(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= unicode.MaxASCII || !unicode.Is(unicode.Nd, r) {
			return r
		}
		return '0' + digitOf(r)
	}, strings.TrimFunc(s, unicode.IsSpace))
}

// digitOf is the value of a decimal digit: they come in tens, in order.
func digitOf(r rune) rune {
	for _, digits := range unicode.Nd.R16 {
		if rune(digits.Lo) <= r && r <= rune(digits.Hi) {
			return (r - rune(digits.Lo)) % 10
		}
	}
	for _, digits := range unicode.Nd.R32 {
		if rune(digits.Lo) <= r && r <= rune(digits.Hi) {
			return (r - rune(digits.Lo)) % 10
		}
	}
	return -1
}

// withoutUnderscores removes underscores that stand between two digits; any
// other makes the number invalid.
func withoutUnderscores(s string) (string, bool) {
	isDigit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	var b strings.Builder
	for i := range len(s) {
		if s[i] != '_' {
			b.WriteByte(s[i])
		} else if !isDigit(i-1) || !isDigit(i+1) {
			return "", false
		}
	}
	return b.String(), true
}

// Float is Python's repr of a float: the shortest digits that read back the
// same, in exponent form below 1e-4 and from 1e16 on, always with a point or an
// exponent.
func Float(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64) // two digits of exponent, as Python
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// escapes are the control characters that Python and JSON write alike.
var escapes = map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`}

// Quote is Python's repr of a str.
func Quote(s string) string {
	quote := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b := []byte{quote}
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			b = append(b, '\\', byte(r))
		case escapes[r] != "":
			b = append(b, escapes[r]...)
		case unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		case r < 0x100:
			b = fmt.Appendf(b, `\x%02x`, r)
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
	}
	return string(append(b, quote))
}

// OfJSON is the repr of what json.loads reads, None for nil.
func OfJSON(b json.RawMessage) string { return repr.of(b) }

// Bool is the repr of a bool.
func Bool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
