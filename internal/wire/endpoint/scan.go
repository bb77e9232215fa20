package endpoint

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// eventForm is the usual form of the events of some protocols.
type eventForm int

const (
	_ eventForm = iota
	usualCompletion
	usualChat
	usualGenerate
)

// scan reads an event of this form; ok is false for any other event. These are no functions in a table, so
// that the compiler sees that they do not keep d, and leaves it on the stack: it is in the cache there.
func (u eventForm) scan(d *delta, text bool, data []byte) (ok bool) {
	switch u {
	case usualCompletion:
		return scan(d, Completions, text, data)
	case usualChat:
		return scan(d, Chat, text, data)
	case usualGenerate:
		return scanGenerate(d, text, data)
	}
	return false
}

// scan reads an event of the usual form in one walk, without allocating, unless its
// text is wanted. ok is false for any other, be it odd or broken: openAI has another
// look at those. What scan accepts is valid JSON.
func scan(d *delta, p Protocol, text bool, data []byte) (ok bool) {
	*d = delta{}
	s := scanner{b: data}
	s.open('{')
	var seen uint
	for s.next('}') {
		switch string(s.key()) {
		case "choices":
			s.once(&seen, 1).choices(d, p, text)
		case "usage":
			s.once(&seen, 2).usage(d)
		case "error", "sglext", "x_groq", "metrics": // null, or not the usual form
			s.null()
		case "object":
			value, _ := s.once(&seen, 4).text()
			s.bad = s.bad || string(value) == "error"
		default:
			s.skip(0)
		}
	}
	s.blank()
	return !s.bad && s.i == len(s.b) && (d.token || d.used) // else it may be an error
}

// choices reads the only one of an array of choices, or none.
func (s *scanner) choices(d *delta, p Protocol, text bool) {
	s.open('[')
	for n := 0; s.next(']'); n++ {
		d.token = true
		hasText := s.choice(d, p, text)
		if s.bad = s.bad || n > 0; !hasText {
			d.kind |= trace.Bare
		}
	}
}

func (s *scanner) choice(d *delta, p Protocol, text bool) (hasText bool) {
	s.open('{')
	var seen uint
	for s.next('}') {
		switch key := s.key(); {
		case string(key) == "finish_reason":
			if value, ok := s.once(&seen, 1).text(); ok && len(value) > 0 {
				d.finish = unquote(value)
				d.kind |= trace.Finish
			}
		case p == Completions && string(key) == "text":
			value, ok := s.once(&seen, 2).text()
			hasText = ok
			s.addField(d, value, trace.Text, text)
		case p == Chat && string(key) == "delta":
			hasText = s.once(&seen, 2).message(d, text)
		case string(key) == "index":
			s.once(&seen, 4).zero()
		case string(key) == "usage", string(key) == "error":
			s.null()
		default:
			s.about(key)
		}
	}
	return hasText
}

// message reads a chat's delta.
func (s *scanner) message(d *delta, text bool) (hasText bool) {
	if s.isNull() {
		return false
	}
	s.open('{')
	var seen uint
	var answer, thought, thinking []byte
	speaks := false
	for s.next('}') {
		ok, key := false, s.key()
		switch string(key) {
		case "content":
			answer, ok = s.once(&seen, 1).textOrNull()
		case "reasoning_content":
			thought, ok = s.once(&seen, 4).textOrNull()
		case "reasoning":
			thinking, ok = s.once(&seen, 8).textOrNull()
		case "role":
			_, speaks = s.once(&seen, 16).text()
		case "function_call", "tool_calls":
			s.emptyOrNull()
		default:
			s.about(key)
		}
		hasText = hasText || ok
	}
	if len(thought) == 0 {
		thought = thinking
	}
	s.addField(d, answer, trace.Text, text)
	s.addField(d, thought, trace.Reasoning, text)
	if speaks && d.kind&(trace.Text|trace.Reasoning) == 0 {
		d.kind |= trace.Role
	}
	return hasText
}

