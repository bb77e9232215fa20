package apiserver

import (
	"crypto/tls"
	"net"
	"net/http"
	"slices"
)

// traits are the variations that apply to a response.
type traits struct {
	names []string

	comments, crlf, split, batch, noUsage, noDone, multiToken, earlyRole bool
}

// traits keeps of what was dealt the variations that mean something for req.
func (l lot) traits(req *request) traits {
	var t traits
	take := func(name string, applies bool) bool {
		if !applies || !slices.Contains(l.variations, name) {
			return false
		}
		t.names = append(t.names, name)
		return true
	}
	t.comments = take(FaultComments, req.Stream)
	t.crlf = take(FaultCRLF, req.Stream)
	t.split = take(FaultSplit, true)
	t.batch = take(FaultBatch, req.Stream)
	t.noUsage = take(FaultNoUsage, req.Usage || !req.Stream && req.Protocol.Counts)
	t.noDone = take(FaultNoDone, req.Stream && req.Protocol.Marked)
	t.multiToken = take(FaultMultiToken, req.Stream && !req.Protocol.Single)
	t.earlyRole = take(FaultEarlyRole, req.Stream && req.Protocol.Roles)
	return t
}

// is tells whether the fatal fault dealt has this name.
func (l lot) is(name string) bool { return l.fatal != nil && l.fatal.Name == name }

// status is the HTTP status of a fault that refuses the request, or 0.
func (l lot) status() int {
	switch {
	case l.is(FaultHTTP429):
		return http.StatusTooManyRequests
	case l.is(FaultHTTP500):
		return http.StatusInternalServerError
	case l.is(FaultHTTP503):
		return http.StatusServiceUnavailable
	}
	return 0
}

// unfinished tells whether the fatal fault ends the response early.
func (l lot) unfinished() bool { return l.fatal != nil && l.fatal.Name != FaultMalformed }

// struck notes that the fatal fault has taken effect.
func (x *exchange) struck() { x.rec.Faults = append(x.rec.Faults, x.lot.fatal.Name) }

// strike ends a response in the way of the fatal fault; rest is what would
// have been written next. Truncation has nothing left to do here: the caller
// stops writing, and the response ends as a complete one would.
func (x *exchange) strike(rest []byte) error {
	x.struck()
	switch x.lot.fatal.Name {
	case FaultReset:
		return x.reset()
	case FaultStall:
		if err := x.idle(x.s.cfg.StallLimit); err != nil {
			return err
		}
		return errAbort
	case FaultCut:
		if err := x.flush(rest[:len(rest)/2], 0, 0); err != nil {
			return err
		}
		return errAbort
	}
	return nil
}

// reset closes the connection with a TCP RST. In HTTP/2, where the connection
// carries other requests too, the stream is reset instead.
func (x *exchange) reset() error {
	conn, _, err := x.rc.Hijack()
	if err != nil {
		return errAbort
	}
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	// With nothing to linger for, the kernel drops what it has not sent and
	// answers with RST. Other connections just close.
	if t, ok := conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = conn.Close()
	return nil
}
