package transport

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pitot-bench/pitot/internal/test/memnet"
)

// Both engines dial the same address and send the same request for any URL.
func TestAURLMeansTheSameToBothEngines(t *testing.T) {
	for _, tt := range []struct{ url, engine, addr, host, path string }{
		{"http://engine", "h1", "engine:80", "engine", "/"},
		{"http://engine:/v1", "h1", "engine:80", "engine", "/v1"},
		{"HTTP://Engine:8000/v1?a=b%20c#part", "h1", "Engine:8000", "Engine:8000", "/v1?a=b%20c"},
		{"http://127.0.0.1:8000//x/../y z", "h1", "127.0.0.1:8000", "127.0.0.1:8000", "//x/../y%20z"},
		{"http://[::1]:8000/?", "h1", "[::1]:8000", "[::1]:8000", "/?"},
		{"http://[fe80::1%25eth0]/", "nethttp", "[fe80::1%eth0]:80", "[fe80::1]", "/"},
		{"http://bücher.example/", "nethttp", "xn--bcher-kva.example:80", "xn--bcher-kva.example", "/"},
	} {
		engines(t, Config{}, func(t *testing.T, cfg Config) {
			synctest.Test(t, func(t *testing.T) {
				l := memnet.Listen()
				var addr, host, path string
				srv := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter,
					r *http.Request,
				) {
					host, path = r.Host, r.RequestURI
				})}
				go func() { _ = srv.Serve(l) }()
				cfg.Dial = func(ctx context.Context, network, a string) (net.Conn, error) {
					addr = a
					return l.Dial(ctx, network, a)
				}
				c := New(cfg)
				_, err := c.Do(t.Context(), &Request{Method: "GET", URL: tt.url}, &tape{})
				if err != nil || addr != tt.addr || host != tt.host || path != tt.path {
					t.Errorf("%s: error %v, dialed %s for %s%s", tt.url, err, addr, host, path)
				}
				if engine := c.Engine(tt.url); !cfg.NetHTTP && engine != tt.engine {
					t.Errorf("%s: over %s, want %s", tt.url, engine, tt.engine)
				}
				c.Close()
				_ = srv.Shutdown(t.Context())
			})
		})
	}
}

// Data from a server on an idle connection is not an answer to the next request.
func TestAnIdleConnectionThatSpokeIsNotUsed(t *testing.T) {
	for _, after := range []string{"", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"} {
		l, _ := listen(t, false)
		defer l.Close()
		spoken := make(chan struct{}, 2)
		go func() {
			for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
				go func() {
					defer conn.Close()
					requests := bufio.NewReader(conn)
					for {
						if _, err := http.ReadRequest(requests); err != nil {
							return
						}
						_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
						_, _ = io.WriteString(conn, after)
						spoken <- struct{}{}
					}
				}()
			}
		}()
		c := New(Config{})
		for i := range 2 {
			var r tape
			got, err := c.Do(t.Context(), &Request{Method: "GET", URL: "http://" + l.Addr().String()}, &r)
			if fresh := got.Dialed != Never; err != nil || r.status != 200 || fresh != (i == 0 || after != "") {
				t.Errorf("behind the answer %q, request %d: error %v, status %d, %+v", after, i, err, r.status, got)
			}
			<-spoken
		}
		c.Close()
	}
}

// A response knows whether a read ended within an HTTP chunk.
func TestAReadThatEndsWithinAChunk(t *testing.T) {
	chunk := "1a\r\n" + strings.Repeat("a", 26) + "\r\n"
	for n := range len(chunk) + 1 {
		p := response{x: &exchange{hotExchange: hotExchange{r: &tape{}}, c: &Client{}}}
		if err := p.feed([]byte(usualHead+chunk+chunk[:n]), Stamp{}); err != nil {
			t.Fatal(err)
		}
		if want := n > 0 && n < len(chunk); p.insideChunk() != want {
			t.Errorf("after %d bytes of %d: %v", n, len(chunk), p.insideChunk())
		}
	}
	p := response{x: &exchange{hotExchange: hotExchange{r: &tape{}}, c: &Client{}}}
	for _, text := range []string{"HTTP/1.1 200", " OK\r\nContent-Length: 5\r\n\r\nab", "cde"} {
		if err := p.feed([]byte(text), Stamp{}); err != nil || p.insideChunk() {
			t.Errorf("after %q: %v, %v", text, err, p.insideChunk())
		}
	}
}

// A size has up to 15 digits that count, and is followed by blanks and extensions.
func TestChunkSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1a": 26, "FfF": 4095, "5 \t": 5, "5;name=value": 5, "5 ; a": 5, "00000000000000000000b": 11, "fffffffffffffff": 1<<60 - 1,
		"": -1, ";": -1, " 5": -1, "5 5": -1, "5g": -1, "-1": -1, "+1": -1, "0x1": -1, "1_0": -1, "1000000000000000": -1,
	} {
		if n, ok := chunkSize([]byte(text)); ok != (want >= 0) || ok && n != want {
			t.Errorf("%q is %d, %v; want %d", text, n, ok, want)
		}
	}
}
