package apiserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/engine"
)

const fiveTokens = `{"prompt":"a","max_tokens":5,"ignore_eos":true,"stream":true}`

func post(client *http.Client, url string) (proto, body string, err error) {
	resp, err := client.Post(url+completions, "application/json", strings.NewReader(fiveTokens))
	if err != nil {
		return "", "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return resp.Proto, string(b), err
}

// What the kernel makes of the faults that are about connections.
func TestConnectionFaultsAreReal(t *testing.T) {
	for _, test := range []struct {
		fault  string
		tokens int
		err    error
	}{
		{"reset=1", 0, syscall.ECONNRESET},
		{"reset=1@3", 3, syscall.ECONNRESET},
		{"cut=1@3", 3, io.ErrUnexpectedEOF},
	} {
		t.Run(test.fault, func(t *testing.T) {
			url := serveLoopback(t, listenLoopback(t), Config{Faults: []Fault{mustFault(t, test.fault)}})
			client := &http.Client{Transport: &http.Transport{}}
			_, body, err := post(client, url)
			// Bytes the kernel has not sent when it resets are lost.
			if n := strings.Count(body, `null}]}`); !errors.Is(err, test.err) || n > test.tokens {
				t.Errorf("%d tokens, error %v; want %d, %v", n, err, test.tokens, test.err)
			}
		})
	}
}

// A client that leaves while it sends its body has left, whether it closes its
// side or resets the connection, and gets no answer. A body that is no HTTP is
// refused.
func TestLeavingInTheBody(t *testing.T) {
	const chunked = "Transfer-Encoding: chunked\r\n\r\n"
	for _, test := range []struct {
		name, sent string
		leave      func(*net.TCPConn) error
		want       TruthRequest
	}{
		{"closes", "Content-Length: 100\r\n\r\n{", (*net.TCPConn).CloseWrite, TruthRequest{ClientGone: true}},
		{"closes in a chunk", chunked + "5\r\n{", (*net.TCPConn).CloseWrite, TruthRequest{ClientGone: true}},
		{
			"resets", "Content-Length: 100\r\n\r\n{", func(c *net.TCPConn) error { return c.SetLinger(0) },
			TruthRequest{ClientGone: true},
		},
		{"no chunks", chunked + "x\r\n", (*net.TCPConn).CloseWrite, TruthRequest{Status: 400}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := New(Config{})
			if err != nil {
				t.Fatal(err)
			}
			l := listenLoopback(t)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- s.Serve(ctx, l, nil) }()
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			_, err = fmt.Fprintf(conn,
				"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n%s",
				completions, test.sent)
			if err != nil {
				t.Fatal(err)
			}
			// The handler reads the body once this has come.
			interim := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
			if _, err := io.ReadFull(conn, interim); err != nil {
				t.Fatal(err)
			}
			if err := test.leave(conn.(*net.TCPConn)); err != nil {
				t.Fatal(err)
			}
			if test.name != "resets" {
				answer, _ := io.ReadAll(conn)
				if answered := len(answer) > 0; answered != (test.want.Status != 0) {
					t.Errorf("answer %q", answer)
				}
			}
			_ = conn.Close()
			s.handlers.Wait() // it was there, for it has asked for the body
			_, records := s.truth.snapshot()
			if len(records) != 1 || records[0].ClientGone != test.want.ClientGone || records[0].Status != test.want.Status {
				t.Errorf("truth: %+v", records)
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// Over HTTP/2 it is the stream that is reset.
func TestLeavingInTheBodyOverHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Config{})
		transport := &http.Transport{DialContext: r.l.Dial, Protocols: new(http.Protocols)}
		transport.Protocols.SetUnencryptedHTTP2(true)
		defer transport.CloseIdleConnections()
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		body, sending := io.Pipe()
		defer func() { _ = sending.Close() }()
		req, err := http.NewRequestWithContext(ctx, "POST", "http://engine"+completions, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		go func() { _, _ = io.WriteString(sending, "{") }()
		if resp, err := (&http.Client{Transport: transport}).Do(req); err == nil {
			t.Errorf("answered with %s", resp.Status)
			_ = resp.Body.Close()
		}
		synctest.Wait()
		if got := r.truth("").Requests; len(got) != 1 || !got[0].ClientGone || got[0].Status != 0 {
			t.Errorf("truth %+v", got)
		}
	})
}

// A refused connection is refused by the kernel; an open one does not notice,
// and the address stays the same.
func TestRefuse(t *testing.T) {
	cfg := constantConfig()
	cfg.Faults = []Fault{mustFault(t, "refuse=0.5")}
	l := listenLoopback(t)
	url := serveLoopback(t, l, cfg)
	type result struct {
		body string
		err  error
	}
	stream := make(chan result, 1)
	client := &http.Client{Transport: &http.Transport{}}
	for { // until there is a connection to keep
		if resp, err := client.Get(url + "/health"); err == nil {
			_ = resp.Body.Close()
			break
		}
	}
	go func() {
		body := strings.Replace(fiveTokens, "5", "40", 1) // 215 ms: four periods
		resp, err := client.Post(url+completions, "application/json", strings.NewReader(body))
		if err != nil {
			stream <- result{err: err}
			return
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		stream <- result{string(b), err}
	}()
	var refused, accepted int
	var open result
	for waiting := true; waiting || refused == 0 || accepted == 0; {
		select {
		case open = <-stream:
			waiting = false
		default:
		}
		conn, err := net.Dial("tcp", l.Addr().String())
		switch {
		case err == nil:
			accepted++
			_ = conn.Close()
		case errors.Is(err, syscall.ECONNREFUSED):
			refused++
		case !errors.Is(err, syscall.ECONNRESET):
			t.Fatalf("dial: %v", err)
		}
	}
	if open.err != nil || !strings.HasSuffix(open.body, doneEvent+"\n\n") {
		t.Errorf("the open stream: %v", open.err)
	}
}

func TestHTTP2(t *testing.T) {
	certificate := httptest.NewUnstartedServer(nil)
	certificate.StartTLS()
	defer certificate.Close()
	roots := x509.NewCertPool()
	roots.AddCert(certificate.Certificate())
	for _, test := range []struct {
		name   string
		secure bool
		fault  string
		err    string
	}{
		{"clear", false, "crlf=0", ""},
		{"TLS", true, "crlf=0", ""},
		{"reset is of the stream", false, "reset=1@1", "INTERNAL_ERROR"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := New(Config{Faults: []Fault{mustFault(t, test.fault)}})
			if err != nil {
				t.Fatal(err)
			}
			transport := &http.Transport{Protocols: new(http.Protocols)}
			var config *tls.Config
			scheme := "http://"
			if test.secure {
				scheme = "https://"
				config = &tls.Config{Certificates: certificate.TLS.Certificates}
				transport.TLSClientConfig = &tls.Config{RootCAs: roots, ServerName: "example.com"}
				transport.Protocols.SetHTTP2(true)
			} else {
				transport.Protocols.SetUnencryptedHTTP2(true)
			}
			l := listenLoopback(t)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- s.Serve(ctx, l, config) }()
			proto, body, err := post(&http.Client{Transport: transport}, scheme+l.Addr().String())
			if test.err == "" && (err != nil || proto != "HTTP/2.0" || !strings.HasSuffix(body, doneEvent+"\n\n")) {
				t.Errorf("%s, %v: %s", proto, err, body)
			}
			if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("error %v, want %s", err, test.err)
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if _, records := s.truth.snapshot(); len(records) != 1 || records[0].Protocol != "HTTP/2.0" {
				t.Errorf("truth: %d requests, want one over HTTP/2.0", len(records))
			}
		})
	}
}

