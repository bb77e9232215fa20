//go:build !linux || !(amd64 || arm64)

package transport

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// A rawConn has no timestamps on this system.
type rawConn struct{}

func (rawConn) open(syscall.Conn) {}
func (rawConn) stamps() bool      { return false }

func holdStamping() (release func()) { return func() {} }

func (c *Conn) readStamped(p []byte) (int, error)  { return c.Conn.Read(p) }
func (c *Conn) writeStamped(p []byte) (int, error) { return c.Conn.Write(p) }

// receiveAll reads until take wants no more, or the data ends.
func (c *Conn) receiveAll(take func(p []byte, s Stamp) (more bool)) error {
	return receiveFrom(c, c, take)
}

// check is not needed: every read is retried until there is nothing.
func (c *Conn) check(*probe, int64) {}

type probe struct{}

func newProbe() *probe { return nil }

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

// together is unknown here.
func (c *Conn) together(uint64) (once bool, segments int) { return false, 0 }
