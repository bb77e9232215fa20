package bus

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// nats.go allocates what a server announces: the bytes of a message, a line without an end, a frame that is
// compressed. So each connection is followed here, and ended before nats.go sees an announcement that no server
// makes. Bytes that pass have one meaning only: nats.go must not find messages elsewhere.

const (
	// addedBytes is how much a server may add to a message that it stored, plus a third if it sends it in base64.
	addedBytes = 16 << 10
	// longestLine is that of a line of a server, the list of a cluster's servers included, and of all headers of HTTP.
	longestLine = 64 << 10
	// largestFrame is that of WebSocket: a server puts all that waits into one.
	largestFrame = 64 << 20
)

// A follower is given all bytes of a connection, in pieces, before nats.go gets them. Its error ends the connection.
type follower interface{ follow(b []byte) error }

// lines cuts lines out of pieces.
type lines struct{ begun []byte }

// next is the first line, with its end, and the rest; nil: it is not complete.
func (l *lines) next(b []byte) (line, rest []byte, err error) {
	end := bytes.IndexByte(b, '\n') + 1
	if line = b[:end]; end == 0 {
		line = b
	}
	if len(l.begun)+len(line) > longestLine {
		return nil, nil, fmt.Errorf("the server sends a line of more than %d bytes", longestLine)
	}
	if len(l.begun) > 0 || end == 0 {
		l.begun = append(l.begun, line...)
		line = l.begun
	}
	if end == 0 {
		return nil, nil, nil
	}
	l.begun = l.begun[:0]
	return line, b[end:], nil
}

// A framing follows the protocol of NATS:
//
//	MSG subject sid [reply] size CRLF payload CRLF
//	HMSG subject sid [reply] headers size CRLF headers payload CRLF
//	INFO {json} CRLF, PING CRLF, PONG CRLF, +OK CRLF, -ERR 'text' CRLF
type framing struct {
	lines
	most    int64 // bytes of a message, as the server says; 0: it has not
	payload int64 // bytes that are to come
	closing bool  // the end of a line is to come after a payload
}

func (f *framing) follow(b []byte) error {
	for len(b) > 0 {
		if f.payload > 0 {
			n := min(f.payload, int64(len(b)))
			f.payload, b = f.payload-n, b[n:]
			continue
		}
		line, rest, err := f.next(b)
		if err == nil && line != nil {
			err = f.read(line)
		}
		if err != nil {
			return err
		}
		b = rest
	}
	return nil
}

var errNoLine = errors.New("the server sends what is not the protocol of NATS")

func (f *framing) read(line []byte) error {
	text, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if f.closing {
		f.closing = false
		if !ok || len(text) > 0 {
			return errors.New("the server sends a message of another size than it announced")
		}
		return nil
	}
	op, args, _ := bytes.Cut(text, []byte(" "))
	switch string(op) {
	case "MSG":
		return f.message(args, false)
	case "HMSG":
		return f.message(args, true)
	case "PING", "PONG", "+OK":
		ok = ok && len(text) == len(op)
	case "-ERR":
		ok = ok && len(args) > 0 && args[0] > ' '
	case "INFO":
		var info struct {
			Most int64 `json:"max_payload"`
		}
		ok = ok && json.Unmarshal(args, &info) == nil && args[0] == '{'
		f.most = info.Most
	default:
		ok = false
	}
	if !ok {
		return errNoLine
	}
	return nil
}

func (f *framing) message(args []byte, headers bool) error {
	fields := bytes.FieldsFunc(args, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' })
	sizes := 1
	if headers {
		sizes = 2
	}
	if n := len(fields) - sizes; n < 2 || n > 3 {
		return errNoLine
	}
	most := int64(largestQuestion)
	if f.most > 0 {
		most = min(most, f.most)
	}
	last := most + most/3 + addedBytes
	for i := range sizes {
		text := string(fields[len(fields)-1-i])
		size, err := strconv.ParseUint(text, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrSyntax):
			return errNoLine
		case err != nil || size > uint64(last):
			return fmt.Errorf("the server announces a message of %.20s bytes, and may send %d", text, last)
		case i == 0:
			f.payload, f.closing = int64(size), true
		}
		last = int64(size) // headers are a part of it
	}
	return nil
}

// A webFraming follows WebSocket, and the protocol of NATS in it: the answer that opens it, and frames.
type webFraming struct {
	lines
	framing framing
	first   bool // the first line of the answer is read
	open    bool
	other   bool // the answer is another one: nats.go reads its head only
	size    int  // of the head
	header  []byte
	left    uint64 // of the payload of a frame
	control bool   // and it is no part of the protocol of NATS
}

func (w *webFraming) follow(b []byte) (err error) {
	for len(b) > 0 && err == nil && !w.other {
		switch {
		case !w.open:
			b, err = w.head(b)
		case w.left > 0:
			n := min(w.left, uint64(len(b)))
			if !w.control {
				err = w.framing.follow(b[:n])
			}
			w.left, b = w.left-n, b[n:]
		default:
			w.header, b = append(w.header, b[0]), b[1:]
			err = w.frame()
		}
	}
	return err
}

// head reads a line of the answer that opens it.
func (w *webFraming) head(b []byte) ([]byte, error) {
	line, rest, err := w.next(b)
	if err != nil || line == nil {
		return nil, err
	}
	if w.size += len(line); w.size > longestLine {
		return nil, fmt.Errorf("the server sends headers of more than %d bytes", longestLine)
	}
	text, ok := bytes.CutSuffix(line, []byte("\r\n"))
	switch {
	case !w.first:
		w.first, w.other = true, !bytes.Contains(text, []byte(" 101"))
	case len(text) == 0:
		w.open = true
	case text[0] <= ' ':
		ok = false // some take it for the end, and some for a part of the line before
	}
	if !ok && !w.other {
		return nil, errors.New("the server does not answer with WebSocket")
	}
	return rest, nil
}

// frame reads the header of a frame: flags and kind, the length, and the rest of a length that does not fit there.
func (w *webFraming) frame() error {
	h := w.header
	if len(h) < 2 {
		return nil
	}
	length, more := uint64(h[1]&0x7f), 0
	switch length {
	case 126:
		more = 2
	case 127:
		more = 8
	}
	if len(h) < 2+more {
		return nil
	}
	switch more {
	case 2:
		length = uint64(binary.BigEndian.Uint16(h[2:]))
	case 8:
		length = binary.BigEndian.Uint64(h[2:])
	}
	kind := h[0] & 0x0f
	switch {
	case h[0]&0x70 != 0 || h[1]&0x80 != 0:
		return errors.New("the server sends a frame that is compressed or masked, which was not agreed on")
	case kind > 2 && (kind < 8 || kind > 10):
		return fmt.Errorf("the server sends a frame of the unknown kind %d", kind)
	case length > largestFrame:
		return fmt.Errorf("the server announces a frame of %d bytes, and may send %d", length, largestFrame)
	}
	w.left, w.control, w.header = length, kind >= 8, h[:0]
	return nil
}
