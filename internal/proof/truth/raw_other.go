//go:build !linux

package truth

import (
	"errors"
	"net"
)

// A rawSocket is for systems whose system calls are known here.
type rawSocket struct{}

// newRawSocket is nil: streams are written one goroutine each.
func newRawSocket(net.Conn) *rawSocket { return nil }

func (*rawSocket) write([]byte) (int, error) { return 0, errors.ErrUnsupported }

func keepStamping(net.Listener) {}
