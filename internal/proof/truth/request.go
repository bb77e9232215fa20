package truth

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// A request is one HTTP request as it was read.
type request struct {
	method, path string
	id           string // x-request-id
	close        bool   // the client wants the connection closed after the answer
	body         []byte
}

// A badRequest is a request that is no HTTP/1.1 of a kind that is read here.
// The connection cannot be used after it.
type badRequest struct {
	status int
	msg    string
}

func (e *badRequest) Error() string { return e.msg }

const (
	maxHead = 64 << 10
	maxBody = 64 << 20
)

// A reader takes requests from a connection.
type reader struct {
	src source
	buf *bufio.Reader
}

func newReader(src io.Reader) *reader {
	r := &reader{src: source{Reader: src}}
	r.buf = bufio.NewReader(&r.src)
	return r
}

// next reads a request. proceed is called for a client that waits for leave to
// send the body. At a clean end of the connection the error is io.EOF.
func (r *reader) next(proceed func() error) (request, error) {
	head, err := r.head()
	if err != nil {
		return request{}, err
	}
	req := request{method: head.Method, id: head.Header.Get("X-Request-Id"), close: head.Close}
	req.path, _, _ = strings.Cut(head.RequestURI, "?")
	if strings.EqualFold(head.Header.Get("Expect"), "100-continue") && r.buf.Buffered() == 0 {
		if err := proceed(); err != nil {
			return request{}, err
		}
	}
	req.body, err = r.body(head)
	return req, err
}

// head takes a request's head. Empty lines before it are let pass, since old
// clients send them.
func (r *reader) head() (*http.Request, error) {
	r.src.left = maxHead
	for {
		begin, err := r.buf.Peek(2)
		if err != nil {
			if len(begin) > 0 {
				err = unexpected(err)
			}
			return nil, err
		}
		if string(begin) != "\r\n" {
			break
		}
		_, _ = r.buf.Discard(len(begin))
	}
	head, err := http.ReadRequest(r.buf)
	switch {
	case err != nil:
		return nil, r.fault(err, http.StatusRequestHeaderFieldsTooLarge)
	case head.Proto != "HTTP/1.1":
		return nil, &badRequest{http.StatusHTTPVersionNotSupported, fmt.Sprintf("%.80s is not spoken here, but HTTP/1.1", head.Proto)}
	case head.ContentLength > maxBody:
		return nil, &badRequest{http.StatusRequestEntityTooLarge, errTooLong.Error()}
	}
	return head, nil
}

// body takes the body, sized or in chunks.
func (r *reader) body(head *http.Request) (body []byte, err error) {
	r.src.left = maxBody + maxHead // and what stands around chunks
	if head.ContentLength >= 0 {
		body = make([]byte, head.ContentLength)
		_, err = io.ReadFull(head.Body, body)
	} else {
		body, err = io.ReadAll(head.Body)
	}
	if err != nil {
		return nil, r.fault(err, http.StatusRequestEntityTooLarge)
	}
	return body, nil
}

// fault tells what is wrong inside of a request: the connection, or the request, which
// has that status if it is too long.
func (r *reader) fault(err error, tooLong int) error {
	switch {
	case errors.Is(err, errTooLong):
		return &badRequest{tooLong, err.Error()}
	case r.src.err != nil:
		return unexpected(r.src.err)
	}
	return &badRequest{http.StatusBadRequest, err.Error()}
}

// unexpected is err inside of a request, where the connection must not end.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A source is a connection of which no more than so many bytes are read.
type source struct {
	io.Reader
	left int
	err  error // of the connection
}

var errTooLong = errors.New("the request is too long")

// Read reads from the connection.
func (s *source) Read(p []byte) (n int, err error) {
	if s.left <= 0 {
		return 0, errTooLong
	}
	n, s.err = s.Reader.Read(p[:min(len(p), s.left)])
	s.left -= n
	return n, s.err
}
