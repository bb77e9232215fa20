package transport

import (
	"net"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// Data that arrives between the end of a read and the reading of the clock was not
// there when the read emptied the socket, but it came before that reading.
func TestABoundIsFromBeforeTheReadThatEmptiedTheSocket(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	clk := clock.New()
	conn := NewConn(near, clk)
	begun := clk.Now()
	conn.note(begun, time.Now().UnixNano(), 1, true)
	conn.note(clk.Now(), time.Now().UnixNano(), 1, true)
	if lo := conn.Last().Lo; lo != begun {
		t.Errorf("nothing came before %d, it says; the socket was last known to be empty at %d", lo, begun)
	}
}

// The meters count every read that has a timestamp, and its delay.
func TestReadsAreCounted(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	clk, w := clock.New(), newWatch()
	for _, lag := range []time.Duration{-time.Hour, 0, time.Second} { // a timestamp is never later than its read
		c := newConn(near, clk, w)
		c.note(clk.Now(), time.Now().Add(-lag).UnixNano(), 1, true)
		if s := c.Last(); !s.Kernel || s.At > s.User || s.Lo > s.At {
			t.Errorf("%+v", s)
		}
	}
	if lag, bare := w.take(); lag.Lag().Reads != 3 || lag.Lag().Max < time.Second || bare != 0 {
		t.Errorf("%d reads, the longest lag %d, %d without a stamp", lag.Lag().Reads, lag.Lag().Max, bare)
	}
	if lag, _ := w.take(); lag.Lag().Reads != 0 {
		t.Errorf("%d reads are counted twice", lag.Lag().Reads)
	}
}
