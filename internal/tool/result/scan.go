package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

type place struct {
	Offset int64 // from 0
	line   int   // from 1
	column int   // from 1, in bytes
}

// A scanError is a mistake in a file, at its place.
type scanError struct {
	at     place
	reason string
}

func (e *scanError) Error() string {
	return fmt.Sprintf("byte %d (line %d, column %d): %s", e.at.Offset, e.at.line, e.at.column, e.reason)
}

// A scanner reads JSON from any place of a file on, in bounded memory: it holds
// a window of the file and never a value that it was not asked to keep. As JSON
// it takes what Python writes, so Infinity, -Infinity and NaN are numbers.
//
// The first mistake ends it: from there on every method gives nothing, and err
// says what was wrong.
type scanner struct {
	in  io.Reader
	err error

	window    []byte
	rest      []byte // of the window: what is not yet read
	end       int64  // where the window ends in the file
	line      int
	lineStart int64
	depth     int
	within    string // the member of the outermost object that is being read, for mistakes

	scratch []byte
}

const (
	windowSize = 64 << 10
	maxDepth   = 100
	maxName    = 1 << 10 // bytes of the name of a member
)

func newScanner(data io.ReaderAt, size int64, at place) *scanner {
	return &scanner{
		in: io.NewSectionReader(data, at.Offset, size-at.Offset), window: make([]byte, windowSize),
		end: at.Offset, line: at.line, lineStart: at.Offset - int64(at.column-1),
	}
}

// fileStart is the place of a file's first byte.
var fileStart = place{0, 1, 1}

// at is the place of the next byte.
func (s *scanner) at() place {
	offset := s.end - int64(len(s.rest))
	return place{offset, s.line, int(offset-s.lineStart) + 1}
}

func (s *scanner) fail(at place, format string, a ...any) {
	if s.err == nil {
		s.err = &scanError{at, fmt.Sprintf(format, a...)}
	}
}

// ended is the mistake of a file that ends within a value.
func (s *scanner) ended() {
	what := "the file ends within a value: it was cut short"
	if s.within != "" {
		what = fmt.Sprintf("the file ends within %q: it was cut short", s.within)
	}
	s.fail(s.at(), "%s", what)
}

// atEnd reports whether nothing is left. It reads the next window where there is one, but
// not after a mistake.
func (s *scanner) atEnd() bool {
	if len(s.rest) == 0 && s.err == nil {
		n, err := s.in.Read(s.window)
		s.rest, s.end = s.window[:n], s.end+int64(n)
		if n == 0 && !errors.Is(err, io.EOF) {
			s.err = fmt.Errorf("read at byte %d: %w", s.end, err)
		}
	}
	return len(s.rest) == 0
}

// peek is the next byte, 0 at the end or after a mistake. No JSON has a byte 0.
func (s *scanner) peek() byte {
	if s.err != nil || len(s.rest) == 0 && s.atEnd() {
		return 0
	}
	return s.rest[0]
}

// skip passes over bytes of the window.
func (s *scanner) skip(n int) { s.rest = s.rest[n:] }

// step passes over a byte, which may end a line.
func (s *scanner) step() {
	ends := s.rest[0] == '\n'
	s.skip(1)
	if ends {
		s.line, s.lineStart = s.line+1, s.end-int64(len(s.rest))
	}
}

// start skips blanks and is the byte behind them.
func (s *scanner) start() byte {
	for {
		switch c := s.peek(); c {
		case ' ', '\t', '\r', '\n':
			s.step()
		default:
			return c
		}
	}
}

// done reports whether nothing is left but blanks.
func (s *scanner) done() bool {
	s.start()
	return s.atEnd()
}

// open enters an array or an object by its bracket.
func (s *scanner) open(bracket byte) bool {
	switch c := s.start(); {
	case c == bracket && s.depth == maxDepth:
		s.fail(s.at(), "values are nested more than %d deep", maxDepth)
	case c == bracket:
		s.skip(1)
		s.depth++
		return true
	default:
		s.refuse(fmt.Sprintf("where %q should", bracket))
	}
	return false
}

// refuse is the mistake of the next byte, or of a file that ends ahead of it.
func (s *scanner) refuse(why string) {
	switch c := s.peek(); {
	case s.err != nil:
	case c == 0 && s.atEnd():
		s.ended()
	default:
		s.fail(s.at(), "%q stands %s", c, why)
	}
}

// more goes on to the next item of an array or member of an object, or leaves
// it.
func (s *scanner) more(first bool, bracket byte) bool {
	switch c := s.start(); {
	case c == bracket:
		s.skip(1)
		s.depth--
		return false
	case s.err != nil:
		return false
	case first && c != 0:
		return true
	case c == ',':
		s.skip(1)
		if s.start() == bracket {
			s.fail(s.at(), "%q follows a comma", bracket)
		}
		return s.err == nil
	}
	s.refuse(fmt.Sprintf("where ',' or %q should", bracket))
	return false
}

// items calls f for each item of an array; f must read it.
func (s *scanner) items(f func()) {
	if !s.open('[') {
		return
	}
	for first := true; s.more(first, ']'); first = false {
		f()
	}
}

