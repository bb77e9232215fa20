//go:build linux && (amd64 || arm64)

package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A way is how a connection is read, and over what.
type way struct {
	lazy   bool // by a poller that always sleeps
	bare   bool // without a poller
	secure bool
}

func (w way) String() string {
	by := map[way]string{{}: "eager", {lazy: true}: "lazy", {bare: true}: "bare"}[way{lazy: w.lazy, bare: w.bare}]
	return by + map[bool]string{false: " TCP", true: " TLS"}[w.secure]
}

// polledWays are those with a poller.
var polledWays = []way{{}, {lazy: true}, {secure: true}, {lazy: true, secure: true}}

// config has the client read in this way.
func (w way) config(cfg Config, trust *tls.Config) Config {
	cfg.TLS, cfg.lazy = trust, w.lazy
	if w.bare {
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			return struct{ net.Conn }{conn}, err
		}
	}
	return cfg
}

// A peer is a server on loopback that has a function for each connection.
type peer struct {
	url   string
	trust *tls.Config
}

func newPeer(t testing.TB, secure bool, on func(conn net.Conn)) *peer {
	t.Helper()
	l, trust := listen(t, secure)
	p := &peer{map[bool]string{false: "http", true: "https"}[secure] + "://" + l.Addr().String() + "/", trust}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { defer conn.Close(); on(conn) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); conns.Wait() }) // the client is closed by now
	return p
}

// inWays runs a test in every way that a poller reads, with a client of a server that has a function for each
// connection.
func inWays(t *testing.T, cfg Config, on func(conn net.Conn), test func(t *testing.T, c *Client, url string)) {
	for _, w := range polledWays {
		t.Run(w.String(), func(t *testing.T) {
			p := newPeer(t, w.secure, on)
			c := New(w.config(cfg, p.trust))
			t.Cleanup(c.Close)
			test(t, c, p.url)
		})
	}
}

// soon fails the test if f does not return: whatever the server does, a request ends.
func soon(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it hangs")
	}
}

// requested reads the requests of a connection, and calls answer after each.
func requested(conn net.Conn, answer func(n int) error) {
	r := bufio.NewReader(conn)
	for n := 0; ; n++ {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if _, err = io.Copy(io.Discard, req.Body); err != nil || answer(n) != nil {
			return
		}
	}
}

// pieces writes s in pieces of a size.
func inPieces(w io.Writer, s string, size int) error {
	for len(s) > 0 {
		n := min(size, len(s))
		if _, err := io.WriteString(w, s[:n]); err != nil {
			return err
		}
		s = s[n:]
	}
	return nil
}

// chunked is an answer with these chunks.
func chunked(chunks ...string) string {
	b := strings.Builder{}
	b.WriteString("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
	for _, c := range append(chunks, "") {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(c), c)
	}
	return b.String()
}

func TestPolledAnswersAreWhole(t *testing.T) {
	words := strings.SplitAfter(strings.Repeat("data: a token of some length\n\n", 20), "\n\n")
	want := strings.Join(words, "")
	for _, size := range []int{1, 3, 100, 1 << 20} {
		inWays(t, Config{}, func(conn net.Conn) {
			requested(conn, func(int) error { return inPieces(conn, chunked(words[:20]...), size) })
		}, func(t *testing.T, c *Client, url string) {
			for i := range 3 {
				var r tape
				got, err := c.Do(t.Context(), &Request{Method: "GET", URL: url}, &r)
				if err != nil || r.body.String() != want {
					t.Errorf("pieces of %d, request %d: error %v, %d bytes", size, i, err, r.body.Len())
				}
				if i > 0 && got.Dialed != Never {
					t.Errorf("pieces of %d, request %d has a new connection", size, i)
				}
			}
		})
	}
}

