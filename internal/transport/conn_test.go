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