// addField adds the text of a field, as it stands between its quotes.
func (s *scanner) addField(d *delta, value []byte, kind trace.Kind, text bool) {
	if len(value) == 0 {
		return
	}
	d.kind |= kind
	d.bytes += len(value)
	if kind == trace.Text {
		d.raw = value
	} else {
		d.thought = value
	}
	switch {
	case !text:
	case kind == trace.Text:
		d.text += unquote(value)
	default:
		d.hidden += unquote(value)
	}
}

func (s *scanner) usage(d *delta) {
	if value := s.value(); value != nil {
		d.use(openAICounts, gjson.ParseBytes(value))
		s.bad = s.bad || d.usage.Completion == 0 // or no object, or under other names
	}
}

// once notes that the field with this bit came; an object that has one twice is not of
// the usual form.
func (s *scanner) once(seen *uint, bit uint) *scanner {
	s.bad = s.bad || *seen&bit != 0
	*seen |= bit
	return s
}

// A scanner walks over JSON. Once bad it stays where it is.
type scanner struct {
	b     []byte
	i     int
	first bool // nothing of the array or object came yet
	bad   bool // not the JSON that was hoped for
	// escaped: the latest string has escapes.
	escaped bool
}

func (s *scanner) blank() {
	if s.i < len(s.b) && s.b[s.i] > ' ' {
		return
	}
	for s.i < len(s.b) && s.b[s.i] <= ' ' {
		switch s.b[s.i] {
		case ' ', '\n', '\r', '\t':
			s.i++
		default:
			s.bad = true
			return
		}
	}
}

// at reports whether the next thing begins with c.
func (s *scanner) at(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		return !s.bad
	}
	return s.beyond(c)
}

// beyond is at behind blanks. It stays a call, so that at needs none.
//
//go:noinline
func (s *scanner) beyond(c byte) bool {
	s.blank()
	return !s.bad && s.i < len(s.b) && s.b[s.i] == c
}

// open takes the bracket that begins an array or object.
func (s *scanner) open(c byte) {
	if !s.at(c) {
		s.bad = true
		return
	}
	s.i++
	s.first = true
}

// next moves to the next element, or beyond the closing bracket.
func (s *scanner) next(closing byte) bool {
	first := s.first
	s.first = false
	switch {
	case s.at(closing):
		s.i++
		return false
	case first:
	case s.at(','):
		s.i++
	default:
		s.bad = true
	}
	return !s.bad
}

// key takes a key and its colon; one with an escape is bad.
func (s *scanner) key() []byte {
	key := s.quoted()
	if s.at(':') {
		s.i++
	} else {
		s.bad = true
	}
	s.bad = s.bad || s.escaped
	return key
}

// text takes a value; ok is false if it is not a string.
func (s *scanner) text() (value []byte, ok bool) {
	if s.at('"') {
		value = s.quoted()
		return value, !s.bad
	}
	s.skip(0)
	return nil, false
}

// textOrNull takes a text; ok is false for null, and anything else is bad.
func (s *scanner) textOrNull() (value []byte, ok bool) {
	if s.isNull() {
		return nil, false
	}
	value, ok = s.text()
	s.bad = s.bad || !ok
	return value, ok
}

// about takes the value of a member that is no output: it is known not to be, or has no text.
func (s *scanner) about(key []byte) {
	if s.isNull() {
		return
	}
	value := s.value()
	s.bad = s.bad || bytes.IndexByte(value, '"') >= 0 && string(value) != `""` && !about[string(key)]
}

