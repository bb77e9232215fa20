package result

import (
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A place is a byte of a file.
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
	data io.ReaderAt
	size int64
	err  error

	buf       []byte // the window
	next, end int    // what is not yet read of it
	base      int64  // where it starts in the file
	line      int
	lineStart int64
	depth     int
	within    string // the member of the outermost object that is being read, for mistakes

	digest hash.Hash // of what is read, nil if nobody asks
	hashed int       // how much of the window is in it

	scratch []byte
}

const (
	windowSize = 64 << 10
	maxDepth   = 100
	maxName    = 1 << 10 // bytes of the name of a member
)

// newScanner reads from a place on.
func newScanner(data io.ReaderAt, size int64, at place) *scanner {
	return &scanner{
		data: data, size: size, buf: make([]byte, windowSize),
		base: at.Offset, line: at.line, lineStart: at.Offset - int64(at.column-1),
	}
}

// fileStart is the place of a file's first byte.
var fileStart = place{0, 1, 1}

// at is the place of the next byte.
func (s *scanner) at() place {
	offset := s.base + int64(s.next)
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

// fill reads the next window; false at the end of the file.
func (s *scanner) fill() bool {
	s.hash()
	s.base += int64(s.end)
	s.next, s.end, s.hashed = 0, 0, 0
	room := min(int64(len(s.buf)), s.size-s.base)
	if s.err != nil || room <= 0 {
		return false
	}
	n, err := s.data.ReadAt(s.buf[:room], s.base)
	if n == 0 {
		if err != nil && !errors.Is(err, io.EOF) {
			s.err = fmt.Errorf("read at byte %d: %w", s.base, err)
		}
		s.size = s.base // it has become shorter
		return false
	}
	s.end = n
	return true
}

// hash adds what was read to the digest.
func (s *scanner) hash() {
	if s.digest != nil {
		s.digest.Write(s.buf[s.hashed:s.next])
	}
	s.hashed = s.next
}

// measure makes d the digest of what is read from here on; nil ends it.
func (s *scanner) measure(d hash.Hash) {
	s.hash()
	s.digest = d
}

// peek is the next byte, 0 at the end or after a mistake. No JSON has a byte 0.
func (s *scanner) peek() byte {
	if s.err != nil || s.next == s.end && !s.fill() {
		return 0
	}
	return s.buf[s.next]
}

// peekAt is the next byte after a mistake, 0 at the end.
func (s *scanner) peekAt() byte {
	if s.next == s.end {
		return 0
	}
	return s.buf[s.next]
}

// start skips blanks and is the byte behind them.
func (s *scanner) start() byte {
	for {
		switch c := s.peek(); c {
		case ' ', '\t', '\r':
			s.next++
		case '\n':
			s.next++
			s.line, s.lineStart = s.line+1, s.base+int64(s.next)
		default:
			return c
		}
	}
}

// done reports whether nothing is left but blanks.
func (s *scanner) done() bool {
	s.start()
	return s.next == s.end && s.base+int64(s.end) >= s.size
}

// open enters an array or an object by its bracket.
func (s *scanner) open(bracket byte) bool {
	switch c := s.start(); {
	case c == bracket && s.depth == maxDepth:
		s.fail(s.at(), "values are nested more than %d deep", maxDepth)
	case c == bracket:
		s.next, s.depth = s.next+1, s.depth+1
		return true
	default:
		s.unexpected(fmt.Sprintf("%q", bracket))
	}
	return false
}

// unexpected is the mistake of a byte that stands where something else should.
func (s *scanner) unexpected(wanted string) {
	switch c := s.peek(); {
	case s.err != nil:
	case c == 0 && s.next == s.end:
		s.ended()
	default:
		s.fail(s.at(), "%q stands where %s should", c, wanted)
	}
}

// more goes on to the next item of an array or member of an object, or leaves
// it.
func (s *scanner) more(first bool, bracket byte) bool {
	switch c := s.start(); {
	case c == bracket:
		s.next, s.depth = s.next+1, s.depth-1
		return false
	case s.err != nil:
		return false
	case first && c != 0:
		return true
	case c == ',':
		s.next++
		if s.start() == bracket {
			s.fail(s.at(), "%q follows a comma", bracket)
		}
		return s.err == nil
	}
	s.unexpected(fmt.Sprintf("',' or %q", bracket))
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
		if s.start() != ':' {
			s.unexpected("':'")
			return
		}
		s.next++
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
	if s.start() != '"' {
		s.unexpected("a string")
		return ""
	}
	s.next++
	b := s.scratch[:0]
	defer func() { s.scratch = b[:0] }()
	for {
		switch c := s.peek(); {
		case c == '"':
			s.next++
			return whole(b, keep)
		case c == '\\':
			s.next++
			b = s.escape(b)
		case c < ' ':
			s.control(c)
			return ""
		default:
			n := s.plain()
			b = append(b, s.buf[s.next:s.next+n]...)
			s.next += n
		}
		if len(b) > keep+utf8.UTFMax {
			b = b[:keep+utf8.UTFMax]
		}
	}
}

// whole is as much of b as fits, in whole characters.
func whole(b []byte, keep int) string {
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
	for i, c := range s.buf[s.next:s.end] {
		if c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return s.end - s.next
}

func (s *scanner) control(c byte) {
	if s.err == nil && s.next == s.end {
		s.ended()
		return
	}
	s.fail(s.at(), "%q stands within a string", c)
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads what follows a backslash.
func (s *scanner) escape(b []byte) []byte {
	c := s.peek()
	if plain, ok := escapes[c]; ok {
		s.next++
		return append(b, plain)
	}
	if c != 'u' {
		s.unexpected("an escape")
		return b
	}
	s.next++
	r := s.unicode()
	if utf16.IsSurrogate(r) && s.peek() == '\\' {
		s.next++
		if s.peek() != 'u' {
			return s.escape(utf8.AppendRune(b, utf8.RuneError))
		}
		s.next++
		second := s.unicode()
		if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
			return utf8.AppendRune(b, pair)
		}
		b, r = utf8.AppendRune(b, utf8.RuneError), second
	}
	return utf8.AppendRune(b, r) // half a pair becomes U+FFFD
}

func (s *scanner) unicode() rune {
	r := rune(0)
	for range 4 {
		d, ok := hexDigit(s.peek())
		if !ok {
			s.unexpected("a hexadecimal digit")
			return utf8.RuneError
		}
		s.next++
		r = r<<4 | d
	}
	return r
}

func hexDigit(c byte) (rune, bool) {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0'), true
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10, true
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10, true
	}
	return 0, false
}

// word reads what is neither string, array nor object. It is good until the next
// read.
func (s *scanner) word() []byte {
	s.start()
	if i := s.wordLen(); i < s.end-s.next {
		w := s.buf[s.next : s.next+i]
		s.next += i
		return w
	}
	b := s.scratch[:0]
	for s.peek() != 0 {
		n := s.wordLen()
		if n == 0 || len(b) > 1<<12 {
			break
		}
		b = append(b, s.buf[s.next:s.next+n]...)
		s.next += n
	}
	s.scratch = b
	return b
}

// wordLen is how many bytes of the window belong to a word.
func (s *scanner) wordLen() int {
	for i, c := range s.buf[s.next:s.end] {
		switch {
		case c >= '0' && c <= '9', c == '.', c == '-', c == '+', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		default:
			return i
		}
	}
	return s.end - s.next
}

func (s *scanner) float() float64 {
	s.start()
	at := s.at()
	w := s.word()
	if len(w) == 0 {
		s.unexpected("a number")
		return 0
	}
	f, ok := parseNumber(w)
	if !ok {
		s.wrong(at, w)
	}
	return f
}

// wrong is the mistake of a word that is none. One at the end of the file was
// cut short.
func (s *scanner) wrong(at place, w []byte) {
	if s.next == s.end && s.base+int64(s.end) >= s.size {
		s.ended()
		return
	}
	s.fail(at, "%q is no value", w)
}

// parseNumber reads a number as JSON or Python writes it; one too large is
// infinite.
func parseNumber(w []byte) (float64, bool) {
	if isNumber(w) {
		f, err := strconv.ParseFloat(string(w), 64)
		return f, err == nil || errors.Is(err, strconv.ErrRange)
	}
	switch string(w) {
	case "Infinity", "-Infinity", "NaN":
		f, err := strconv.ParseFloat(string(w), 64)
		return f, err == nil
	}
	return 0, false
}

// isNumber: -?digits(.digits)?([eE][+-]?digits)?
func isNumber(w []byte) bool {
	digits := func() bool {
		n := 0
		for n < len(w) && w[n] >= '0' && w[n] <= '9' {
			n++
		}
		w = w[n:]
		return n > 0
	}
	if len(w) > 0 && w[0] == '-' {
		w = w[1:]
	}
	if !digits() {
		return false
	}
	if len(w) > 0 && w[0] == '.' {
		if w = w[1:]; !digits() {
			return false
		}
	}
	if len(w) > 0 && (w[0] == 'e' || w[0] == 'E') {
		if w = w[1:]; len(w) > 0 && (w[0] == '-' || w[0] == '+') {
			w = w[1:]
		}
		return digits() && len(w) == 0
	}
	return len(w) == 0
}
