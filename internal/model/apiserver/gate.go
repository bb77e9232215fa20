package apiserver

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// refusePeriod is the time in which a gate opens and closes once.
const refusePeriod = 50 * time.Millisecond

// A gate is a listener that is closed for a share of the time:
//
//	|■■■■■■■■■■■■■□□□□|■■■■■■■■■■■■■□□□□|   ■ listening   □ refusing
//	      50 ms            share·50 ms
//
// While it is closed there is no listening socket, so the kernel itself
// refuses new connections; those already open are not touched. Then it listens
// again on the same address. A connection that reaches the accept queue in the
// microseconds before closing is reset by the kernel instead. A port chosen by
// the kernel could be lost to another process while closed; listening is tried
// again for a while then, and a fixed port has no such neighbour.
//
// A listener that is not TCP stays open, and a connection made during the closed share is closed at
// once.
type gate struct {
	share float64
	start time.Time

	mu     sync.Mutex
	l      net.Listener // nil while closed, for TCP
	addr   net.Addr
	over   bool
	closed chan struct{}
}

func newGate(l net.Listener, share float64) *gate {
	return &gate{share: share, start: time.Now(), l: l, addr: l.Addr(), closed: make(chan struct{})}
}

// window tells whether the gate is open t after its start, and until when.
func (g *gate) window(t time.Duration) (open bool, until time.Duration) {
	period := t - t%refusePeriod
	shut := period + refusePeriod - time.Duration(g.share*float64(refusePeriod))
	if t < shut {
		return true, shut
	}
	return false, period + refusePeriod
}

// Accept waits for a connection, through as many closed times as it takes.
func (g *gate) Accept() (net.Conn, error) {
	if _, ok := g.addr.(*net.TCPAddr); !ok {
		return g.acceptQueued()
	}
	for {
		open, until := g.window(time.Since(g.start))
		if !open {
			if err := g.shut(until); err != nil {
				return nil, err
			}
			continue
		}
		l, err := g.listener()
		if err != nil {
			return nil, err
		}
		if d, ok := l.(interface{ SetDeadline(time.Time) error }); ok {
			_ = d.SetDeadline(g.start.Add(until)) // an error would be Accept's too
		}
		c, err := l.Accept()
		if e := net.Error(nil); !errors.As(err, &e) || !e.Timeout() {
			return c, err
		}
	}
}

func (g *gate) acceptQueued() (net.Conn, error) {
	for {
		c, err := g.l.Accept()
		if open, _ := g.window(time.Since(g.start)); open || err != nil {
			return c, err
		}
		_ = c.Close()
	}
}

// shut stops listening until the given time since the start.
func (g *gate) shut(until time.Duration) error {
	g.mu.Lock()
	if g.l != nil {
		_ = g.l.Close()
		g.l = nil
	}
	g.mu.Unlock()
	return g.sleep(until - time.Since(g.start))
}

func (g *gate) sleep(d time.Duration) error {
	if !pause(d, g.closed) {
		return net.ErrClosed
	}
	return nil
}

// listener is the open listener, made anew if need be.
func (g *gate) listener() (net.Listener, error) {
	for give := time.Now().Add(5 * time.Second); ; {
		l, err := g.listen()
		if err == nil || errors.Is(err, net.ErrClosed) || time.Now().After(give) {
			return l, err
		}
		if err := g.sleep(time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func (g *gate) listen() (net.Listener, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return nil, net.ErrClosed
	}
	if g.l != nil {
		return g.l, nil
	}
	l, err := net.Listen("tcp", g.addr.String())
	if err != nil {
		return nil, fmt.Errorf("listen again: %w", err)
	}
	g.l = l
	return l, nil
}

// Close ends listening for good.
func (g *gate) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return net.ErrClosed
	}
	g.over = true
	close(g.closed)
	if g.l == nil {
		return nil
	}
	return g.l.Close()
}

// Addr is the address of the first listener, and of all that follow.
func (g *gate) Addr() net.Addr { return g.addr }
