package truth

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
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

func refusal(status int, format string, args ...any) error {
	return &badRequest{status, fmt.Sprintf(format, args...)}
}

func bad(format string, args ...any) error { return refusal(http.StatusBadRequest, format, args...) }

const (
	maxHead = 64 << 10
	maxBody = 64 << 20
)

// A reader takes requests from a connection. It is stricter than net/http: a load
// generator that is checked here must not get away with what other servers refuse.
type reader struct{ *bufio.Reader }

func newReader(src io.Reader) *reader { return &reader{bufio.NewReader(src)} }

// next reads a request. proceed is called for a client that waits for leave to
// send the body. At a clean end of the connection the error is io.EOF.
func (r *reader) next(proceed func() error) (request, error) {
	head, err := r.head()
	if err != nil {
		return request{}, err
	}
	req, header, err := parseHead(head)
	if err != nil {
		return request{}, err
	}
	n, err := length(header)
	if err != nil {
		return request{}, err
	}
	if strings.EqualFold(header.Get("Expect"), "100-continue") && r.Buffered() == 0 {
		if err := proceed(); err != nil {
			return request{}, err
		}
	}
	if n < 0 {
		req.body, err = r.chunks()
	} else {
		req.body, err = r.take(n)
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

// head takes a request's head. Empty lines before it are let pass, since old
// clients send them.
func (r *reader) head() (string, error) {
	for {
		begin, err := r.Peek(2)
		switch {
		case err != nil && len(begin) > 0:
			return "", unexpected(err)
		case err != nil:
			return "", err
		case string(begin) != "\r\n":
			lines, err := r.lines()
			return lines, unexpected(err)
		}
		_, _ = r.Discard(len(begin))
	}
}

// lines takes the lines up to an empty one, and that.
func (r *reader) lines() (string, error) {
	var all strings.Builder
	for {
		line, err := r.line(maxHead - all.Len())
		if err != nil || line == "" {
			return all.String(), err
		}
		all.WriteString(line + "\r\n")
	}
}

// line takes a line, without its end. One that does not end within room is too long.
func (r *reader) line(room int) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		text, ended := strings.CutSuffix(string(line), "\r\n")
		switch {
		case len(line) > room:
			return "", refusal(http.StatusRequestHeaderFieldsTooLarge,
				"more than %d bytes without an end of line or head", maxHead)
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil && !ended:
			return "", bad("line %.80q does not end in CR LF", line)
		default:
			return text, err
		}
	}
}

func (r *reader) take(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

// chunks takes a body in chunks, and the trailers, which say nothing here.
func (r *reader) chunks() (body []byte, err error) {
	for {
		line, err := r.line(maxHead)
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseUint(strings.TrimRight(size, " \t"), 16, 31)
		switch {
		case err != nil:
			return nil, bad("chunk size %.80q is no number", size)
		case n == 0:
			_, err = r.lines()
			return body, err
		case n+uint64(len(body)) > maxBody:
			return nil, tooLarge()
		}
		data, err := r.take(int(n) + len("\r\n"))
		if err != nil {
			return nil, err
		}
		body = append(body, data[:n]...)
		if string(data[n:]) != "\r\n" {
			return nil, bad("a chunk of %d bytes is longer", n)
		}
	}
}

func tooLarge() error {
	return refusal(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", maxBody)
}

func parseHead(head string) (request, http.Header, error) {
	line, rest, _ := strings.Cut(head, "\r\n")
	method, target, _ := strings.Cut(line, " ")
	target, version, _ := strings.Cut(target, " ")
	switch {
	case method == "" || !strings.HasPrefix(target, "/") || !strings.HasPrefix(version, "HTTP/"):
		return request{}, nil, bad("request line %.80q: want METHOD PATH HTTP/1.1", line)
	case version != "HTTP/1.1":
		return request{}, nil, refusal(http.StatusHTTPVersionNotSupported, "%.80s is not spoken here, but HTTP/1.1", version)
	}
	header := http.Header{}
	for line := range strings.SplitSeq(strings.TrimSuffix(rest, "\r\n"), "\r\n") {
		name, value, found := strings.Cut(line, ":")
		if line != "" && (!found || name == "" || strings.ContainsAny(name, " \t")) {
			return request{}, nil, bad("header line %.80q: want NAME: VALUE", line)
		}
		header.Add(name, strings.Trim(value, " \t"))
	}
	path, _, _ := strings.Cut(target, "?")
	closes := httpguts.HeaderValuesContainsToken(header["Connection"], "close")
	return request{method: method, path: path, id: header.Get("X-Request-Id"), close: closes}, header, nil
}

// length is that of the body, negative for chunks. Two headers that say how the body
// ends are a way to smuggle requests.
func length(header http.Header) (int, error) {
	sizes, codings := header["Content-Length"], header["Transfer-Encoding"]
	switch {
	case len(sizes)+len(codings) > 1:
		return 0, bad("the length of the body is given twice")
	case len(codings) == 1 && !strings.EqualFold(codings[0], "chunked"):
		return 0, refusal(http.StatusNotImplemented, "transfer-encoding %.80q is not read here, but chunked", codings[0])
	case len(codings) == 1:
		return -1, nil
	case sizes == nil:
		return 0, nil
	}
	n, err := strconv.ParseUint(sizes[0], 10, 63)
	switch {
	case err != nil:
		return 0, bad("content-length %.80q is no number", sizes[0])
	case n > maxBody:
		return 0, tooLarge()
	}
	return int(n), nil
}
