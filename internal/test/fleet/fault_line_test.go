package fleet

import (
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// A line is a TCP proxy that makes a connection worse.
type line struct {
	at, to string

	mu    sync.Mutex
	delay time.Duration // of each piece, one way
	more  time.Duration // of it, at random
	back  bool          // only what comes back is delayed
	rate  int           // bytes a second, one way; 0: no limit
	held  chan struct{} // nothing is forwarded until it is closed; nil: it is
	hold  func() bool   // a new connection waits while it holds; nil: it does not
	conns map[net.Conn]bool
	away  bool
}

// newLine puts a line before an address, until the test ends.
func newLine(t testing.TB, to string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{at: listener.Addr().String(), to: to, conns: map[net.Conn]bool{}}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go l.serve(c)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		l.set(func() { l.away, l.hold = true, nil })
		l.freeze(false)
		l.cut()
	})
	return l
}

// before is a URL that goes through the line.
func (l *line) before(t testing.TB, whole string) string {
	t.Helper()
	u, err := url.Parse(whole)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = l.at
	return u.String()
}

func hostOf(t testing.TB, whole string) string {
	t.Helper()
	u, err := url.Parse(whole)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

func (l *line) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// cut ends all connections.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Close()
	}
}

// freeze has the line take what comes and forward nothing, or forward it.
func (l *line) freeze(is bool) {
	l.set(func() {
		switch {
		case is && l.held == nil:
			l.held = make(chan struct{})
		case !is && l.held != nil:
			close(l.held)
			l.held = nil
		}
	})
}

func (l *line) serve(c net.Conn) {
	defer c.Close()
	l.mu.Lock()
	hold := l.hold
	l.mu.Unlock()
	for hold != nil && hold() {
		time.Sleep(10 * time.Millisecond)
	}
	other, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer other.Close()
	l.set(func() {
		l.conns[c], l.conns[other] = true, true
		if l.away {
			_ = c.Close()
		}
	})
	var both sync.WaitGroup
	both.Go(func() { l.forward(c, other, false) })
	both.Go(func() { l.forward(other, c, true) })
	both.Wait()
	l.set(func() { delete(l.conns, c); delete(l.conns, other) })
}

// A piece is bytes and when they are due.
type piece struct {
	data []byte
	at   time.Time
}

// forward copies one way. Pieces keep their order, and are under way at the same time.
func (l *line) forward(from, to net.Conn, back bool) {
	pieces := make(chan piece, 1<<14)
	go func() {
		defer close(pieces)
		var last time.Time
		for {
			b := make([]byte, 16<<10)
			n, err := from.Read(b)
			l.mu.Lock()
			at := time.Now()
			if back || !l.back {
				at = at.Add(l.delay)
			}
			if l.more > 0 {
				at = at.Add(rand.N(l.more))
			}
			if l.rate > 0 {
				at = later(at, last).Add(time.Duration(n) * time.Second / time.Duration(l.rate))
			}
			l.mu.Unlock()
			last = later(at, last)
			if n > 0 {
				pieces <- piece{b[:n], last}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		time.Sleep(time.Until(p.at))
		l.mu.Lock()
		held := l.held
		l.mu.Unlock()
		if held != nil {
			<-held
		}
		if _, err := to.Write(p.data); err != nil {
			break
		}
	}
	_ = to.Close()
	_ = from.Close()
	_, _ = io.Copy(io.Discard, from)
	for range pieces { // the reader may wait to send one
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
