package transport

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// An Event is one server-sent event with data, or one that tells an error.
type Event struct {
	Name []byte // its event field, mostly empty; valid until the callback returns
	// Data are its data lines, joined with newlines; of an error without any, its comments. It is valid until the
	// callback returns.
	Data []byte
	// Stamp is the stamp of the read that contained the end of its last data line.
	Stamp Stamp
	// Coalesced means that the same read completed an earlier event, so the two
	// share a timestamp although the server may have sent them separately.
	Coalesced bool
	// Commented means that it begins with a comment: some clients pass over all of it.
	Commented bool
}

// MaxEvent is the largest event accepted, in bytes, unless Events has another limit. The
// largest that servers send repeat an answer from its beginning, with log probabilities.
const MaxEvent = 8 << 20

// ErrEventTooLarge is wrapped by what Feed returns for an event larger than its limit.
var ErrEventTooLarge = errors.New("event too large")

// Events splits a byte stream into server-sent events as defined by the WHATWG HTML
// standard: lines end with LF, CRLF or CR; `data` with or without a space after the
// colon; comments and unknown fields are skipped; an event ends at an empty line. Errors
// stand elsewhere too: in a field "error", in a line of JSON that is no field, or in an
// event of the name "error" that has nothing but a comment. These are events named "error".
// An event within one read is not copied. The zero value is ready for the start of
// a stream.
type Events struct {
	Limit int // the largest event accepted, in bytes; 0: MaxEvent

	line       []byte // the part of a line from earlier reads
	data       []byte // the data of the event so far; may alias the current read
	own        []byte // storage of data that outlives a read
	name       []byte // of the event so far
	owned      bool   // data is in own
	pending    bool   // at least one data line came
	stamp      Stamp  // of the last data line
	seen       uint64 // the latest read that completed an event
	trails     bool   // something followed the latest event
	begun      bool   // the first line was seen
	skipLF     bool   // the last read ended in CR
	comment    bool   // the line so far is a comment, and not in line
	otherLines int    // lines that are neither data nor empty
	fields     int    // of these, those that are no comments
	tight      int    // data lines without a space after the colon
	lead       byte   // what the event so far begins with, 0 for nothing
	comments   []byte // the beginning of the comments of the event so far
}

// maxComments limits the recorded part of an event's comments, in bytes.
const maxComments = 1 << 10

// failure names the events that tell an error.
var failure = []byte("error")

// Failed reports whether the name of an event says that it tells an error, in whatever it has.
func (e Event) Failed() bool {
	return endsIn(e.Name, failure) || endsIn(e.Name, []byte("exception"))
}

func endsIn(name, suffix []byte) bool {
	return len(name) >= len(suffix) && bytes.EqualFold(name[len(name)-len(suffix):], suffix)
}

// Feed takes the bytes of a read, or of a part of it, and calls yield for each
// event they complete. It stops at yield's first error and returns it.
func (e *Events) Feed(p []byte, s Stamp, yield func(Event) error) error {
	for len(p) > 0 {
		if e.skipLF {
			e.skipLF = false
			if p[0] == '\n' {
				p = p[1:]
				continue
			}
		}
		i := lineEnd(p)
		if i < 0 {
			if err := e.hold(p); err != nil {
				return err
			}
			break
		}
		line := p[:i]
		e.skipLF = p[i] == '\r'
		p = p[i+1:]
		if e.comment {
			e.begun, e.comment, e.lead = true, false, cmp.Or(e.lead, ':')
			e.otherLines++
			continue
		}
		carried := len(e.line) > 0
		if carried {
			line = append(e.line, line...)
		}
		if err := e.take(line, carried, s, yield); err != nil {
			return err
		}
		if carried {
			e.line = line[:0]
		}
	}
	e.retain()
	return nil
}

// hold stores the beginning of a line until its end comes, but nothing of a comment.
func (e *Events) hold(p []byte) error {
	e.trails = true
	if e.comment = e.comment || len(e.line) == 0 && p[0] == ':'; e.comment {
		return nil
	}
	if len(e.line)+len(p) > e.limit() {
		return e.tooLarge()
	}
	e.line = Append(e.line, p, e.limit())
	return nil
}

func (e *Events) limit() int { return cmp.Or(e.Limit, MaxEvent) }

func (e *Events) tooLarge() error {
	return fmt.Errorf("%w: the limit is %d MiB", ErrEventTooLarge, e.limit()>>20)
}

// Buffered is the size of what waits for the end of an event, in bytes.
func (e *Events) Buffered() int {
	if e.owned {
		return cap(e.line) + cap(e.data)
	}
	return cap(e.line) + cap(e.own)
}

