package transport

import (
	"net"
	"net/http/httptrace"
	"testing"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// net/http releases a connection at the end of an answer, before it reports that:
// another request may have been written by then.
func TestASentInstantIsOfItsOwnRequest(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	conn := NewConn(near, clock.New())
	c := New(Config{NetHTTP: true})
	defer c.Close()
	for _, answered := range []bool{true, false} {
		s := &stdExchange{exchange: newExchange(c, nil)}
		s.left.Store(Never)
		s.first.Store(Never)
		hooks := s.hooks()
		hooks.GotConn(httptrace.GotConnInfo{Conn: conn})
		conn.leaving()
		sent := conn.Sent()
		hooks.WroteHeaders()
		if answered {
			hooks.GotFirstResponseByte()
			conn.Arm() // for the next one
		}
		s.settle()
		if s.Sent != sent || sent == Never {
			t.Errorf("answered %v: sent at %d, want %d", answered, s.Sent, sent)
		}
	}
}
