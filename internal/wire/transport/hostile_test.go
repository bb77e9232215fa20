package transport

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// speak answers the first request of every connection with text as it is, and then with more, time and again.
func speak(t *testing.T, text, more string) (url string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go speakOn(conn, text, more)
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

// floodLimit ends a flood that the client does not: what it got then is no timeout.
const floodLimit = 10 * time.Second

func speakOn(conn net.Conn, text, more string) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(floodLimit))
	if _, err := conn.Read(make([]byte, 1)); err != nil { // an answer before the request would be none
		return
	}
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	_, err := io.WriteString(conn, text)
	for more := strings.Repeat(more, 1<<16/max(1, len(more))); err == nil && more != ""; {
		_, err = io.WriteString(conn, more)
	}
}

// A client that never has to wait must not forget the time.
func TestFloodsEndWithTheTimeout(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	engines(t, Config{Timeout: 50 * time.Millisecond}, func(t *testing.T, cfg Config) {
		for name, flood := range map[string]struct{ text, more string }{
			"comments": {ok + "\r\n", ": keep-alive\n\n"},
			"chunks":   {ok + "Transfer-Encoding: chunked\r\n\r\n", "1\r\n\n\r\n"},
		} {
			c := New(cfg)
			_, err := c.Do(t.Context(), &Request{Method: "POST", URL: speak(t, flood.text, flood.more)}, new(discard))
			c.Close()
			if !errors.Is(err, ErrTimeout) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// discard is a Receiver that ignores all it gets.
type discard struct{ status int }

func (n *discard) Head(status int, _ http.Header) { n.status = status }
func (n *discard) Data([]byte, Stamp) error       { return nil }

// Heads and trailers have no end of their own.
func TestHeadsAndTrailersAreBounded(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	engines(t, Config{}, func(t *testing.T, cfg Config) {
		for name, flood := range map[string]struct{ text, more string }{
			"informational": {"", "HTTP/1.1 102 Processing\r\n\r\n"},
			"headers":       {ok, "X-A: b\r\n"},
			"trailers":      {ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n", "X-A: b\r\n"},
		} {
			c := New(cfg)
			_, err := c.Do(t.Context(), &Request{Method: "POST", URL: speak(t, flood.text, flood.more)}, new(discard))
			c.Close()
			if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Streams of HTTP/2 share a connection, which outlives them.
func TestAFloodOverHTTP2EndsWithTheTimeout(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	flood := strings.Repeat(": keep-alive\n\n", 1<<10)
	s := http.Server{
		Protocols: new(http.Protocols), WriteTimeout: floodLimit,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for _, err := io.WriteString(w, flood); err == nil; _, err = io.WriteString(w, flood) {
			}
		}),
	}
	s.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	c := New(Config{HTTP2: true, Timeout: 50 * time.Millisecond})
	defer c.Close()
	if _, err := c.Do(t.Context(), &Request{Method: "POST", URL: "http://" + l.Addr().String()},
		new(discard)); !errors.Is(err, ErrTimeout) {
		t.Error(err)
	}
}

// No request asked for another protocol, and the bytes that follow have no end to wait for.
func TestSwitchingProtocolsEndsTheExchange(t *testing.T) {
	serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn)
	}, func(t *testing.T, c *Client) {
		var n discard
		timing, err := c.Do(t.Context(), post(), &n)
		if err != nil || n.status != http.StatusSwitchingProtocols || timing.Done != 0 {
			t.Errorf("status %d after %v, %v", n.status, time.Duration(timing.Done), err)
		}
	})
}

// A head has a MiB.
func TestTheSizeOfAHead(t *testing.T) {
	for size, taken := range map[int]bool{900: true, 1200: false} {
		serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
			for range size {
				w.Header().Add("X-A", strings.Repeat("b", 1017))
			}
		}, func(t *testing.T, c *Client) {
			if _, err := c.Do(t.Context(), post(), new(discard)); (err == nil) != taken {
				t.Errorf("%d KiB: %v", size, err)
			}
		})
	}
}
