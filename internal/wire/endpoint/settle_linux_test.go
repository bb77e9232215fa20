//go:build linux && (amd64 || arm64)

package endpoint

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/clock"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A lateReader is busy elsewhere after its first event, until resume is closed; it closes
// read when it has read the last one.
type lateReader struct {
	Transport
	begun, resume, read chan struct{}
}

func (l lateReader) Do(ctx context.Context, req *transport.Request, r transport.Receiver) (transport.Timing, error) {
	return l.Transport.Do(ctx, req, &lateReceiver{r, l})
}

type lateReceiver struct {
	transport.Receiver
	l lateReader
}

func (r *lateReceiver) Data(p []byte, s transport.Stamp) error {
	err := r.Receiver.Data(p, s)
	if r.l.begun != nil {
		close(r.l.begun)
		<-r.l.resume
		r.l.begun = nil
	}
	if bytes.Contains(p, []byte(`"d"`)) {
		close(r.l.read)
	}
	return err
}

// Events of one write of the server are distinguished from those that a client was late to
// read, with either HTTP client.
func TestABundleIsNoLateClient(t *testing.T) {
	const middle = trace.Coalesced | trace.Bundled
	for _, tt := range []struct {
		name   string
		writes []string
		kinds  []trace.Kind // of all chunks but the first, without what they carry
		merged int
	}{
		{"in one write", []string{text("b") + text("c") + text("d")}, []trace.Kind{trace.Bundled, middle, middle}, 0},
		{"in three", []string{text("b"), text("c"), text("d")}, []trace.Kind{0, trace.Coalesced, trace.Coalesced}, 2},
	} {
		for _, std := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, net/http %v", tt.name, std), func(t *testing.T) {
				rec := readLate(t, std, tt.writes)
				if !rec.OK() || len(rec.Chunks) != 4 || rec.Stamps != trace.KernelStamps {
					t.Fatalf("%s %s: %+v", rec.Class, rec.Error, rec)
				}
				merged := 0
				for i, c := range rec.Chunks {
					if rec.Merged(c) {
						merged++
					}
					if got := c.Kind &^ (trace.Text | trace.Finish); i > 0 && got != tt.kinds[i-1] {
						t.Errorf("chunk %d is %b, want %b", i, got, tt.kinds[i-1])
					}
				}
				if merged != tt.merged {
					t.Errorf("%d merged, want %d", merged, tt.merged)
				}
			})
		}
	}
}

// readLate is the record of an answer: its first event is read at once, the others when all
// of them have been written.
func readLate(t *testing.T, std bool, writes []string) *trace.Record {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	begun, resume, hold := make(chan struct{}), make(chan struct{}), make(chan struct{})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, _ := w.(http.Hijacker).Hijack()
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+httpChunk(text("a")))
		<-begun
		for _, w := range writes {
			_, _ = io.WriteString(conn, httpChunk(w))
		}
		close(resume)
		<-hold // the end comes in a read of its own
		_, _ = io.WriteString(conn, httpChunk(end)+"0\r\n\r\n")
	})}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	clk := clock.New()
	tr := transport.New(transport.Config{Clock: clk, NetHTTP: std})
	defer tr.Close()
	if _, err := transport.SelfTest(t.Context(), clk); err != nil { // the kernel stamps from here on
		t.Fatal(err)
	}
	late := lateReader{tr, begun, resume, hold}
	c, err := New(late, Options{Protocol: Completions, Stream: true, URL: "http://" + l.Addr().String() + "/"})
	if err != nil {
		t.Fatal(err)
	}
	rec := trace.NewRecord(0)
	c.Send(t.Context(), &workload.Request{}, []byte("{}"), rec)
	return rec
}

func httpChunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
