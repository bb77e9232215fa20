package transport

import (
	"context"
	"sync/atomic"
	"time"
)

// A server may close an idle connection at the very moment at which a request
// leaves on it. Such a request ends without a byte of an answer, and measures
// nothing. Whether the server has seen it is unknown: HTTP leaves it to the client
// to send it again (RFC 9112, section 9.3.1).

// closeRace is how long after a request the close of its reused connection can
// come and still count as one that was on its way. A server that takes longer had
// begun to work on the request.
const closeRace = time.Second

// Limits from which a server is taken for one that does not keep connections.
const (
	fewCloses  = 3   // such closes
	oneCloseIn = 100 // of this many reused connections
)

// reuse decides whether idle connections are used.
type reuse struct {
	taken   atomic.Int64 // requests on idle connections
	closed  atomic.Int64 // of these, closed by the server without an answer
	stopped atomic.Bool
}

// lost counts a close, and stops reuse if there were too many.
func (u *reuse) lost() {
	if n := u.closed.Add(1); n >= fewCloses && n*oneCloseIn >= u.taken.Load() {
		u.stopped.Store(true)
	}
}

// ReuseStopped reports whether every request has a new connection since the server
// closes those that it says it keeps.
func (c *Client) ReuseStopped() bool { return c.reuse.stopped.Load() }

// newOnly reports whether every request has a connection of its own.
func (c *Client) newOnly() bool { return c.cfg.NoReuse || c.reuse.stopped.Load() }

// retry uses a new connection if err is that of a reused one which the server had
// closed: the request has not left, or it ended without a byte of an answer. If
// the new one is refused, the first error stands.
func (x *exchange) retry(ctx context.Context, req *Request, err error) error {
	if x.reused && x.Sent != Never {
		x.c.reuse.taken.Add(1)
	}
	if err == nil || !x.reused || x.FirstByte != Never || x.cause(ctx) != nil || x.c.cfg.HTTP2 || !x.mayResend() {
		return err
	}
	first := x.Timing
	x.Timing, x.fresh = noTiming(), true
	x.Redials = first.Redials
	x.alive()
	second := x.run(ctx, req)
	if x.Done = x.c.Now(); x.Sent == Never {
		x.Timing = first
		return err
	}
	if first.Sent == Never {
		x.Redials++
		return second
	}
	if x.FirstSent = first.Sent; x.FirstByte != Never {
		x.c.reuse.lost()
	}
	return second
}

// mayResend reports whether a request that got no byte of an answer may leave again.
func (x *exchange) mayResend() bool {
	cfg := x.c.cfg
	switch {
	case x.Sent == Never:
		return true // it has not left yet
	case x.Done-x.Sent >= int64(closeRace), cfg.KeepReusing:
		return false
	case cfg.NoResend:
		x.c.reuse.lost()
	}
	return !cfg.NoResend
}

// spend gives the body of the request back, which will not be sent again.
func (x *exchange) spend(req *Request) {
	if !x.spent && req.Sent != nil {
		req.Sent(req.Body)
	}
	x.spent = true
}
