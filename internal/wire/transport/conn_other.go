//go:build !linux || !(amd64 || arm64)

package transport

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// A rawConn has no timestamps on this system.
type rawConn struct{}

func (rawConn) stamps() bool    { return false }
func (*Conn) open(syscall.Conn) {}

func holdStamping() (release func()) { return func() {} }

func (c *Conn) readStamped(p []byte) (int, error)  { return c.Conn.Read(p) }
func (c *Conn) writeStamped(p []byte) (int, error) { return c.Conn.Write(p) }

// pollers are only on Linux.
type pollers struct {
	watch   *watch
	clock   *clock.Clock
	patient atomic.Bool
	lazy    bool
}

func (*pollers) adopt(*Conn, bool) {}
func (*pollers) close()            {}

func (*pollers) dial(func() (context.Context, func()), *address) (*Conn, error) { return nil, nil }

// No server has an address here: net.Dialer opens all connections.
type address struct{}

func newAddress(string) *address { return nil }

func (c *Conn) begin(io.Reader, consumer) bool { return false }
func (c *Conn) finish() error                  { return nil }

// stale reports whether an idle connection cannot be used: its peer has closed or
// reset it, or sent unexpected data. TLS may send data of its own, which cannot be
// checked here.
func (c *Conn) stale(secure bool) bool {
	sc, ok := c.Conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return true
	}
	n, peeked := 0, error(nil)
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, peeked = unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	quiet := errors.Is(peeked, unix.EAGAIN) || n > 0 && secure
	return err != nil || !quiet
}

// coalesced is unknown here.
func (c *Conn) coalesced(uint64) (once bool, segments int) { return false, 0 }
