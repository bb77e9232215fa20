package dialect

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrCut is the error of a text that ends before what it began with does.
var ErrCut = errors.New("it is cut off")

// ReadNamespace reads a printout of arguments, `Namespace(name=value, ...)`, at the
// beginning of a text. Values are as Python shows them, strings without their
// quotes, and secrets are masked. The rest is what stands behind.
func ReadNamespace(text string) (settings map[string]string, rest string, err error) {
	rest, ok := strings.CutPrefix(text, "Namespace(")
	if !ok {
		return nil, text, errors.New("no Namespace begins here")
	}
	settings = map[string]string{}
	for {
		rest = strings.TrimLeft(rest, " \t\n")
		if after, ok := strings.CutPrefix(rest, ")"); ok {
			return settings, after, nil
		}
		name, value, ok := strings.Cut(rest, "=")
		if !ok {
			return settings, rest, ErrCut
		}
		if name = strings.TrimSpace(name); !isIdentifier(name) {
			return settings, rest, fmt.Errorf("%.40q is no name of an argument", name)
		}
		n, err := pyValueEnd(value)
		if err != nil {
			return settings, value, fmt.Errorf("argument %s: %w", name, err)
		}
		settings[name] = maskSetting(name, pyText(strings.TrimSpace(value[:n])))
		rest = strings.TrimPrefix(value[n:], ",")
	}
}

func isIdentifier(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// closers are what ends a value that begins with a bracket. Angles are those of
// objects that have no other form: `<function run at 0x7f>`.
var closers = map[byte]byte{'(': ')', '[': ']', '{': '}', '<': '>'}

// pyValueEnd is the length of a value: up to the comma or the bracket that is not
// its own.
func pyValueEnd(s string) (int, error) {
	var open []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\'' || c == '"':
			n, err := pyQuoteEnd(s[i:])
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

// pyQuoteEnd is the length of a string in quotes.
func pyQuoteEnd(s string) (int, error) {
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

// pyText is a value without the quotes of a string.
func pyText(s string) string {
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return s
	}
	if n, err := pyQuoteEnd(s); err != nil || n != len(s) {
		return s
	}
	return pyUnquote(s[1 : len(s)-1])
}

// escaped are the characters that Python writes with a letter.
var escaped = map[byte]string{'n': "\n", 'r': "\r", 't': "\t", '\\': `\`, '\'': "'", '"': `"`}

// escapeDigits are how many hexadecimal digits follow a letter.
var escapeDigits = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// pyUnquote takes the escapes out of a string; one that is none of Python's stays.
func pyUnquote(s string) string {
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

// pyStrings are the strings of a printed list.
func pyStrings(list string) (out []string) {
	for {
		i := strings.IndexAny(list, `'"`)
		if i < 0 {
			return out
		}
		n, err := pyQuoteEnd(list[i:])
		if err != nil {
			return out
		}
		out = append(out, pyText(list[i:i+n]))
		list = list[i+n:]
	}
}

// maskSetting hides what an argument has of secrets.
func maskSetting(name, value string) string {
	if value == "None" || value == "" {
		return value
	}
	if name == "header" || name == "headers" {
		return "***"
	}
	for _, word := range []string{"token", "key", "password", "secret"} {
		if slices.Contains(strings.Split(name, "_"), word) {
			return "***"
		}
	}
	return Mask(value)
}

var (
	secretPair = regexp.MustCompile(`(?i)((?:(?:api[_-]?key|authorization|password|passwd|secret|cookie|(?:hf|access|auth)[_-]?token)["']?\s*[:=]|\b(?:token|auth|key)(?:=|["']\s*:))\s*["']?)(?:(?:bearer|basic)\s+)?[^\s"',}]+`)
	secretFlag = regexp.MustCompile(`(?i)(--[\w-]*(?:key|token|password|secret|auth)[ =]["']?)[^\s"']+`)
	headerFlag = regexp.MustCompile(`(?i)((?:--header|\s-H)[ =]["']?[^\s"'=:]+["']?[=:]\s*["']?)(?:bearer\s+|basic\s+)?[^\s"']+`)
	bearer     = regexp.MustCompile(`(?i)(bearer\s+)[^\s"',}*]+`)
	// issued is what services begin their keys with.
	issued   = regexp.MustCompile(`\b((?:sk|hf|ghp|gho|glpat|xox[abp]|nvapi|gsk)[-_])[\w-]{8,}`)
	userInfo = regexp.MustCompile(`(://)[^/\s@]+@`)
)

// shortestSecret is the length of a text that may have one, with its name.
const shortestSecret = 5

// Mask hides what looks like a secret in a text: what stands behind the name of
// one, and the user of a URL.
func Mask(text string) string {
	if len(text) < shortestSecret {
		return text
	}
	for _, secret := range []*regexp.Regexp{headerFlag, secretFlag, secretPair, bearer} {
		text = secret.ReplaceAllString(text, "${1}***")
	}
	text = issued.ReplaceAllString(text, "${1}***")
	return userInfo.ReplaceAllString(text, "${1}")
}
