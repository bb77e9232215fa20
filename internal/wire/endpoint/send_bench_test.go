package endpoint

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// oneToken is an answer of one token.
const oneToken = "HTTP/1.1 200 OK\r\ndate: Tue, 24 Nov 2026 21:00:00 GMT\r\nserver: pitot\r\n" +
	"transfer-encoding: chunked\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n" +
	"6b\r\n" +
	`data: {"id":"1","object":"text_completion","choices":[{"index":0,"text":" a","finish_reason":"length"}]}` +
	"\n\n\r\n" +
	"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"

// answers accepts connections and answers every request with oneToken.
func answers(b *testing.B) net.Listener {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := make([]byte, 64<<10)
				for {
					n, err := c.Read(in)
					if err != nil {
						return
					}
					if !bytes.HasSuffix(in[:n], []byte("}")) {
						continue // the rest of a request
					}
					if _, err := io.WriteString(c, oneToken); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l
}

// A request of one token over a connection that is open, from its body to its record.
func BenchmarkSend(b *testing.B) {
	l := answers(b)
	defer l.Close()
	tr := transport.New(transport.Config{Timeout: time.Hour, Idle: time.Hour})
	defer tr.Close()
	c, err := New(tr, Options{
		Protocol: Completions, URL: "http://" + l.Addr().String() + "/v1/completions", Model: "truth", Stream: true,
		IncludeUsage: true, IgnoreEOS: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	req := workload.Request{ID: "a-request", Tokens: []int32{1, 2, 3, 4}, OutputTokens: 1}
	b.ReportAllocs()
	for b.Loop() {
		body, err := c.Encode(&req)
		if err != nil {
			b.Fatal(err)
		}
		rec := trace.NewRecord(0)
		if c.Send(b.Context(), &req, body, rec); !rec.OK() {
			b.Fatal(rec.Class, rec.Error)
		}
	}
}
