//go:build !linux

package truth

import (
	"errors"
	"net"
)

// A rawSocket only exists on systems with known system calls.
type rawSocket struct{}

// newRawSocket is nil: streams are written one goroutine each.
func newRawSocket(net.Conn) *rawSocket { return nil }

func (*rawSocket) write([]byte) (int, error) { return 0, errors.ErrUnsupported }

func keepStamping(net.Listener) {}
