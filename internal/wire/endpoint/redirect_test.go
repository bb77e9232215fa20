package endpoint

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// redirects answers a path with where it is, and every other one with a stream that has the body of the request.
func redirects(status int, to map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if next, ok := to[r.URL.Path]; ok {
			w.Header().Set("Location", next)
			w.WriteHeader(status)
			return
		}
		stream(text(r.Method+" "+r.Header.Get("X-Request-Id")+string(body[:len(`{"model"`)])), last, end)(w, r)
	}
}

func TestRedirects(t *testing.T) {
	const route = "/v1/completions"
	circle := map[string]string{route: "/other", "/other": route}
	for _, tt := range []struct {
		name   string
		status int
		to     map[string]string
		err    string // of one that is not followed
	}{
		{"to a path", 307, map[string]string{route: route + "/"}, ""},
		{"for ever", 308, map[string]string{route: "http://engine:80/v2"}, ""},
		{"step by step", 307, map[string]string{route: "/a?x=1#part", "/a": "b", "/b": "http://ENGINE/c"}, ""},
		{"in a circle", 307, circle, "redirected to http://engine/other"},
		{"with another method", 303, map[string]string{route: "/a"}, "redirected to http://engine/a"},
		{"moved", 301, map[string]string{route: "/a"}, "redirected to http://engine/a"},
		{
			"to another host", 307,
			map[string]string{route: "http://user:secret@elsewhere/login?token=secret"},
			"redirected to http://elsewhere/login?...",
		},
		{"to another port", 308, map[string]string{route: "http://engine:81/"}, "redirected to http://engine:81/"},
		{"to TLS", 308, map[string]string{route: "https://engine/"}, "redirected to https://engine/"},
		{"as somebody", 307, map[string]string{route: "http://user:secret@engine/a"}, "redirected to http://engine/a"},
		{
			"far", 307,
			map[string]string{route: "http://elsewhere/" + strings.Repeat("a", 5000)},
			"redirected to http://elsewhere/" + strings.Repeat("a", 200-len("http://elsewhere/")),
		},
	} {
		got := send(t, Options{Protocol: Completions, Stream: true, KeepText: true}, transport.Config{},
			workload.Request{ID: "7", Text: "hello"}, redirects(tt.status, tt.to))
		switch {
		case tt.err == "" && (!got.OK() || got.Text != `POST 7{"model" c` || got.Sent != 0 || got.Done < got.FirstByte):
			t.Errorf("%s: class %q (%s), text %q", tt.name, got.Class, got.Error, got.Text)
		case tt.err != "" && (got.Class != trace.HTTP || got.Status != tt.status || got.Error != tt.err):
			t.Errorf("%s: class %q, status %d, error %q, want %q", tt.name, got.Class, got.Status, got.Error, tt.err)
		}
	}
}

func TestAnswersThatAreNotRead(t *testing.T) {
	answer := func(status int, header, value, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header, value)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	large := "data: " + strings.Repeat("a", 1<<20) + "\n\n"
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		class   trace.Class
		err     string
	}{
		{
			"compressed", answer(200, "Content-Encoding", "gzip", "\x1f\x8b\b\x00"), trace.Malformed,
			"the answer is compressed (Content-Encoding: gzip), which was not asked for",
		},
		{
			"a compressed error", answer(400, "Content-Encoding", "br", "\x8b\b\x00"), trace.HTTP,
			"the answer is compressed (Content-Encoding: br), which was not asked for",
		},
		{"not compressed", answer(200, "Content-Encoding", "identity", text("a")+last+end), "", ""},
		{
			"a page", answer(200, "Content-Type", "text/html; charset=utf-8", "<html>Sign in"), trace.Malformed,
			`asked for an event stream, got text/html: "<html>Sign in"`,
		},
		{
			"a page that is called a stream", answer(200, "Content-Type", "text/event-stream", "<html>Sign in"),
			trace.Malformed, `asked for an event stream, got text/event-stream: "<html>Sign in"`,
		},
		{
			"plain text", answer(200, "Content-Type", "text/plain", "ok"), trace.Malformed,
			`asked for an event stream, got text/plain: "ok"`,
		},
		{
			"a type that is none", answer(200, "Content-Type", strings.Repeat("a", 100)+"/b", "{}"), trace.Malformed,
			`asked for an event stream, got "{}"`,
		},
		{
			"a large event", answer(200, "Content-Type", "text/event-stream", large), trace.Malformed,
			"event too large: the limit is 0 MiB",
		},
	} {
		got := send(t, Options{Protocol: Completions, Stream: true, MaxEvent: 1 << 19}, transport.Config{},
			workload.Request{}, tt.handler)
		if got.Class != tt.class || got.Error != tt.err {
			t.Errorf("%s: class %q, error %q, want %q, %q", tt.name, got.Class, got.Error, tt.class, tt.err)
		}
	}
}
