//go:build linux && (amd64 || arm64)

package transport

import (
	"encoding/binary"
	"io"
	"net"
	"os"
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
	// Of a connection that a poller has.
	poller  *poller
	taker   consumer
	layer   io.Reader   // on top of the connection; nil: none
	fd      int         // the poller's descriptor of the socket
	serial  int32       // in its events
	left    int         // in the socket after the latest read, -1 if unknown
	reading atomic.Bool // an exchange is on its way
	missed  atomic.Bool // an event came while there was none
	ending  bool        // an event reported its end
	dry     bool        // there is nothing to read until an event comes
	again   bool        // the poller will read more without an event
	asked   bool        // in how many segments a read of the exchange came
	hot     [2]Span     // what a read of the exchange needs
	warm    Warm        // its receiver; nil: not warm

	began          int64          // when the exchange did
	output         int64          // the stamp of its latest read with output; 0: none had any
	over           sync.WaitGroup // the exchange, for the one that waits for it
	end            error          // how it ended
	closed         atomic.Bool
	readBy, sendBy atomic.Int64 // deadlines, in nanoseconds since 1970; 0: none
	peer           *net.TCPAddr

	calls *calls // of the runtime's descriptor; nil: no timestamps, or a poller has it
}

// calls are those to the descriptor of a connection that the runtime has.
type calls struct {
	rc          syscall.RawConn
	read, write call
}

// A call holds its state while it is in progress, so that none allocates.
type call struct {
	try   func(fd uintptr) (done bool)
	bytes []byte
	n     int
	err   error
}

// do has the runtime make the call with bytes whenever the socket is ready for it, until it is done.
func (k *call) do(ready func(try func(fd uintptr) bool) error, bytes []byte) (int, error) {
	k.bytes, k.n, k.err = bytes, 0, nil
	err := ready(k.try)
	k.bytes = nil
	if err == nil {
		err = k.err
	}
	return k.n, err
}

// warmUp fetches what the next read of a warm receiver needs.
func (r *rawConn) warmUp() {
	if r.warm != nil {
		r.warm.Prefetch()
	}
}

// alone reports whether bytes are passed on before other connections are read. A layer reads by itself; and the number
// of segments of a read is only known until the next one arrives.
func (r *rawConn) alone() bool { return r.layer != nil || r.asked }

// Control messages in Linux's layout on 64 bits.
const (
	cmsgHeader = 16
	cmsgStamp  = cmsgHeader + 16 // seconds and nanoseconds
	cmsgInq    = cmsgHeader + 4
	tcpInq     = 36 // TCP_INQ, TCP_CM_INQ
)

// open requests timestamps; a socket that does not support them is left alone.
func (c *Conn) open(sc syscall.Conn) {
	rc, err := sc.SyscallConn()
	if err != nil {
		return
	}
	var refused error
	err = rc.Control(func(fd uintptr) { refused = stamping(int(fd)) })
	if err == nil && refused == nil {
		c.raw.calls = &calls{rc: rc, read: call{try: c.readOnce}, write: call{try: c.writeOnce}}
	}
}

// stamping makes a socket timestamp received data.
func stamping(fd int) error {
	err := setOption(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	if err == nil {
		_ = setOption(fd, unix.IPPROTO_TCP, tcpInq, 1)
	}
	return err
}

// setOption and tcpInfo are raw calls, as those that read.
func setOption(fd, level, name int, value int32) error {
	_, _, errno := syscall.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), uintptr(level), uintptr(name),
		uintptr(unsafe.Pointer(&value)), unsafe.Sizeof(value), 0)
	if errno != 0 {
		return os.NewSyscallError("setsockopt", errno)
	}
	return nil
}

func tcpInfo(fd uintptr, info *unix.TCPInfo) (ok bool) {
	size := uint32(unsafe.Sizeof(*info))
	_, _, errno := syscall.RawSyscall6(unix.SYS_GETSOCKOPT, fd, unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(info)), uintptr(unsafe.Pointer(&size)), 0)
	return errno == 0
}

func (r *rawConn) stamps() bool { return r.calls != nil || r.poller != nil }

// control calls f with the descriptor.
func (r *rawConn) control(f func(fd uintptr)) error {
	switch {
	case r.closed.Load():
		return net.ErrClosed
	case r.poller != nil:
		f(uintptr(r.fd))
		return nil
	}
	return r.calls.rc.Control(f)
}

