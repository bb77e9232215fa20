package endpoint

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// send makes one request to handler in virtual time and returns its record, which
// is the same with either engine of the transport.
func send(t *testing.T, opts Options, cfg transport.Config, req workload.Request, handler http.HandlerFunc) *trace.Record {
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

func sendOver(t *testing.T, opts Options, cfg transport.Config, req workload.Request, handler http.HandlerFunc) *trace.Record {
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
