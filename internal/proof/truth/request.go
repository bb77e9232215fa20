package truth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A request is one HTTP request as it was read. Its bytes are valid until the
// next one is read.
type request struct {
	method, path string
	id           string // x-request-id
	close        bool   // the client wants the connection closed after the answer
	body         []byte

	length  int // of the body; negative for chunks
	expects bool
}

// A badRequest is a request that is no HTTP/1.1 of a kind that is read here.
// The connection cannot be used after it.
type badRequest struct {
	status int
	msg    string
}

func (e *badRequest) Error() string { return e.msg }

func bad(format string, args ...any) error {
	return &badRequest{status: 400, msg: fmt.Sprintf(format, args...)}
}

const (
	maxHead  = 64 << 10
	maxBody  = 64 << 20
	readSize = 4 << 10
	keepSize = 64 << 10 // a buffer that is larger is not kept for the next request
)

// A reader takes requests from a connection.
type reader struct {
	src  io.Reader
	buf  []byte
	r, w int // what was read and not taken is buf[r:w]
}

// next reads a request. proceed is called for a client that waits for leave to
// send the body. At a clean end of the connection the error is io.EOF.
func (r *reader) next(proceed func() error) (request, error) {
	if len(r.buf) > keepSize && r.r == r.w {
		r.buf, r.r, r.w = nil, 0, 0
	}
	head, err := r.head()
	if err != nil {
		return request{}, err
	}
	req, err := parseHead(head)
	if err != nil {
		return request{}, err
	}
	if req.expects && r.r == r.w {
		if err := proceed(); err != nil {
			return request{}, err
		}
	}
	if req.length < 0 {
		req.body, err = r.chunks()
	} else {
		req.body, err = r.take(req.length)
	}
	return req, unexpected(err)
}

