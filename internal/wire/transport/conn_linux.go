//go:build linux && (amd64 || arm64)

package transport

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A rawConn is the socket under a Conn.
//
// It reads with recvmsg, which returns the kernel's timestamp and the number of
// bytes left in the socket. It uses raw system calls: the runtime's wrappers would
// wake its monitor thread after each idle moment, which costs more than the read.
// Raw calls never block here, since the runtime's sockets do not.
type rawConn struct {
	rc syscall.RawConn // nil: no timestamps

	// The state of the call in progress, kept here so that no call allocates.
	read, write func(fd uintptr) bool
	in, out     []byte
	n           int
	written     int
	err, werr   error
	pieces      func(fd uintptr) bool
	take        func(p []byte, s Stamp) (more bool)
	left        int // in the socket after the latest read, -1 if unknown
	// drainedAt is the instant of a read that emptied the socket and was not followed
	// by one that found it empty: see readPieces. 0 if there is none.
	drainedAt atomic.Int64
}

// Control messages in Linux's layout on 64 bits.
const (
	cmsgHeader = 16
	cmsgStamp  = cmsgHeader + 16 // seconds and nanoseconds
	cmsgInq    = cmsgHeader + 4
	tcpInq     = 36 // TCP_INQ, TCP_CM_INQ
)

// open requests timestamps; a socket that does not support them is left alone.
func (r *rawConn) open(sc syscall.Conn) {
	rc, err := sc.SyscallConn()
	if err != nil {
		return
	}
	var refused error
	err = rc.Control(func(fd uintptr) {
		if refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); refused == nil {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, tcpInq, 1)
		}
	})
	if err == nil && refused == nil {
		r.rc = rc
	}
}

func (r *rawConn) stamps() bool { return r.rc != nil }

// holdStamping keeps timestamping enabled in the kernel until release. The first
// socket that requests timestamps enables it, which may take milliseconds, and the
// last one disables it.
func holdStamping() (release func()) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return func() {}
	}
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	return sync.OnceFunc(func() { _ = unix.Close(fd) })
}

// A message holds the arguments and results of a recvmsg.
type message struct {
	header unix.Msghdr
	vector unix.Iovec
	space  [64]byte // for the control messages
}

var messages = sync.Pool{New: func() any { return new(message) }}

// receive makes one recvmsg.
func (m *message) receive(fd uintptr, p []byte) (int, syscall.Errno) {
	m.vector.Base = &p[0]
	m.vector.SetLen(len(p))
	m.header = unix.Msghdr{Iov: &m.vector, Iovlen: 1, Control: &m.space[0]}
	m.header.SetControllen(len(m.space))
	for {
		n, _, errno := syscall.RawSyscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&m.header)), unix.MSG_DONTWAIT)
		if errno != syscall.EINTR {
			return int(n), errno
		}
	}
}

// control reads the control messages of the latest receive: the kernel's timestamp
// in wall clock nanoseconds, 0 if there is none, and the number of bytes left in
// the socket, -1 if unknown.
func (m *message) control() (wall int64, left int) {
	left = -1
	b := m.space[:min(m.header.Controllen, uint64(len(m.space)))]
	for len(b) >= cmsgHeader {
		size := binary.LittleEndian.Uint64(b)
		if size < cmsgHeader || size > uint64(len(b)) {
			break
		}
		level, kind := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
		switch {
		case level == unix.SOL_SOCKET && kind == unix.SO_TIMESTAMPNS && size == cmsgStamp:
			wall = int64(binary.LittleEndian.Uint64(b[16:]))*1e9 + int64(binary.LittleEndian.Uint64(b[24:]))
		case level == unix.IPPROTO_TCP && kind == tcpInq && size == cmsgInq:
			left = int(int32(binary.LittleEndian.Uint32(b[16:])))
		}
		b = b[min((size+7)&^7, uint64(len(b))):]
	}
	return wall, left
}

// readStamped is Read with recvmsg.
func (c *Conn) readStamped(p []byte) (int, error) {
	r := &c.raw
	if r.read == nil {
		r.read = c.readOnce
	}
	r.in, r.n, r.err = p, 0, nil
	err := r.rc.Read(r.read)
	r.in = nil
	if err == nil {
		err = r.err
	}
	return r.n, err
}

// readOnce makes one attempt to read and reports whether it finished.
func (c *Conn) readOnce(fd uintptr) bool {
	r := &c.raw
	m := messages.Get().(*message)
	defer messages.Put(m)
	before := c.clock.Now()
	n, errno := m.receive(fd, r.in)
	if errno == syscall.EAGAIN {
		return false
	}
	r.n, r.err = c.took(m, before, n, errno, len(r.in))
	return true
}

// took converts the result of a receive, begun at before, to bytes with a stamp, or
// an error.
func (c *Conn) took(m *message, before int64, n int, errno syscall.Errno, room int) (int, error) {
	switch {
	case errno != 0:
		return 0, c.failed("read", errno)
	case n == 0:
		return 0, io.EOF
	}
	var wall int64
	wall, c.raw.left = m.control()
	c.note(before, wall, n, c.raw.left == 0 || n < room)
	return n, nil
}

func (c *Conn) failed(op string, errno syscall.Errno) error {
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: errno}
}

