package apiserver

import (
	"crypto/tls"
	"net"
	"slices"
)

// traits are the variations that apply to a response.
type traits []string

func (t traits) have(name string) bool { return slices.Contains(t, name) }

// traits keeps of what was dealt the variations that mean something for req.
func (l drawnFaults) traits(req *request) (t traits) {
	for _, v := range []struct {
		name    string
		applies bool
	}{
		{FaultComments, req.Stream},
		{FaultCRLF, req.Stream},
		{FaultSplit, true},
		{FaultBatch, req.Stream},
		{FaultNoUsage, req.Usage || !req.Stream && req.Protocol.Counts},
		{FaultNoDone, req.Stream && req.Protocol.Marked},
		{FaultMultiToken, req.Stream && !req.Protocol.Single},
		{FaultEarlyRole, req.Stream && req.Protocol.Roles},
	} {
		if v.applies && slices.Contains(l.variations, v.name) {
			t = append(t, v.name)
		}
	}
	return t
}

// is tells whether the fatal fault dealt has this name.
func (l drawnFaults) is(name string) bool { return l.fatal != nil && l.fatal.Name == name }

// status is the HTTP status of a fault that refuses the request, or 0.
func (l drawnFaults) status() int {
	if l.fatal == nil {
		return 0
	}
	k, _ := kindOf(l.fatal.Name)
	return k.status
}

// unfinished tells whether the fatal fault ends the response early.
func (l drawnFaults) unfinished() bool { return l.fatal != nil && l.fatal.Name != FaultMalformed }

// struck notes that the fatal fault has taken effect.
func (x *exchange) struck() { x.rec.Faults = append(x.rec.Faults, x.faults.fatal.Name) }

// strike ends a response in the way of the fatal fault; rest is what would
// have been written next. Truncation has nothing left to do here: the caller
// stops writing, and the response ends as a complete one would.
func (x *exchange) strike(rest []byte) error {
	x.struck()
	switch x.faults.fatal.Name {
	case FaultReset:
		return x.reset()
	case FaultStall:
		if !pause(x.s.cfg.StallLimit, x.r.Context().Done()) {
			return errGone
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
	// With a linger time of 0 the kernel drops unsent data and answers with RST. Other connections
	// just close.
	if t, ok := conn.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = conn.Close()
	return nil
}
