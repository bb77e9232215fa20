package template

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

type tokenKind int

const (
	dataToken tokenKind = iota // text between the tags
	printStart
	printEnd
	tagStart
	tagEnd
	nameToken
	stringToken
	intToken
	floatToken
	operator
	eof
)

// A token is a word of a template. The text of a string is unescaped.
type token struct {
	kind tokenKind
	text string
	line int

	refused error // why a string cannot be read
}

func (t token) String() string {
	switch t.kind {
	case eof:
		return "the end of the template"
	case printStart, printEnd, tagStart, tagEnd, operator, nameToken:
		return strconv.Quote(t.text)
	}
	return fmt.Sprintf("%.40q", t.text)
}

// A lexer splits a template into tokens, with the white space around tags handled
// as in trim_blocks and lstrip_blocks: a line break right after a {% %} or a {# #}
// is dropped, and so is indentation before one at the beginning of a line. A minus
// sign in a tag removes all white space on that side, a plus sign keeps it.
type lexer struct {
	src    string
	at     int
	line   int
	fresh  bool // the previous text ended with a line break
	tokens []token
	open   []byte // brackets that the tag must close
}

// lex splits a template. A line break at its very end is ignored.
func lex(src string) (tokens []token, err error) {
	src = strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
	l := &lexer{src: strings.TrimSuffix(src, "\n"), line: 1, fresh: true}
	for l.at < len(l.src) {
		if err := l.next(); err != nil {
			return nil, fmt.Errorf("line %d: %w", l.line, err)
		}
	}
	l.add(eof, "")
	return l.tokens, nil
}

func (l *lexer) add(kind tokenKind, text string) {
	l.tokens = append(l.tokens, token{kind: kind, text: text, line: l.line})
}

// skip advances by n bytes.
func (l *lexer) skip(n int) {
	l.line += strings.Count(l.src[l.at:l.at+n], "\n")
	l.at += n
}

// rest is the remainder of the template.
func (l *lexer) rest() string { return l.src[l.at:] }

// opening is how a tag begins.
var opening = lazy.Regexp(`{[{%#]`)

// next reads the text up to the next tag, and the tag.
func (l *lexer) next() error {
	tag := opening.FindStringIndex(l.rest())
	if tag == nil {
		l.add(dataToken, l.rest())
		l.skip(len(l.rest()))
		return nil
	}
	start, kind := tag[0], l.rest()[tag[0]+1]
	sign := byte(0)
	if start+2 < len(l.rest()) {
		sign = l.rest()[start+2]
	}
	if text := l.before(l.rest()[:start], kind, sign); text != "" {
		l.add(dataToken, text)
	}
	l.skip(start + 2)
	if sign == '-' || sign == '+' {
		l.skip(1)
	}
	switch kind {
	case '#':
		return l.comment()
	case '{':
		return l.inside(printStart, printEnd, "}}")
	}
	if tag := rawStart.FindString(l.rest()); tag != "" {
		l.skip(len(tag))
		l.fresh = l.src[l.at-1] == '\n'
		return l.raw()
	}
	return l.inside(tagStart, tagEnd, "%}")
}

func (l *lexer) before(text string, kind, sign byte) string {
	switch {
	case sign == '-':
		return strings.TrimRightFunc(text, isSpace)
	case sign == '+' || kind == '{':
		return text
	}
	line := strings.LastIndexByte(text, '\n') + 1
	if (line > 0 || l.fresh) && strings.TrimLeftFunc(text[line:], isSpace) == "" {
		return text[:line]
	}
	return text
}

// isSpace reports white space as Python does.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

// leave skips the end of a tag: its delimiter, the white space removed by the sign
// before it, and the line break after a tag that prints nothing.
func (l *lexer) leave(sign byte, delimiter string) {
	from := l.at
	if sign != 0 {
		l.skip(1)
	}
	l.skip(len(delimiter))
	switch {
	case sign == '-':
		l.skip(len(l.rest()) - len(strings.TrimLeftFunc(l.rest(), isSpace)))
	case sign == 0 && delimiter != "}}" && strings.HasPrefix(l.rest(), "\n"):
		l.skip(1)
	}
	l.fresh = strings.HasSuffix(l.src[from:l.at], "\n")
}

// ends reports whether a tag ends here, and with which sign.
func (l *lexer) ends(delimiter string) (sign byte, ok bool) {
	s := l.rest()
	if strings.HasPrefix(s, delimiter) {
		return 0, true
	}
	if s != "" && (s[0] == '-' || s[0] == '+' && delimiter != "}}") && strings.HasPrefix(s[1:], delimiter) {
		return s[0], true
	}
	return 0, false
}

func (l *lexer) comment() error {
	for l.at < len(l.src) {
		if sign, ok := l.ends("#}"); ok {
			l.leave(sign, "#}")
			return nil
		}
		l.skip(1)
	}
	return errors.New("a comment {# is not closed")
}

// The tags around text that is not to be read, from behind their opening bracket.
const space = `[\pZ\s\v\x1c-\x1f\x{85}]*`

var (
	rawStart = lazy.Regexp("^" + space + "raw" + space + "(?:%}|-%}" + space + ")")
	rawEnd   = lazy.Regexp(`{%([-+]?)` + space + "endraw" + space + "([-+]?)%}")
)

