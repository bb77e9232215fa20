package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// A response is parsed as its bytes arrive, without a buffer: the part of the body
// in a read is passed on in place. Only a head, or a line of the chunked coding
// split across reads, is stored.
type response struct {
	x         *exchange
	state     stage
	rest      []byte // the part of a head or of a line from earlier reads
	left      int64  // bytes of the body, or of the HTTP chunk, still to come
	heads     int    // bytes of heads and trailers so far
	keepAlive bool   // the server keeps the connection open
	begun     bool   // at least one byte came
	broken    bool   // the connection cannot carry another request
	err       error  // the receiver's, or that of the response
}

// A stage is the part of a response that comes next.
type stage int

const (
	head     stage = iota
	untilEOF       // a body terminated by the end of the connection
	size           // the size line of an HTTP chunk
	chunk          // the bytes of a chunk
	ending         // the line end after a chunk
	trailer        // lines after the last one
	length         // a body of known length
	complete
)

// errResponse is a response that is not HTTP/1.1.
var errResponse = errors.New("malformed HTTP response")

// begins is the beginning of every response.
const begins = "HTTP/"

// maxLine is the longest line of the chunked coding.
const maxLine = 4 << 10

// feed takes the bytes of one read.
func (p *response) feed(b []byte, s Stamp) (err error) {
	p.begun = true
	for len(b) > 0 && err == nil {
		switch p.state {
		case head:
			b, err = p.takeHead(b)
		case length, chunk:
			n := int(min(int64(len(b)), p.left))
			p.left -= int64(n)
			err = p.x.data(b[:n], s)
			b = b[n:]
			if p.left == 0 {
				p.state++ // a body is complete, a chunk has an ending
			}
		case untilEOF:
			return p.x.data(b, s)
		case size, ending, trailer:
			b, err = p.takeLine(b)
		case complete: // unexpected data
			p.broken = true
			return nil
		}
	}
	return err
}

// takeHead looks for the end of the head. A head that came in one read is parsed in place.
func (p *response) takeHead(b []byte) (rest []byte, err error) {
	text, from := b, 0
	if len(p.rest) > 0 {
		from = max(0, len(p.rest)-3) // the end may lie across reads
		p.rest = append(p.rest, b...)
		text = p.rest
	}
	if n := min(len(text), len(begins)); string(text[:n]) != begins[:n] { // others may greet and then wait
		return nil, fmt.Errorf("%w: begins with %.80q", errResponse, text)
	}
	end, after := headEnd(text, from)
	if end < 0 {
		if len(p.rest) == 0 {
			p.rest = append(p.rest, b...)
		}
		return nil, p.fits(len(text))
	}
	if err := p.fits(after); err != nil {
		return nil, err
	}
	p.heads += after
	beyond := len(text) - after
	err = p.parseHead(text[:after])
	p.rest = p.rest[:0]
	return b[len(b)-beyond:], err
}

// fits reports whether n more bytes of heads and trailers are too many. A server can send
// informational heads, or trailers, without end.
func (p *response) fits(n int) error {
	if p.heads+n > maxHeadSize {
		return fmt.Errorf("%w: heads and trailers are larger than %d bytes", errResponse, maxHeadSize)
	}
	return nil
}

// headEnd finds the empty line that ends a head: its beginning and its end, or -1.
func headEnd(b []byte, from int) (begin, end int) {
	for i := from; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return -1, -1
		}
		i += n
		rest := b[i+1:]
		switch {
		case len(rest) > 0 && rest[0] == '\n':
			return i + 1, i + 2
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return i + 1, i + 3
		}
	}
	return -1, -1
}

// parseHead reads the status line and the headers, and decides by them how the body
// ends.
func (p *response) parseHead(b []byte) error {
	a, err := p.x.c.heads.read(b)
	if err != nil {
		return err
	}
	switches := a.status == http.StatusSwitchingProtocols
	if a.status/100 == 1 && !switches {
		return nil // another head follows
	}
	p.keepAlive, p.left = !a.close, a.length
	switch {
	case switches: // no request asked for another protocol: the rest is not HTTP
		p.state, p.keepAlive = complete, false
	case a.chunked:
		p.state = size
	case p.left < 0:
		p.state, p.keepAlive = untilEOF, false
	case p.left > 0:
		p.state = length
	default:
		p.state = complete
	}
	p.x.r.Head(a.status, a.header)
	return nil
}

// takeLine takes a line of the chunked coding, if b contains its end.
func (p *response) takeLine(b []byte) (rest []byte, err error) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		if p.rest = append(p.rest, b...); len(p.rest) > maxLine {
			return nil, fmt.Errorf("%w: line of the chunked encoding is too long", errResponse)
		}
		return nil, nil
	}
	line := b[:i]
	if len(p.rest) > 0 {
		p.rest = append(p.rest, line...)
		line, p.rest = p.rest, p.rest[:0]
	}
	return b[i+1:], p.line(bytes.TrimSuffix(line, []byte("\r")))
}

// line parses one line.
func (p *response) line(text []byte) error {
	switch p.state {
	case ending:
		if len(text) > 0 {
			return fmt.Errorf("%w: chunk exceeds its size", errResponse)
		}
		p.state = size
	case trailer:
		if len(text) == 0 {
			p.state = complete
		}
		p.heads += len(text) + 1
		return p.fits(0)
	default:
		n, ok := chunkSize(text)
		if !ok {
			return fmt.Errorf("%w: chunk size %.80q", errResponse, text)
		}
		if p.left, p.state = n, chunk; n == 0 {
			p.state = trailer
		}
	}
	return nil
}

// chunkSize parses a hexadecimal number, optionally followed by an extension.
func chunkSize(text []byte) (n int64, ok bool) {
	i := 0
	for ; i < len(text); i++ {
		digit := int64(0)
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			digit = int64(c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			digit = int64(c|0x20-'a') + 10
		default:
			more, _, _ := bytes.Cut(text[i:], []byte(";"))
			return n, i > 0 && len(bytes.TrimLeft(more, " \t")) == 0
		}
		if n>>56 != 0 {
			return 0, false
		}
		n = n<<4 | digit
	}
	return n, i > 0
}

// insideChunk reports whether what came so far ends within an HTTP chunk.
func (p *response) insideChunk() bool {
	return p.state == chunk || p.state == ending || p.state == size && len(p.rest) > 0
}

// end returns the error of a connection that ended here; sent is that of writing.
func (p *response) end(sent error) error {
	switch {
	case p.state == untilEOF:
		p.state = complete
		return nil
	case !p.begun && sent != nil:
		return sent
	case !p.begun:
		return io.EOF
	}
	return io.ErrUnexpectedEOF
}

// reusable reports whether the connection can carry another request.
func (p *response) reusable() bool { return p.state == complete && p.keepAlive && !p.broken }