// members calls f for each member of an object; f must read its value.
func (s *scanner) members(f func(name string)) {
	if !s.open('{') {
		return
	}
	for first := true; s.more(first, '}'); first = false {
		name := s.text(maxName)
		s.start()
		s.one(":", "':'")
		if s.depth == 1 {
			s.within = name
		}
		f(name)
		if s.depth == 1 {
			s.within = ""
		}
	}
}

// text reads a string, and keeps so many bytes of it; none for 0.
func (s *scanner) text(keep int) string {
	s.start()
	s.one(`"`, "a string")
	b, most := append(s.scratch[:0], '"'), longestEscape*(keep+utf8.UTFMax)
	for s.err == nil {
		switch c := s.peek(); {
		case c == '"':
			s.skip(1)
			s.scratch = append(b, '"')
			return truncate(unquoted(s.scratch), keep)
		case c == '\\':
			if escaped := s.escape(b); len(b) < most {
				b = escaped
			}
		case c < ' ':
			s.refuse("within a string")
		default:
			n := s.plain()
			b = append(b, s.rest[:max(0, min(n, most-len(b)))]...)
			s.skip(n)
		}
	}
	return ""
}

// longestEscape is how many bytes stand for one at most.
const longestEscape = len(`\u0000`)

// unquoted is what a string in quotes says. Half a pair of surrogates becomes U+FFFD.
func unquoted(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		return b[1 : len(b)-1]
	}
	var text string
	_ = json.Unmarshal(b, &text) // its escapes were looked at
	return []byte(text)
}

// truncate is as much of b as fits, in whole characters.
func truncate(b []byte, keep int) string {
	if len(b) > keep {
		for b = b[:keep]; len(b) > 0; b = b[:len(b)-1] {
			if r, n := utf8.DecodeLastRune(b); r != utf8.RuneError || n > 1 {
				break
			}
		}
	}
	return strings.ToValidUTF8(string(b), "�")
}

// plain is how many bytes of the window are of a string and mean themselves.
func (s *scanner) plain() int {
	for i, c := range s.rest {
		if c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return len(s.rest)
}

// escape adds a backslash and what has to follow it to b.
func (s *scanner) escape(b []byte) []byte {
	s.skip(1)
	c := s.one(`"\/bfnrtu`, "an escape")
	b = append(b, '\\', c)
	for n := 0; c == 'u' && n < 4; n++ {
		b = append(b, s.one("0123456789abcdefABCDEF", "a hexadecimal digit"))
	}
	return b
}

// one reads a byte that has to be one of several.
func (s *scanner) one(of, wanted string) byte {
	c := s.peek()
	if strings.IndexByte(of, c) < 0 {
		s.refuse("where " + wanted + " should")
		return 0
	}
	s.skip(1)
	return c
}

// word reads what is neither string, array nor object. It is good until the next
// read.
func (s *scanner) word() []byte {
	s.start()
	if i := s.wordLen(); i < len(s.rest) {
		w := s.rest[:i]
		s.skip(i)
		return w
	}
	b := s.scratch[:0]
	for s.peek() != 0 {
		n := s.wordLen()
		if n == 0 || len(b) > 1<<12 {
			break
		}
		b = append(b, s.rest[:n]...)
		s.skip(n)
	}
	s.scratch = b
	return b
}

// wordLen is how many bytes of the window belong to a word.
func (s *scanner) wordLen() int {
	for i, c := range s.rest {
		switch {
		case c >= '0' && c <= '9', c == '.', c == '-', c == '+', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		default:
			return i
		}
	}
	return len(s.rest)
}

func (s *scanner) float() float64 {
	s.start()
	at := s.at()
	w := s.word()
	if len(w) == 0 {
		s.refuse("where a number should")
		return 0
	}
	f, ok := parseNumber(w)
	if !ok {
		s.wrong(at, w)
	}
	return f
}

// optional is a number, nil for null.
func (s *scanner) optional() *float64 {
	if s.start() == 'n' {
		if at, w := s.at(), s.word(); string(w) != "null" {
			s.wrong(at, w)
		}
		return nil
	}
	f := s.float()
	return &f
}

// wrong is the mistake of a word that is none. One at the end of the file was
// cut short.
func (s *scanner) wrong(at place, w []byte) {
	if s.atEnd() {
		s.ended()
		return
	}
	s.fail(at, "%q is no value", w)
}

// parseNumber reads a number as JSON or Python writes it; one too large is
// infinite.
func parseNumber(w []byte) (float64, bool) {
	switch text := string(w); {
	case isNumber(text), slices.Contains([]string{"Infinity", "-Infinity", "NaN"}, text):
		f, err := strconv.ParseFloat(text, 64)
		return f, err == nil || errors.Is(err, strconv.ErrRange)
	}
	return 0, false
}

// isNumber reports whether what strconv takes for a number is one of JSON: digits stand
// ahead of its point, and behind it.
func isNumber(s string) bool {
	digit := func(i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }
	point := strings.IndexByte(s, '.')
	return (digit(0) || strings.HasPrefix(s, "-") && digit(1)) && (point < 0 || digit(point+1)) && strings.Trim(s, "0123456789+-.eE") == ""
}
