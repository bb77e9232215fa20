package endpoint

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// send makes one request to handler in virtual time and returns its record, which
// is the same with either engine of the transport.
func send(
	t *testing.T, opts Options, cfg transport.Config, req workload.Request, handler http.HandlerFunc,
) *trace.Record {
	t.Helper()
	own := sendOver(t, opts, cfg, req, handler)
	if cfg.HTTP2 {
		return own
	}
	cfg.NetHTTP = true
	std := sendOver(t, opts, cfg, req, handler)
	if diff := cmp.Diff(std, own, cmpopts.IgnoreFields(trace.Record{}, "Error")); diff != "" {
		t.Errorf("net/http and h1 differ:\n%s", diff)
	}
	return own
}

func sendOver(
	t *testing.T, opts Options, cfg transport.Config, req workload.Request, handler http.HandlerFunc,
) *trace.Record {
	var rec *trace.Record
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		srv := &http.Server{Handler: handler}
		go func() { _ = srv.Serve(l) }()
		cfg.Dial = l.Dial
		tr := transport.New(cfg)
		opts.URL = "http://engine" + opts.Protocol.Path()
		c, err := New(tr, opts)
		if err != nil {
			t.Fatal(err)
		}
		body, err := c.Encode(&req)
		if err != nil {
			t.Fatal(err)
		}
		rec = trace.NewRecord(0)
		c.Send(t.Context(), &req, body, rec)
		tr.Close()
		_ = srv.Shutdown(t.Context())
	})
	return rec
}

// stream answers with pieces 10 ms apart, the first after 100 ms.
func stream(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		}
		for i, p := range pieces {
			if i == 0 {
				time.Sleep(100 * time.Millisecond)
			} else {
				time.Sleep(10 * time.Millisecond)
			}
			_, _ = io.WriteString(w, p)
			w.(http.Flusher).Flush()
		}
	}
}

// Where a word or a number belongs, only the beginning of a server's text is stored, without a part of a secret.
func TestShortTextsAreShort(t *testing.T) {
	const key = "sk-verysecret"
	long := strings.Repeat("n", shortText-5) + key + strings.Repeat("n", 1<<16)
	opts := Options{Protocol: Chat, Stream: true, Model: "m", Secrets: new(secret.Set)}
	opts.Secrets.Add(key)
	unread := send(t, opts, transport.Config{}, asked(Chat), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for n := range 4 {
			fmt.Fprintf(w, `data: {"choices":[{"delta":{%q:"hello"}}],"usage":{"prompt_tokens":1,"completion_tokens":%d}}`+
				"\n\n", long, n+1)
		}
		fmt.Fprintf(w,
			`data: {"choices":[{"delta":{"content":"a"},"finish_reason":%q}],`+
				`"usage":{"prompt_tokens":1,"completion_tokens":5}}`+"\n\ndata: [DONE]\n\n", long)
	})
	shed := send(t, opts, transport.Config{}, asked(Chat), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", long[:1<<12])
		w.WriteHeader(http.StatusTooManyRequests)
	})
	want := strings.Repeat("n", shortText-5) + "***nn…"
	for name, got := range map[string]string{
		"member": unread.Quirks.Unread, "finish reason": unread.FinishReason, "Retry-After": shed.Quirks.RetryAfter,
	} {
		if got != want {
			t.Errorf("%s: %.200q, want %q", name, got, want)
		}
	}
}
