package truth

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// readAll reads requests from src until an error, and counts the answers
// 100 Continue.
func readAll(src io.Reader) (reqs []request, reads int, err error) {
	r := newReader(src)
	for {
		req, err := r.next(func() error { reads++; return nil })
		if err != nil {
			return reqs, reads, err
		}
		reqs = append(reqs, req)
	}
}

func TestRequestsAreRead(t *testing.T) {
	const text = "GET /health?x HTTP/1.1\r\nHost: a\r\n\r\n" +
		"\r\nPOST /v1/completions HTTP/1.1\r\nContent-Length:  5 \r\nX-Request-ID: i\r\nExpect: 100-continue\r\n\r\nhello" +
		"POST /generate HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive, Close\r\n\r\n" +
		"3\r\nabc\r\n00A;ext=1\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"
	for name, src := range map[string]io.Reader{
		"at once":      strings.NewReader(text),
		"by the byte":  iotest.OneByteReader(strings.NewReader(text)),
		"by the halve": iotest.HalfReader(strings.NewReader(text)),
	} {
		reqs, reads, err := readAll(src)
		if !errors.Is(err, io.EOF) || len(reqs) != 3 {
			t.Fatalf("%s: %d requests, then %v", name, len(reqs), err)
		}
		if want := map[bool]int{true: 1, false: 0}[name == "by the byte"]; reads != want {
			t.Errorf("%s: told to go on %d times, want %d: the body is there", name, reads, want)
		}
		for i, want := range []request{
			{method: "GET", path: "/health"},
			{method: "POST", path: "/v1/completions", id: "i", body: []byte("hello")},
			{method: "POST", path: "/generate", close: true, body: []byte("abc0123456789")},
		} {
			if got := reqs[i]; fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("%s: request %d is %+v, want %+v", name, i, got, want)
			}
		}
	}
}

func TestALargeBodyIsRead(t *testing.T) {
	body := strings.Repeat("x", 3<<20)
	text := fmt.Sprintf("POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	r := newReader(io.MultiReader(strings.NewReader(text), strings.NewReader("GET / HTTP/1.1\r\n\r\n")))
	if req, err := r.next(nil); err != nil || string(req.body) != body {
		t.Fatalf("%d bytes, %v", len(req.body), err)
	}
	if req, err := r.next(nil); err != nil || req.path != "/" {
		t.Errorf("then %+v, %v", req, err)
	}
}

func TestMalformedRequests(t *testing.T) {
	for text, want := range map[string]int{
		"GET\r\n\r\n":                                                       400,
		"GET /\r\n\r\n":                                                     400,
		"GET / HTTP/1.0\r\n\r\n":                                            505,
		"GET / SPDY/3\r\n\r\n":                                              400,
		" / HTTP/1.1\r\n\r\n":                                               400,
		"GET  HTTP/1.1\r\n\r\n":                                             400,
		"\x16\x03\x01\x02\r\n\r\n":                                          400,
		"GET / HTTP/1.1\r\nno colon\r\n\r\n":                                400,
		"GET / HTTP/1.1\r\nname : v\r\n\r\n":                                400,
		"GET / HTTP/1.1\r\n folded: v\r\n\r\n":                              400,
		"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n":                     400,
		"POST / HTTP/1.1\r\nContent-Length: 1e3\r\n\r\n":                    400,
		"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n": 400,
		"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n":       400,
		"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n":                           413,
		"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n":                               501,
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n":                       400,
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n":                      400,
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd":                   400,
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n":                413,
		"GET / HTTP/1.1\r\na: " + strings.Repeat("x", maxHead):                             431,
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1", 1e5): 431,
	} {
		_, _, err := readAll(strings.NewReader(text))
		var fault *badRequest
		if !errors.As(err, &fault) || fault.status != want {
			t.Errorf("%.80q: %v, want status %d", text, err, want)
		}
	}
	for _, text := range []string{
		"G", "GET / HTTP/1.1\r\n", "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab",
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
	} {
		if _, _, err := readAll(strings.NewReader(text)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: %v, want an unexpected end", text, err)
		}
	}
}

// A request does not depend on how its bytes arrive, and can be written and
// read again.
func FuzzRequest(f *testing.F) {
	f.Add([]byte("GET /health?x HTTP/1.1\r\nHost: a\r\n\r\n"))
	f.Add([]byte("\r\nPOST /v1/completions HTTP/1.1\r\nContent-Length: 5\r\nx-request-id: i\r\n\r\nhello"))
	f.Add([]byte("POST /generate HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n3;x\r\nabc\r\n" +
		"0\r\na: b\r\n\r\n"))
	f.Add([]byte("POST / HTTP/1.1\r\nContent-Length: 1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"))
	f.Add([]byte("GET ?x HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, _, err := readAll(bytes.NewReader(data))
		bytewise, _, err2 := readAll(iotest.OneByteReader(bytes.NewReader(data)))
		if fmt.Sprintf("%+v %v", whole, err) != fmt.Sprintf("%+v %v", bytewise, err2) {
			t.Errorf("at once %+v %v, by the byte %+v %v", whole, err, bytewise, err2)
		}
		for _, req := range whole {
			text := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nx-request-id: %s\r\ncontent-length: %d\r\n\r\n%s", req.method, req.path,
				req.id, len(req.body), req.body)
			again, _, err := readAll(bytes.NewReader(text))
			if !errors.Is(err, io.EOF) || len(again) != 1 || again[0].method != req.method || again[0].path != req.path ||
				again[0].id != req.id || !bytes.Equal(again[0].body, req.body) {
				t.Errorf("%+v was read again as %+v, %v", req, again, err)
			}
		}
	})
}

func FuzzAsk(f *testing.F) {
	f.Add(0, []byte(`{"model":"m","prompt":[1,2],"max_tokens":3,"stream":true,"stream_options":{"include_usage":true}}`))
	f.Add(1,
		[]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"max_completion_tokens":3,"n":1}`))
	f.Add(2, []byte(`{"text":"a b","rid":"x","sampling_params":{"max_new_tokens":8,"ignore_eos":true}}`))
	routes := []string{"/v1/completions", "/v1/chat/completions", "/generate"}
	cfg := Config{OutputTokens: 5}.withDefaults()
	f.Fuzz(func(t *testing.T, route int, body []byte) {
		q, refused := phrase.Read(routes[uint(route)%3], phrase.JSON, body)
		a, tooMany := cfg.answer(q, 0)
		if cmp.Or(refused, tooMany) == nil && (a.Tokens < 1 || a.Tokens > MaxTokens || a.PromptTokens < 0 ||
			q.Usage && !q.Stream) {
			t.Errorf("%s: %+v", body, a)
		}
	})
}