// Append is append for what may become as large as limit. It doubles the space, so that
// the copies left behind are no larger than the last.
func Append(b, p []byte, limit int) []byte {
	if len(b)+len(p) > cap(b) {
		b = slices.Grow(b, max(len(p), min(len(b), limit-len(b))))
	}
	return append(b, p...)
}

// Trailing reports whether data followed the latest event: the timestamp of its
// read is that of later bytes.
func (e *Events) Trailing() bool { return e.trails }

// OtherLines returns the number of lines that are neither data nor empty: comments,
// event names.
func (e *Events) OtherLines() int { return e.otherLines }

// Fields returns the number of those that are no comments.
func (e *Events) Fields() int { return e.fields }

// Tight returns the number of data lines without a space after the colon.
func (e *Events) Tight() int { return e.tight }

// End is called when the stream has ended. It completes an event without its
// closing empty line, and also one without the end of its last line if whole
// reports that the line's data is complete. It reports whether the stream ended
// within a line.
func (e *Events) End(s Stamp, whole func(data []byte) bool, yield func(Event) error) (broken bool, err error) {
	if data, ok := field(e.line, "data"); ok && whole(data) {
		return false, e.Feed([]byte("\n\n"), s, yield)
	}
	return len(e.line) > 0 || e.comment, e.dispatch(yield)
}

// lineEnd is the index of the first LF or CR, or -1.
func lineEnd(p []byte) int {
	lf := bytes.IndexByte(p, '\n')
	if lf < 0 {
		return bytes.IndexByte(p, '\r')
	}
	if cr := bytes.IndexByte(p[:lf], '\r'); cr >= 0 {
		return cr
	}
	return lf
}

var bom = []byte("\xef\xbb\xbf")

// take handles one line. carried means that it is in e.line and will be overwritten
// by a later read.
func (e *Events) take(line []byte, carried bool, s Stamp, yield func(Event) error) error {
	if !e.begun {
		e.begun = true
		line = bytes.TrimPrefix(line, bom)
	}
	if len(line) == 0 {
		return e.dispatch(yield)
	}
	e.trails, e.lead = true, cmp.Or(e.lead, line[0])
	value, ok := field(line, "data")
	if !ok {
		if value = e.otherLine(line, s); value == nil {
			return nil
		}
	} else if len(value)+len("data: ") != len(line) {
		e.tight++
	}
	e.stamp = s
	switch {
	case !e.pending && !carried:
		e.data, e.owned = value, false
	case !e.pending:
		e.data, e.owned = append(e.own[:0], value...), true
	default:
		e.retain()
		e.data = Append(append(e.data, '\n'), value, 2*e.limit())
	}
	e.pending = true
	if len(e.data) > e.limit() {
		return e.tooLarge()
	}
	return nil
}

// otherLine takes a line that is no data, and returns the words of one that is an error by itself.
func (e *Events) otherLine(line []byte, s Stamp) (words []byte) {
	if !e.pending {
		e.stamp = s
	}
	if bytes.HasPrefix(line, []byte(`{"error"`)) {
		e.name = append(e.name[:0], failure...)
		return line
	}
	e.otherLines++
	if line[0] == ':' {
		e.comments = append(e.comments, line[1:min(len(line), 1+maxComments-len(e.comments))]...)
		return nil
	}
	e.fields++
	if name, ok := field(line, "event"); ok {
		e.name = append(e.name[:0], name...)
		return nil
	}
	words, ok := field(line, string(failure))
	if ok {
		e.name = append(e.name[:0], failure...)
	}
	return words
}

// field returns the value of a line if its field has this name.
func field(line []byte, name string) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(name))
	if !ok {
		return nil, false
	}
	if len(rest) == 0 {
		return rest, true
	}
	if rest[0] != ':' {
		return nil, false
	}
	return bytes.TrimPrefix(rest[1:], []byte(" ")), true
}

// retain moves pending data out of the current read.
func (e *Events) retain() {
	if e.pending && !e.owned {
		e.data, e.owned = append(e.own[:0], e.data...), true
	}
}

func (e *Events) dispatch(yield func(Event) error) error {
	name, comments, commented := e.name, e.comments, e.lead == ':'
	e.name, e.comments, e.lead = e.name[:0], e.comments[:0], 0
	if !e.pending {
		if !(Event{Name: name}).Failed() {
			return nil
		}
		e.data = comments
	}
	ev := Event{
		Name: name, Data: e.data, Stamp: e.stamp, Coalesced: e.seen == e.stamp.Seq && e.seen != 0, Commented: commented,
	}
	if e.owned {
		e.own = e.data[:0]
	}
	e.pending, e.owned, e.data = false, false, nil
	e.seen, e.trails = e.stamp.Seq, false
	return yield(ev)
}