// A connection may end at any byte of an answer, in order or with a reset.
func TestPolledConnectionsEndAnywhere(t *testing.T) {
	answer := chunked("data: one\n\n", "data: two\n\n")
	for _, reset := range []bool{false, true} {
		for cut := 0; cut <= len(answer); cut += 5 {
			inWays(t, Config{}, func(conn net.Conn) {
				requested(conn, func(int) error {
					_, _ = io.WriteString(conn, answer[:cut])
					raw := conn
					if s, ok := conn.(*tls.Conn); ok {
						raw = s.NetConn()
					}
					if reset {
						_ = raw.(*net.TCPConn).SetLinger(0)
						_ = raw.Close()
					}
					return io.EOF
				})
			}, func(t *testing.T, c *Client, url string) {
				var r tape
				soon(t, func() {
					_, err := c.Do(t.Context(), &Request{Method: "GET", URL: url}, &r)
					ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
						reset && errors.Is(err, syscall.ECONNRESET)
					if whole := cut == len(answer); whole && err != nil && !reset || !whole && !ended {
						t.Errorf("reset %v after %d of %d bytes: error %v", reset, cut, len(answer), err)
					}
				})
				if want := body(answer[:cut]); !reset && r.body.String() != want || !strings.HasPrefix(want, r.body.String()) {
					t.Errorf("reset %v after %d bytes: %q, want %q", reset, cut, r.body.String(), want)
				}
			})
		}
	}
}

// body is what a receiver gets of the beginning of an answer.
func body(begin string) string {
	x := &exchange{hotExchange: hotExchange{r: &tape{}}, c: &Client{}}
	x.res.x = x
	_ = x.res.feed([]byte(begin), Stamp{})
	return x.r.(*tape).body.String()
}

// A corked connection holds written bytes until it is closed.
type corked struct {
	net.Conn
	held *[]byte // nil: not corked
}

func (c *corked) Write(p []byte) (int, error) {
	if c.held == nil {
		return c.Conn.Write(p)
	}
	*c.held = append(*c.held, p...)
	return len(p), nil
}

// send sends all held bytes but the last.
func (c *corked) send(without int) {
	_ = c.SetWriteDeadline(time.Time{}) // TLS sets one when it ends
	_, _ = c.Conn.Write((*c.held)[:len(*c.held)-without])
	c.held = nil
}

func (c *corked) Close() error {
	if c.held != nil {
		c.send(0)
	}
	return c.Conn.Close()
}

// The end of TLS may come in one segment with the last bytes of an answer, or in part.
func TestTheEndOfTLSTogetherWithTheLastBytes(t *testing.T) {
	for _, w := range polledWays[2:] {
		for _, torn := range []int{0, 1, 10} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server, trust := certificates(t)
			server.MinVersion, server.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 // the end is seen behind other bytes
			go func() {
				raw, err := l.Accept()
				if err != nil {
					return
				}
				cork := &corked{Conn: raw}
				conn := tls.Server(cork, server)
				requested(conn, func(int) error {
					cork.held = new([]byte)
					_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
					if torn > 0 {
						_ = conn.CloseWrite()
						cork.send(torn)
						_, _ = conn.Read(make([]byte, 1)) // until the client leaves
					}
					return errors.Join(err, io.EOF)
				})
				_ = conn.Close()
			}()
			c := New(w.config(Config{}, trust))
			var r tape
			soon(t, func() {
				_, err := c.Do(t.Context(), &Request{Method: "GET", URL: "https://" + l.Addr().String()}, &r)
				if err != nil || r.body.String() != "hello" {
					t.Errorf("%v, without the last %d bytes: error %v, body %q", w, torn, err, r.body.String())
				}
			})
			c.Close()
			_ = l.Close()
		}
	}
}

// A request ends when it is canceled, at whatever moment: also between two waits.
func TestCancelsOfPolledRequests(t *testing.T) {
	inWays(t, Config{}, func(conn net.Conn) {
		requested(conn, func(n int) error {
			if n > 0 {
				_, err := conn.Read(make([]byte, 1)) // until the client leaves
				return err
			}
			_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n.")
			return err
		})
	}, func(t *testing.T, c *Client, url string) {
		req := &Request{Method: "GET", URL: url}
		for i := range 40 {
			if _, err := c.Do(t.Context(), req, &tape{}); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			if i%2 == 0 {
				cancel()
			} else {
				time.AfterFunc(time.Duration(i*i)*time.Microsecond/4, cancel)
			}
			soon(t, func() {
				if _, err := c.Do(ctx, req, &tape{}); !errors.Is(err, context.Canceled) {
					t.Errorf("error %v", err)
				}
			})
			cancel()
		}
	})
}