// await waits until the socket may be ready for what a deadline is for.
func (c *Conn) await(by *atomic.Int64) error {
	switch {
	case c.raw.closed.Load():
		return net.ErrClosed
	case passed(by):
		return os.ErrDeadlineExceeded
	}
	return c.raw.poller.await(c, by)
}

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
	switch {
	case r.closed.Load():
		return 0, net.ErrClosed
	case r.poller == nil:
		return r.calls.read.do(r.calls.rc.Read, p)
	case r.reading.Load(): // it is the poller that reads, from a layer on top
		return r.poller.socket(c, p)
	}
	for {
		n, done, err := c.tryRead(uintptr(r.fd), p)
		if done {
			return n, err
		}
		if err := c.await(&r.readBy); err != nil {
			return 0, err
		}
	}
}

// readOnce makes one attempt to read and reports whether it finished.
func (c *Conn) readOnce(fd uintptr) (done bool) {
	k := &c.raw.calls.read
	k.n, done, k.err = c.tryRead(fd, k.bytes)
	return done
}

// tryRead makes one attempt to read; done is false if there was nothing.
func (c *Conn) tryRead(fd uintptr, p []byte) (n int, done bool, err error) {
	m := messages.Get().(*message)
	defer messages.Put(m)
	before := c.clock.Now()
	n, errno := m.receive(fd, p)
	if errno == syscall.EAGAIN {
		return 0, false, nil
	}
	n, err = c.took(m, before, n, errno, len(p))
	return n, true, err
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

// begin has the poller pass the bytes that it reads to a taker, from now on. A layer, such as TLS, is read in place of
// the connection.
// It reports false if there is no poller.
func (c *Conn) begin(layer io.Reader, to consumer) bool {
	if c.raw.poller == nil {
		return false
	}
	if p, ok := to.(*response); ok {
		c.raw.hot[0] = SpanOf(&p.x.hotExchange)
		if c.raw.warm, ok = p.x.r.(Warm); ok {
			c.raw.hot[1] = c.raw.warm.Hot()
		}
	}
	if layer != nil {
		c.raw.layer = layer
	}
	c.raw.taker, c.raw.asked, c.raw.output = to, false, 0
	c.raw.poller.begin(c)
	return true
}

// finish waits until the taker wants no more, or the data ends.
func (c *Conn) finish() error {
	c.raw.over.Wait()
	err := c.raw.end
	c.raw.taker, c.raw.warm, c.raw.hot, c.raw.end = nil, nil, [2]Span{}, nil
	if c.raw.layer != nil { // another goroutine may write where there is none
		c.raw.layer = nil
	}
	return err
}

// LocalAddr implements net.Conn. A poller's connection has none once it is closed.
func (c *Conn) LocalAddr() net.Addr {
	if c.raw.poller == nil {
		return c.Conn.LocalAddr()
	}
	var at unix.Sockaddr
	if err := c.raw.control(func(fd uintptr) { at, _ = unix.Getsockname(int(fd)) }); err != nil {
		return nil
	}
	switch at := at.(type) {
	case *unix.SockaddrInet4:
		return &net.TCPAddr{IP: at.Addr[:], Port: at.Port}
	case *unix.SockaddrInet6:
		return &net.TCPAddr{IP: at.Addr[:], Port: at.Port}
	}
	return nil
}

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr {
	if c.raw.poller == nil {
		return c.Conn.RemoteAddr()
	}
	return c.raw.peer
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	r := &c.raw
	if r.poller == nil {
		return c.Conn.Close()
	}
	p := r.poller
	p.mu.Lock() // the epoll is never asked for a closed descriptor
	if !r.closed.CompareAndSwap(false, true) {
		p.mu.Unlock()
		return net.ErrClosed
	}
	p.all.table.set(r.fd, nil)
	err := unix.Close(r.fd)
	p.release(c)
	p.mu.Unlock()
	p.closeIfUnused()
	return os.NewSyscallError("close", err)
}

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	err := c.SetWriteDeadline(t)
	if err == nil {
		err = c.SetReadDeadline(t)
	}
	return err
}

