package cli

import (
	"net"
	"sync"
	"sync/atomic"
)

// mostConnections are served at a time. Each takes a file descriptor that the run may need.
const mostConnections = 16

// A bounded listener closes connections beyond mostConnections at once.
type bounded struct {
	net.Listener
	open atomic.Int64
}

// Accept returns the next connection that there is room for.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if b.open.Add(1) <= mostConnections {
			return &countedMetric{Conn: c, closed: sync.OnceFunc(func() { b.open.Add(-1) })}, nil
		}
		b.open.Add(-1)
		_ = c.Close()
	}
}

// A countedMetric is a connection that makes room when it is closed.
type countedMetric struct {
	net.Conn
	closed func()
}

func (c *countedMetric) Close() error {
	defer c.closed()
	return c.Conn.Close()
}
