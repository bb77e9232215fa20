package template

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A tokenKind says what a token is.
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
	l.tokens = append(l.tokens, token{kind, text, l.line})
}

// skip advances by n bytes.
func (l *lexer) skip(n int) {
	l.line += strings.Count(l.src[l.at:l.at+n], "\n")
	l.at += n
}

// rest is the remainder of the template.
func (l *lexer) rest() string { return l.src[l.at:] }

// next reads the text up to the next tag, and the tag.
func (l *lexer) next() error {
	start := l.tag()
	if start < 0 {
		l.add(dataToken, l.rest())
		l.skip(len(l.rest()))
		return nil
	}
	kind := l.rest()[start+1]
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
	if raw := l.rawStart(); raw > 0 {
		l.skip(raw)
		l.fresh = l.src[l.at-1] == '\n'
		return l.raw()
	}
	return l.inside(tagStart, tagEnd, "%}")
}

// tag is the offset of the next tag, -1 if there is none.
func (l *lexer) tag() int {
	for i := 0; ; i++ {
		n := strings.IndexByte(l.rest()[i:], '{')
		if n < 0 || i+n+1 >= len(l.rest()) {
			return -1
		}
		i += n
		if c := l.rest()[i+1]; c == '{' || c == '%' || c == '#' {
			return i
		}
	}
}

// before trims the text before a tag.
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

// rawStart is the length of a {% raw %} tag that begins here, 0 if none does.
func (l *lexer) rawStart() int {
	s := strings.TrimLeftFunc(l.rest(), isSpace)
	s, ok := strings.CutPrefix(s, "raw")
	if !ok {
		return 0
	}
	s = strings.TrimLeftFunc(s, isSpace)
	if after, ok := strings.CutPrefix(s, "-%}"); ok {
		return len(l.rest()) - len(strings.TrimLeftFunc(after, isSpace))
	}
	if after, ok := strings.CutPrefix(s, "%}"); ok {
		return len(l.rest()) - len(after)
	}
	return 0
}

// raw takes everything up to {% endraw %} as text.
func (l *lexer) raw() error {
	for i := 0; ; i++ {
		n := strings.Index(l.rest()[i:], "{%")
		if n < 0 {
			return errors.New("a {% raw %} is not closed")
		}
		i += n
		tag := l.rest()[i+2:]
		sign := byte(0)
		if tag != "" && (tag[0] == '-' || tag[0] == '+') {
			sign, tag = tag[0], tag[1:]
		}
		tag, ok := strings.CutPrefix(strings.TrimLeftFunc(tag, isSpace), "endraw")
		if !ok {
			continue
		}
		tag = strings.TrimLeftFunc(tag, isSpace)
		end := lexer{src: tag}
		if by, ok := end.ends("%}"); ok {
			l.add(dataToken, l.before(l.rest()[:i], '%', sign))
			l.skip(len(l.rest()) - len(tag))
			l.leave(by, "%}")
			return nil
		}
	}
}

// inside reads the tokens of a tag.
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

// number reads an integer or a float. After a dot it reads no float, so that x.0.1
// is two indexes.
func (l *lexer) number() error {
	s := l.rest()
	digits := func(i int) int {
		for i < len(s) && ('0' <= s[i] && s[i] <= '9' || s[i] == '_' && i > 0 && i+1 < len(s) && '0' <= s[i+1] && s[i+1] <= '9') {
			i++
		}
		return i
	}
	n, kind := digits(0), intToken
	if l.at == 0 || l.src[l.at-1] != '.' {
		if m := digits(n + 1); n < len(s) && s[n] == '.' && m > n+1 {
			n, kind = m, floatToken
		}
		if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
			from := n + 1
			if from < len(s) && (s[from] == '+' || s[from] == '-') {
				from++
			}
			if m := digits(from); m > from {
				n, kind = m, floatToken
			}
		}
	}
	if n < len(s) && isNameRune(rune(s[n])) {
		return fmt.Errorf("%.20q is not a decimal number", s)
	}
	l.add(kind, strings.ReplaceAll(s[:n], "_", ""))
	l.skip(n)
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
			if err != nil {
				return err
			}
			l.add(stringToken, text)
			l.skip(i + 1)
			return nil
		}
	}
	return fmt.Errorf("a string is not closed: %.30s", s)
}

// simpleEscapes are the escapes with one letter.
var simpleEscapes = map[byte]string{
	'n': "\n", 't': "\t", 'r': "\r", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '\\': `\`, '\'': "'", '"': `"`, '\n': "",
}

// unescape resolves the escapes of Python's string literals. Unknown ones are kept.
func unescape(s string) (string, error) {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			b.WriteString(s)
			return b.String(), nil
		}
		b.WriteString(s[:i])
		text, n, err := escape(s[i+1:])
		if err != nil {
			return "", err
		}
		b.WriteString(text)
		s = s[i+1+n:]
	}
}

// escape returns the text of the escape at the beginning of s, and its length n.
func escape(s string) (text string, n int, err error) {
	if text, ok := simpleEscapes[s[0]]; ok {
		return text, 1, nil
	}
	wide, ok := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	switch {
	case ok:
		if len(s) <= wide {
			return "", 0, fmt.Errorf("the escape \\%s is incomplete", s)
		}
		code, err := strconv.ParseUint(s[1:1+wide], 16, 32)
		if err != nil || !utf8.ValidRune(rune(code)) {
			return "", 0, fmt.Errorf("the escape \\%s is not a character", s[:1+wide])
		}
		return string(rune(code)), 1 + wide, nil
	case '0' <= s[0] && s[0] <= '7':
		for n < len(s) && n < 3 && '0' <= s[n] && s[n] <= '7' {
			n++
		}
		code, _ := strconv.ParseUint(s[:n], 8, 16)
		return string(rune(code)), n, nil
	case s[0] == 'N':
		return "", 0, errors.New(`the escape \N is not supported`)
	}
	return `\`, 0, nil
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