// receiveAll reads until take wants no more, or the data ends.
func (c *Conn) receiveAll(take func(p []byte, s Stamp) (more bool)) error {
	r := &c.raw
	if !r.stamps() {
		return receiveFrom(c, c, take)
	}
	if r.pieces == nil {
		r.pieces = c.readPieces
	}
	r.take, r.err = take, nil
	err := r.rc.Read(r.pieces)
	if isTimeout(err) { // the data that came with the last bytes may not have been seen
		over := false
		if refused := r.rc.Control(func(fd uintptr) { over = c.readPieces(fd) }); over && refused == nil {
			err = nil
		}
	}
	r.take = nil
	if err == nil {
		err = r.err
	}
	return err
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// readPieces reads the available data and passes it on, on a readStack.
func (c *Conn) readPieces(fd uintptr) bool {
	s := takeReadStack()
	over := s.serve(c, fd)
	s.leave()
	return over
}

// readAt reads the available data and passes it on.
//
// The runtime wakes a reader for new data, not for data already there, so a reader
// has to continue until there is none. With each read the kernel reports how much
// is left, including an end of the stream, which saves the read that would find
// nothing. It does not report a connection that was reset together with the last
// bytes: the sweep finds those.
func (c *Conn) readAt(s *readStack, fd uintptr) (over bool) {
	r := &c.raw
	for {
		before := c.clock.Now()
		n, errno := s.receive(fd, s.buf[:])
		if errno == syscall.EAGAIN {
			return false
		}
		if n, r.err = c.took(&s.message, before, n, errno, len(s.buf)); r.err != nil || !r.take(s.buf[:n], c.last) {
			return true
		}
		if r.left == 0 {
			r.drainedAt.Store(c.last.User)
			return false
		}
	}
}

// check wakes the reader of a connection that ended without notice.
func (c *Conn) check(p *probe, now int64) {
	drainedAt := c.raw.drainedAt.Load()
	if drainedAt == 0 || now-drainedAt < int64(quietPeriod) || !c.raw.drainedAt.CompareAndSwap(drainedAt, 0) {
		return
	}
	if err := c.raw.rc.Control(p.ask); err != nil || p.gone {
		_ = c.SetReadDeadline(time.Unix(1, 0))
	}
}

// A probe checks whether a socket has been reset, without consuming the error. It
// is reused, so checking does not allocate.
type probe struct {
	poll [1]unix.PollFd
	gone bool
	ask  func(fd uintptr)
}

func newProbe() *probe {
	p := new(probe)
	p.ask = func(fd uintptr) {
		p.poll[0] = unix.PollFd{Fd: int32(fd)}
		n, err := unix.Poll(p.poll[:], 0)
		p.gone = err == nil && n > 0 && p.poll[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	}
	return p
}

// writeStamped is Write with a timestamp taken just before the system call.
func (c *Conn) writeStamped(p []byte) (int, error) {
	r := &c.raw
	if r.write == nil {
		r.write = c.writeOnce
	}
	r.out, r.written, r.werr = p, 0, nil
	err := r.rc.Write(r.write)
	r.out = nil
	if err == nil {
		err = r.werr
	}
	return r.written, err
}

// writeOnce writes as much as the socket takes and reports whether that was all.
func (c *Conn) writeOnce(fd uintptr) bool {
	r := &c.raw
	for r.written < len(r.out) {
		rest := r.out[r.written:]
		c.leaving()
		n, _, errno := syscall.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&rest[0])), uintptr(len(rest)))
		switch errno {
		case 0:
			r.written += int(n)
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			r.werr = c.failed("write", errno)
			return true
		}
	}
	return true
}

// States of a connection, as in TCP_INFO.
const (
	tcpClose     = 7
	tcpCloseWait = 8
)

// gone reports whether the connection is in one of these states.
func (c *Conn) gone(states ...uint8) bool {
	is := false
	err := c.raw.rc.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		is = err == nil && slices.Contains(states, info.State)
	})
	return err != nil || is
}

// stale reports whether an idle connection cannot be used: its peer has closed or
// reset it, or sent unexpected data. TLS may send data of its own.
func (c *Conn) stale(secure bool) bool {
	if !c.raw.stamps() {
		return false
	}
	if secure {
		return c.gone(tcpClose, tcpCloseWait)
	}
	quiet := false
	err := c.raw.rc.Control(func(fd uintptr) {
		var b [1]byte
		_, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b[0])), 1, unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
		quiet = errno == syscall.EAGAIN
	})
	return err != nil || !quiet
}

// together compares the kernel's count of segments with that of the reads. If
// nothing is left in the socket it synchronizes the two. The segments of a read are those
// that the reads before it do not account for.
func (c *Conn) together(seq uint64) (once bool, segments int) {
	var info *unix.TCPInfo
	left := -1
	err := c.raw.rc.Control(func(fd uintptr) {
		var err error
		if info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err != nil {
			info = nil
		}
		if n, err := unix.IoctlGetInt(int(fd), unix.SIOCINQ); err == nil {
			left = n
		}
	})
	if err != nil || info == nil {
		return false, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &c.pieces
	if c.last.Seq == seq {
		came := info.Data_segs_in - p.base
		once = c.last.Drained && came <= p.read
		segments = int(p.last) + max(0, int(came)-int(p.read))
	}
	p.size = int(info.Advmss)
	if left == 0 {
		p.base, p.read = info.Data_segs_in, 0
	}
	return once, segments
}
