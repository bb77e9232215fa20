package transport

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
)

// A response is parsed as its bytes arrive, without a buffer: the part of the body
// in a read is passed on in place. Only a head, or a line of the chunked coding
// split across reads, is stored.
type response struct {
	x         *exchange
	state     stage
	held      []byte // the part of a head or of a line from earlier reads
	left      int64  // bytes of the body, or of the HTTP chunk, still to come
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

// takeHead looks for the end of the head.
func (p *response) takeHead(b []byte) (rest []byte, err error) {
	from := max(0, len(p.held)-3) // the end may lie across reads
	p.held = append(p.held, b...)
	if n := min(len(p.held), len(begins)); string(p.held[:n]) != begins[:n] { // others may greet and then wait
		return nil, fmt.Errorf("%w: begins with %.80q", errResponse, p.held)
	}
	end, after := headEnd(p.held, from)
	if end < 0 {
		if len(p.held) > maxHeadSize {
			return nil, fmt.Errorf("%w: head is larger than %d bytes", errResponse, maxHeadSize)
		}
		return nil, nil
	}
	beyond := len(p.held) - after
	err = p.parseHead(p.held[:after])
	p.held = p.held[:0]
	return b[len(b)-beyond:], err
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

// heads are readers for heads.
var heads = sync.Pool{New: func() any { return bufio.NewReader(nil) }}

// parseHead reads the status line, the headers, and from them the framing of the
// body.
func (p *response) parseHead(b []byte) error {
	lines := heads.Get().(*bufio.Reader)
	defer heads.Put(lines)
	lines.Reset(bytes.NewReader(b))
	r := textproto.NewReader(lines)
	line, err := r.ReadLine()
	if err != nil {
		return fmt.Errorf("%w: %w", errResponse, err)
	}
	proto, rest, _ := strings.Cut(line, " ")
	_, minor, ok := http.ParseHTTPVersion(proto)
	code, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	status, err := strconv.Atoi(code)
	if !ok || err != nil || len(code) != 3 || status < 100 {
		return fmt.Errorf("%w: status line %.80q", errResponse, line)
	}
	fields, err := r.ReadMIMEHeader()
	if err != nil {
		return fmt.Errorf("%w: %w", errResponse, err)
	}
	if status < 200 && status != http.StatusSwitchingProtocols {
		return nil // another head follows
	}
	header := http.Header(fields)
	p.keepAlive = minor >= 1 && !has(header, "Connection", "close") || has(header, "Connection", "keep-alive")
	if minor == 0 {
		delete(header, "Transfer-Encoding") // HTTP/1.0 has none
	}
	if err := p.frame(status, header); err != nil {
		return err
	}
	p.x.r.Head(status, header)
	return nil
}

// frame decides how the body ends.
func (p *response) frame(status int, header http.Header) error {
	coding := header["Transfer-Encoding"]
	lengths := header["Content-Length"]
	switch {
	case status == http.StatusNoContent || status == http.StatusNotModified:
		p.state = complete
	case len(coding) > 0:
		if len(coding) != 1 || !strings.EqualFold(strings.TrimSpace(coding[0]), "chunked") {
			return fmt.Errorf("%w: transfer encoding %.80q", errResponse, coding)
		}
		p.state = size
	case len(lengths) > 0:
		n, err := strconv.ParseUint(strings.TrimSpace(lengths[0]), 10, 62)
		for _, other := range lengths[1:] {
			if strings.TrimSpace(other) != strings.TrimSpace(lengths[0]) {
				err = errResponse
			}
		}
		if err != nil {
			return fmt.Errorf("%w: content length %.80q", errResponse, lengths)
		}
		if p.left, p.state = int64(n), length; n == 0 {
			p.state = complete
		}
	default:
		p.state, p.keepAlive = untilEOF, false
	}
	return nil
}

// has reports whether a comma-separated header contains a word.
func has(h http.Header, name, word string) bool {
	for _, line := range h[name] {
		for w := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(w), word) {
				return true
			}
		}
	}
	return false
}

// takeLine takes a line of the chunked coding, if b contains its end.
func (p *response) takeLine(b []byte) (rest []byte, err error) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		if p.held = append(p.held, b...); len(p.held) > maxLine {
			return nil, fmt.Errorf("%w: line of the chunked encoding is too long", errResponse)
		}
		return nil, nil
	}
	line := b[:i]
	if len(p.held) > 0 {
		p.held = append(p.held, line...)
		line, p.held = p.held, p.held[:0]
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
	text, _, _ = bytes.Cut(text, []byte(";"))
	text = bytes.TrimRight(text, " \t")
	if len(text) == 0 || len(text) > 15 {
		return 0, false
	}
	for _, c := range text {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		n = n<<4 | int64(c)
	}
	return n, true
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