// unexpected is err inside of a request, where the connection must not end.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// fill reads more, into a buffer with room for want bytes in all that were not
// taken.
func (r *reader) fill(want int) error {
	if want = max(want, r.w-r.r+1, readSize); r.r+want > len(r.buf) {
		old := r.buf[r.r:r.w]
		if want > len(r.buf) {
			r.buf = make([]byte, max(want, 2*len(old)))
		}
		r.r, r.w = 0, copy(r.buf, old)
	}
	n, err := r.src.Read(r.buf[r.w:])
	r.w += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// until takes the bytes up to and with mark. What has no mark within limit is
// too long.
func (r *reader) until(mark string, limit int) ([]byte, error) {
	for seen := 0; ; {
		have := r.buf[r.r:r.w]
		if i := bytes.Index(have[seen:], []byte(mark)); i >= 0 && seen+i+len(mark) <= limit {
			r.r += seen + i + len(mark)
			return have[:seen+i+len(mark)], nil
		}
		if len(have) >= limit {
			return nil, &badRequest{status: 431, msg: fmt.Sprintf("more than %d bytes without an end of line or head", limit)}
		}
		seen = max(0, len(have)-len(mark)+1)
		if err := r.fill(0); err != nil {
			if len(have) > 0 {
				err = unexpected(err)
			}
			return nil, err
		}
	}
}

// head takes a request's head. Empty lines before it are let pass, since old
// clients send them.
func (r *reader) head() ([]byte, error) {
	for {
		for r.w-r.r < 2 {
			if err := r.fill(0); err != nil {
				if r.r < r.w {
					err = unexpected(err)
				}
				return nil, err
			}
		}
		if r.buf[r.r] != '\r' || r.buf[r.r+1] != '\n' {
			return r.until("\r\n\r\n", maxHead)
		}
		r.r += 2
	}
}

// take takes n bytes.
func (r *reader) take(n int) ([]byte, error) {
	for r.w-r.r < n {
		if err := r.fill(n); err != nil {
			return nil, err
		}
	}
	r.r += n
	return r.buf[r.r-n : r.r : r.r], nil
}

// chunks takes a body in chunks, and the trailers, which say nothing here.
func (r *reader) chunks() ([]byte, error) {
	var body []byte
	for {
		line, err := r.until("\r\n", maxHead)
		if err != nil {
			return nil, err
		}
		size, _, _ := bytes.Cut(line[:len(line)-2], []byte(";"))
		n, err := strconv.ParseUint(string(bytes.TrimRight(size, " \t")), 16, 31)
		if err != nil {
			return nil, bad("chunk size %q is no number", size)
		}
		if n == 0 {
			return body, r.trailers()
		}
		if n+uint64(len(body)) > maxBody {
			return nil, tooLarge()
		}
		data, err := r.take(int(n) + 2)
		if err != nil {
			return nil, err
		}
		if !bytes.HasSuffix(data, []byte("\r\n")) {
			return nil, bad("a chunk of %d bytes is longer", n)
		}
		body = append(body, data[:n]...)
	}
}

func (r *reader) trailers() error {
	for room := maxHead; ; {
		line, err := r.until("\r\n", room)
		if err != nil || len(line) == 2 {
			return err
		}
		room -= len(line)
	}
}

func tooLarge() error {
	return &badRequest{status: 413, msg: fmt.Sprintf("the body has more than %d bytes", maxBody)}
}

// parseHead reads a request line and headers, which end in an empty line.
func parseHead(head []byte) (request, error) {
	line, rest, _ := bytes.Cut(head, []byte("\r\n"))
	method, target, ok := bytes.Cut(line, []byte(" "))
	target, version, ok2 := bytes.Cut(target, []byte(" "))
	if !ok || !ok2 || len(method) == 0 || !bytes.HasPrefix(target, []byte("/")) || !bytes.HasPrefix(version, []byte("HTTP/")) {
		return request{}, bad("request line %.80q: want METHOD PATH HTTP/1.1", line)
	}
	if string(version) != "HTTP/1.1" {
		return request{}, &badRequest{status: 505, msg: fmt.Sprintf("%.80s is not spoken here, but HTTP/1.1", version)}
	}
	path, _, _ := bytes.Cut(target, []byte("?"))
	req := request{method: string(method), path: string(path)}
	sized := false
	for {
		line, rest, ok = bytes.Cut(rest, []byte("\r\n"))
		if !ok || len(line) == 0 {
			return req, nil
		}
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found || len(name) == 0 || bytes.ContainsAny(name, " \t") {
			return request{}, bad("header line %.80q: want NAME: VALUE", line)
		}
		if err := req.header(name, string(bytes.Trim(value, " \t")), &sized); err != nil {
			return request{}, err
		}
	}
}

// header takes the headers that matter. sized is whether one has said how the
// body ends: two that do so are a way to smuggle requests.
func (req *request) header(name []byte, value string, sized *bool) error {
	is := func(s string) bool { return len(name) == len(s) && bytes.EqualFold(name, []byte(s)) }
	sizes := is("content-length") || is("transfer-encoding")
	if sizes && *sized {
		return bad("the length of the body is given twice")
	}
	*sized = *sized || sizes
	switch {
	case is("content-length"):
		n, err := strconv.ParseUint(value, 10, 63)
		if err != nil {
			return bad("content-length %.80q is no number", value)
		}
		if n > maxBody {
			return tooLarge()
		}
		req.length = int(n)
	case is("transfer-encoding"):
		if !equalFold(value, "chunked") {
			return &badRequest{status: 501, msg: fmt.Sprintf("transfer-encoding %.80q is not read here, but chunked", value)}
		}
		req.length = -1
	case is("expect"):
		req.expects = equalFold(value, "100-continue")
	case is("connection"):
		for option := range bytes.SplitSeq([]byte(value), []byte(",")) {
			req.close = req.close || equalFold(string(bytes.Trim(option, " \t")), "close")
		}
	case is("x-request-id"):
		req.id = value
	}
	return nil
}

func equalFold(a, b string) bool { return bytes.EqualFold([]byte(a), []byte(b)) }