// The handler needs no Serve, and no goroutine is left when nothing is open.
func TestHandlerAlone(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	for range 3 {
		if _, body, err := post(server.Client(), server.URL); err != nil || !strings.HasSuffix(body, doneEvent+"\n\n") {
			t.Errorf("%v: %s", err, body)
		}
	}
	s.loop.done.Wait()
	if s.loop.running {
		t.Error("the loop runs on with nothing to do")
	}
}

func BenchmarkModel(b *testing.B) {
	const jobs = 10_000
	for _, itl := range []string{"20ms", "gamma(20ms,0.5)"} {
		b.Run(itl, func(b *testing.B) {
			c := engine.NewLatencyModel(engine.Latency{ITL: mustDist(b, itl), TTFT: mustDist(b, "uniform(0s,20ms)")}, 1)
			for id := range uint64(jobs) {
				c.Add(0, engine.Job{ID: id, OutputTokens: 1 << 40})
			}
			var out []engine.Emission
			var now time.Duration
			tokens := 0
			for b.Loop() {
				now += ms
				out = c.Step(now, out[:0])
				tokens += len(out)
			}
			b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

// The server's whole way, from timer to socket, for 1000 events of 256 streams
// with readers that only count them. Client and server share the machine.
func BenchmarkServer(b *testing.B) {
	const streams, batch = 256, 1000
	l := listenLoopback(b)
	// One token a millisecond is more than can be written: every handler is
	// busy, and what it cannot keep up with goes out as several tokens.
	serveLoopback(b, l, Config{Latency: engine.Latency{ITL: arrival.FixedDuration(ms)}, TruthWrites: 1})
	var events atomic.Int64
	thousand := make(chan struct{}, 1)
	for range streams {
		conn := endlessStream(b, l.Addr().String())
		defer func() { _ = conn.Close() }()
		go func() {
			buffer := make([]byte, 16<<10)
			for {
				n, err := conn.Read(buffer)
				if err != nil {
					return
				}
				read := int64(bytes.Count(buffer[:n], []byte("data: ")))
				if total := events.Add(read); total/batch != (total-read)/batch {
					signal(thousand)
				}
			}
		}()
	}
	<-thousand
	start := events.Load()
	for b.Loop() {
		<-thousand
	}
	b.ReportMetric(float64(events.Load()-start)/b.Elapsed().Seconds(), "events/s")
}

func endlessStream(b *testing.B, addr string) net.Conn {
	b.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	body := `{"prompt":"a","max_tokens":130000,"ignore_eos":true,"stream":true}`
	_, err = fmt.Fprintf(conn,
		"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", completions,
		len(body), body)
	if err != nil {
		b.Fatal(err)
	}
	return conn
}