// SetReadDeadline implements net.Conn. While a poller reads, only a deadline that has passed has an effect.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if c.raw.poller == nil {
		return c.Conn.SetReadDeadline(t)
	}
	return c.setDeadline(&c.raw.readBy, t)
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	if c.raw.poller == nil {
		return c.Conn.SetWriteDeadline(t)
	}
	return c.setDeadline(&c.raw.sendBy, t)
}

func (c *Conn) setDeadline(by *atomic.Int64, t time.Time) error {
	at := int64(0)
	if !t.IsZero() {
		at = max(1, t.UnixNano())
	}
	by.Store(at)
	c.raw.poller.ready(c)
	if by == &c.raw.readBy && passed(by) {
		c.raw.poller.ask(c)
	}
	return nil
}

// writeStamped is Write with a timestamp taken just before the system call.
func (c *Conn) writeStamped(p []byte) (written int, err error) {
	r := &c.raw
	switch {
	case r.closed.Load():
		return 0, net.ErrClosed
	case r.poller == nil:
		return r.calls.write.do(r.calls.rc.Write, p)
	}
	for {
		n, done, err := c.tryWrite(uintptr(r.fd), p[written:])
		if written += n; done {
			return written, err
		}
		if r.layer != nil { // it is the poller that writes, for the layer
			return written, c.failed("write", syscall.EAGAIN)
		}
		if err := c.await(&r.sendBy); err != nil {
			return written, err
		}
	}
}

// writeOnce writes as much as the socket takes and reports whether that was all.
func (c *Conn) writeOnce(fd uintptr) (done bool) {
	k := &c.raw.calls.write
	n, done, err := c.tryWrite(fd, k.bytes[k.n:])
	k.n, k.err = k.n+n, err
	return done
}

// tryWrite writes as much as the socket takes; done is false if there was more.
func (c *Conn) tryWrite(fd uintptr, p []byte) (written int, done bool, err error) {
	for written < len(p) {
		rest := p[written:]
		c.leaving()
		n, _, errno := syscall.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&rest[0])), uintptr(len(rest)))
		switch errno {
		case 0:
			written += int(n)
		case syscall.EINTR:
		case syscall.EAGAIN:
			return written, false, nil
		default:
			return written, true, c.failed("write", errno)
		}
	}
	return written, true, nil
}

// States of a connection, as in TCP_INFO.
const (
	tcpClose     = 7
	tcpCloseWait = 8
)

// gone reports whether the connection is in one of these states.
func (c *Conn) gone(states ...uint8) bool {
	is := false
	err := c.raw.control(func(fd uintptr) {
		var info unix.TCPInfo
		is = tcpInfo(fd, &info) && slices.Contains(states, info.State)
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
	if c.raw.poller != nil { // without a function, which would allocate
		return c.raw.closed.Load() || !quiet(uintptr(c.raw.fd))
	}
	is := false
	err := c.raw.control(func(fd uintptr) { is = quiet(fd) })
	return err != nil || !is
}

// quiet reports whether a socket is open and has nothing to read.
func quiet(fd uintptr) bool {
	var b [1]byte
	_, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&b[0])), 1,
		unix.MSG_PEEK|unix.MSG_DONTWAIT, 0, 0)
	return errno == syscall.EAGAIN
}

// coalesced compares the kernel's count of segments with that of the reads. If
// nothing is left in the socket it synchronizes the two. The segments of a read are those
// that the reads before it do not account for.
func (c *Conn) coalesced(seq uint64) (once bool, segments int) {
	var info unix.TCPInfo
	known, left := false, int32(-1)
	err := c.raw.control(func(fd uintptr) {
		known = tcpInfo(fd, &info)
		if _, _, errno := syscall.RawSyscall(unix.SYS_IOCTL, fd, unix.SIOCINQ, uintptr(unsafe.Pointer(&left))); errno != 0 {
			left = -1
		}
	})
	if err != nil || !known {
		return false, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &c.pieces
	if c.last.Seq == seq {
		came := info.Data_segs_in - p.base
		once = c.last.Drained && came <= p.read
		segments = int(p.last) + max(0, int(came)-int(p.read))
		if c.raw.reading.Load() { // it is the poller that asks
			c.raw.asked = true
			if !once && !c.raw.poller.overslept {
				c.raw.poller.pace.merged++
			}
		}
	}
	p.size = int(info.Advmss)
	if left == 0 {
		p.base, p.read = info.Data_segs_in, 0
	}
	return once, segments
}