// raw takes everything up to {% endraw %} as text.
func (l *lexer) raw() error {
	s := l.rest()
	m := rawEnd.FindStringSubmatchIndex(s)
	if m == nil {
		return errors.New("a {% raw %} is not closed")
	}
	l.add(dataToken, l.before(s[:m[0]], '%', first(s[m[2]:m[3]])))
	l.skip(m[4])
	l.leave(first(s[m[4]:m[5]]), "%}")
	return nil
}

// first is the sign that a tag has, 0 for none.
func first(sign string) byte {
	if sign == "" {
		return 0
	}
	return sign[0]
}

func (l *lexer) inside(start, end tokenKind, delimiter string) error {
	l.add(start, "{"+delimiter[:1])
	l.open = l.open[:0]
	for l.at < len(l.src) {
		if sign, ok := l.ends(delimiter); ok && len(l.open) == 0 {
			l.add(end, delimiter)
			l.leave(sign, delimiter)
			return nil
		}
		if err := l.word(); err != nil {
			return err
		}
	}
	return fmt.Errorf("a tag is not closed by %s", delimiter)
}

// word reads one token of a tag, or a character of white space.
func (l *lexer) word() error {
	r, n := utf8.DecodeRuneInString(l.rest())
	switch {
	case isSpace(r):
		l.skip(n)
	case '0' <= r && r <= '9':
		return l.number()
	case isNameRune(r):
		n := strings.IndexFunc(l.rest(), func(r rune) bool { return !isNameRune(r) })
		if n < 0 {
			n = len(l.rest())
		}
		l.add(nameToken, l.rest()[:n])
		l.skip(n)
	case r == '\'' || r == '"':
		return l.text(byte(r))
	default:
		return l.operator()
	}
	return nil
}

func isNameRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// The forms of numbers.
var (
	intForm   = lazy.Regexp(`^\d+(?:_\d+)*`)
	floatForm = lazy.Regexp(`^\d+(?:_\d+)*(?:\.\d+(?:_\d+)*)?(?:[eE][-+]?\d+(?:_\d+)*)?`)
)

// number reads an integer or a float. After a dot it reads no float, so that x.0.1
// is two indexes.
func (l *lexer) number() error {
	form, kind, s := floatForm, intToken, l.rest()
	if strings.HasSuffix(l.src[:l.at], ".") {
		form = intForm
	}
	text := form.FindString(s)
	if strings.ContainsAny(text, ".eE") {
		kind = floatToken
	}
	if r, _ := utf8.DecodeRuneInString(s[len(text):]); isNameRune(r) {
		return fmt.Errorf("%.20q is not a decimal number", s)
	}
	l.add(kind, strings.ReplaceAll(text, "_", ""))
	l.skip(len(text))
	return nil
}

// text reads a string and resolves its escapes.
func (l *lexer) text(quote byte) error {
	s := l.rest()
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case quote:
			text, err := unescape(s[1:i])
			if err != nil && !errors.Is(err, errUnsupported) {
				return err
			}
			l.add(stringToken, text)
			l.tokens[len(l.tokens)-1].refused = err
			l.skip(i + 1)
			return nil
		}
	}
	return fmt.Errorf("a string is not closed: %.30s", s)
}

var simpleEscapes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '\\': `\`, '\'': "'", '"': `"`, '\n': "",
}

// escapes are a backslash with the code of a character, or with any character.
var escapes = lazy.Regexp(`\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|(?s:.))`)

// unescape resolves the escapes of Python's string literals. Unknown ones stay.
func unescape(s string) (text string, err error) {
	text = escapes.ReplaceAllStringFunc(s, func(e string) string {
		made, wrong := escape(e)
		err = cmp.Or(err, wrong)
		return made
	})
	return text, err
}

func escape(e string) (string, error) {
	digits, base := e[1:], 8
	text, simple := simpleEscapes[e[1]]
	switch {
	case simple:
		return text, nil
	case e[1] == 'N':
		return "", fmt.Errorf(`the escape \N is %w`, errUnsupported)
	case strings.ContainsRune("xuU", rune(e[1])):
		digits, base = e[2:], 16
	case e[1] < '0' || e[1] > '7':
		return e, nil
	}
	code, err := strconv.ParseUint(digits, base, 32)
	if err != nil || !utf8.ValidRune(rune(code)) {
		return "", fmt.Errorf("the escape %s is not a character", e)
	}
	return string(rune(code)), nil
}

// operators, longer ones first.
var operators = []string{"//", "**", "==", "!=", "<=", ">="}

func (l *lexer) operator() error {
	s := l.rest()
	n := 1
	for _, o := range operators {
		if strings.HasPrefix(s, o) {
			n = 2
		}
	}
	switch c := s[0]; c {
	case '(', '[', '{':
		l.open = append(l.open, c)
	case ')', ']', '}':
		if len(l.open) == 0 || l.open[len(l.open)-1] != map[byte]byte{')': '(', ']': '[', '}': '{'}[c] {
			return fmt.Errorf("unmatched %q", c)
		}
		l.open = l.open[:len(l.open)-1]
	default:
		if n == 1 && !strings.ContainsRune("+-/*%~=<>.:|,;", rune(c)) {
			r, _ := utf8.DecodeRuneInString(s)
			return fmt.Errorf("unexpected character %q", r)
		}
	}
	l.add(operator, s[:n])
	l.skip(n)
	return nil
}
