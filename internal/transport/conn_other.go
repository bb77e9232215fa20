//go:build !linux || !(amd64 || arm64)

package transport

import "syscall"

// A rawConn gives no stamps on this system.
type rawConn struct{}

func (rawConn) open(syscall.Conn) {}
func (rawConn) stamps() bool      { return false }

func holdStamping() (release func()) { return func() {} }

func (c *Conn) readStamped(p []byte) (int, error)  { return c.Conn.Read(p) }
func (c *Conn) writeStamped(p []byte) (int, error) { return c.Conn.Write(p) }

// receiveAll reads until take wants no more, or there is no more.
func (c *Conn) receiveAll(take func(p []byte, s Stamp) (more bool)) error {
	return receiveFrom(c, c, take)
}

// check is not needed: every read is tried until there is nothing.
func (c *Conn) check(int64) {}

// stale is not known here; a write will tell.
func (c *Conn) stale(bool) bool { return false }