// unquote resolves the escapes of a string.
func unquote(value []byte) string {
	for _, c := range value {
		if c == '\\' {
			return gjson.Parse(`"` + string(value) + `"`).Str
		}
	}
	return string(value)
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// quoted takes a string and returns what stands between its quotes.
func (s *scanner) quoted() []byte {
	if !s.at('"') {
		s.bad = true
		return nil
	}
	s.escaped = false
	b, i := s.b, s.i+1
	for {
		for i+8 <= len(b) { // eight bytes at a time, as long as they are plain
			w := binary.LittleEndian.Uint64(b[i:])
			quote, escape := w^('"'*ones), w^('\\'*ones)
			special := ((quote-ones)&^quote | (escape-ones)&^escape | (w-' '*ones)&^w) & highs
			if special != 0 {
				i += bits.TrailingZeros64(special) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			s.bad = true
			return nil
		}
		switch c := b[i]; {
		case c == '"':
			value := b[s.i+1 : i]
			s.i = i + 1
			return value
		case c < ' ':
			s.bad = true
			return nil
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				s.bad = true
				return nil
			}
			i += n
			s.escaped = true
		default:
			i++
		}
	}
}

// escapeLen is the length of the escape that b begins with, 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			switch {
			case '0' <= c && c <= '9', 'a' <= c|0x20 && c|0x20 <= 'f':
			default:
				return 0
			}
		}
		return 6
	}
	return 0
}

// isNull takes a null, if one is next.
func (s *scanner) isNull() bool {
	if !s.at('n') {
		return false
	}
	s.literal("null")
	return true
}

// null takes a null; anything else is bad.
func (s *scanner) null() { s.bad = !s.isNull() || s.bad }

// zero takes a 0; anything else is bad.
func (s *scanner) zero() {
	if s.bad = !s.at('0') || s.bad; !s.bad {
		s.i++
	}
}

// emptyOrNull takes null or an empty array; anything else is bad.
func (s *scanner) emptyOrNull() {
	if s.isNull() {
		return
	}
	s.open('[')
	s.bad = s.next(']') || s.bad
}

func (s *scanner) literal(text string) {
	if len(s.b)-s.i < len(text) || string(s.b[s.i:s.i+len(text)]) != text {
		s.bad = true
		return
	}
	s.i += len(text)
}

// maxDepth is how far values may lie within each other.
const maxDepth = 32

// skip takes any value.
func (s *scanner) skip(depth int) {
	s.blank()
	if s.bad || s.i >= len(s.b) || depth > maxDepth {
		s.bad = true
		return
	}
	switch s.b[s.i] {
	case '"':
		s.quoted()
	case '{':
		s.open('{')
		for s.next('}') {
			s.quoted()
			if !s.at(':') {
				s.bad = true
				return
			}
			s.i++
			s.skip(depth + 1)
		}
	case '[':
		s.open('[')
		for s.next(']') {
			s.skip(depth + 1)
		}
	case 't':
		s.literal("true")
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.number()
	}
}

func (s *scanner) number() {
	if s.i < len(s.b) && s.b[s.i] == '-' {
		s.i++
	}
	if s.i < len(s.b) && s.b[s.i] == '0' {
		s.i++
	} else {
		s.digits()
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		s.digits()
	}
	if s.i < len(s.b) && s.b[s.i]|0x20 == 'e' {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		s.digits()
	}
}

// value takes any value and returns it as it stands, nil for null.
func (s *scanner) value() []byte {
	if s.isNull() {
		return nil
	}
	start := s.i
	s.skip(0)
	if s.bad {
		return nil
	}
	return s.b[start:s.i]
}

// integer takes an integer that is not negative; any other value is bad.
func (s *scanner) integer() (n int) {
	s.blank()
	start := s.i
	s.number()
	if s.bad || s.i-start > 12 {
		s.bad = true
		return 0
	}
	for _, c := range s.b[start:s.i] {
		if c < '0' || c > '9' {
			s.bad = true
			return 0
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// digits takes at least one.
func (s *scanner) digits() {
	start := s.i
	for s.i < len(s.b) && '0' <= s.b[s.i] && s.b[s.i] <= '9' {
		s.i++
	}
	s.bad = s.bad || s.i == start
}
