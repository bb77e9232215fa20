package truth

import (
	"net"
	"syscall"
	"unsafe"
)

// A rawSocket writes without waiting and without telling the scheduler of
// goroutines, which would cost as much as a small write: the system call is
// known to return at once.
type rawSocket struct {
	conn syscall.RawConn
	call func(fd uintptr) bool // bound once, so that a write allocates nothing
	p    []byte
	n    int
	err  error
}

// newRawSocket is nil where conn is no socket of the kernel's.
func newRawSocket(conn net.Conn) *rawSocket {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	s := &rawSocket{conn: raw}
	s.call = s.send
	return s
}

// write writes as much of p as the socket has room for. One goroutine at a time
// may call it.
func (s *rawSocket) write(p []byte) (n int, err error) {
	s.p, s.n, s.err = p, 0, nil
	if err := s.conn.Write(s.call); err != nil {
		return 0, err
	}
	return s.n, s.err
}

func (s *rawSocket) send(fd uintptr) bool {
	for {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&s.p[0])), uintptr(len(s.p)),
			syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL, 0, 0)
		switch errno {
		case 0:
			s.n = int(n)
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
		default:
			s.err = errno
		}
		return true
	}
}

// keepStamping asks for receive stamps on the listener. The kernel stamps
// nothing while no socket wants it, and begins late; so the first bytes of a
// connection, which come before it is accepted, would have no stamp.
func keepStamping(l net.Listener) {
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return
	}
	if raw, err := tcp.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { // without it, requests have stamps of their reads
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
		})
	}
}
