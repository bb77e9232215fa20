package transport

import (
	"net"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/clock"
)

// What comes between the end of a read and the look at the clock was not there when the
// read emptied the socket, but it came before that look.
func TestABoundIsFromBeforeTheReadThatEmptiedTheSocket(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	clk := clock.New()
	conn := NewConn(near, clk)
	conn.watch.late.Store(clk.Now()) // of a client that is behind
	begun := clk.Now()
	conn.note(begun, time.Now().UnixNano(), true)
	conn.note(clk.Now(), time.Now().UnixNano(), true)
	if lo := conn.Last().Lo; lo != begun {
		t.Errorf("nothing came before %d, it says; the socket was last known to be empty at %d", lo, begun)
	}
}

// A late read on one connection makes a client late on all of them for a while.
func TestAClientIsPromptUntilItReadsLate(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	clk, w := clock.New(), newWatch()
	one, other := newConn(near, clk, w), newConn(near, clk, w)
	read := func(c *Conn, lag time.Duration) Stamp {
		c.note(clk.Now(), time.Now().Add(-lag).UnixNano(), true)
		return c.Last()
	}
	const none = -time.Hour // a stamp is never later than its read
	if s := read(one, none); !s.Prompt || s.Lo < s.User-int64(promptLag) || s.At != s.User {
		t.Errorf("a read at once: %+v", s)
	}
	if s := read(one, promptLag); s.Prompt {
		t.Errorf("a late read: %+v", s)
	}
	if s := read(other, none); s.Prompt {
		t.Errorf("behind a late read: %+v", s)
	}
	w.late.Add(-int64(promptTime))
	if s := read(other, none); !s.Prompt {
		t.Errorf("long behind a late read: %+v", s)
	}
	if lag, bare := w.take(); lag.total() != 4 || lag.max < int64(promptLag) || bare != 0 {
		t.Errorf("%d reads, the longest lag %d, %d without a stamp", lag.total(), lag.max, bare)
	}
}
