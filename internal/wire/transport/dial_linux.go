//go:build linux && (amd64 || arm64)

package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An address is that of a server in digits, ready for the kernel.
//
// Such a server needs no net.Dialer: its connection belongs to a poller from the beginning. A Dialer leaves some 2 kB
// of garbage, and a goroutine of its own, for each of the streams that begin together, and no collection comes
// while they last.
type address struct {
	tcp    *net.TCPAddr
	family int
	raw    [unix.SizeofSockaddrInet6]byte // what connect takes, size bytes
	size   int
}

// newAddress returns nil for an address that net has to look up or to interpret.
func newAddress(digits string) *address {
	at, err := netip.ParseAddrPort(digits)
	if err != nil || at.Addr().IsUnspecified() || at.Addr().Zone() != "" {
		return nil
	}
	a := &address{tcp: net.TCPAddrFromAddrPort(at), family: unix.AF_INET6, size: unix.SizeofSockaddrInet6}
	ip := at.Addr().Unmap()
	where := a.raw[8:] // behind family, port and flow
	if ip.Is4() {
		a.family, a.size, where = unix.AF_INET, unix.SizeofSockaddrInet4, a.raw[4:]
	}
	binary.NativeEndian.PutUint16(a.raw[:], uint16(a.family))
	binary.BigEndian.PutUint16(a.raw[2:], at.Port())
	copy(where, ip.AsSlice())
	return a
}

// connect begins to connect a socket, or asks what became of that: 0 says that it is connected, and EINPROGRESS or
// EALREADY that it will take a while.
func (a *address) connect(fd int) syscall.Errno {
	for {
		_, _, errno := syscall.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&a.raw)), uintptr(a.size))
		if errno != syscall.EINTR {
			return errno
		}
	}
}

// is reports whether a socket has this address: to a port without a listener it may have connected to itself.
func (a *address) is(fd int) bool {
	var own [unix.SizeofSockaddrInet6]byte
	size := uint32(len(own))
	_, _, errno := syscall.RawSyscall(unix.SYS_GETSOCKNAME, uintptr(fd), uintptr(unsafe.Pointer(&own)),
		uintptr(unsafe.Pointer(&size)))
	return errno == 0 && own == a.raw
}

func (a *address) failed(call string, errno error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: a.tcp, Err: os.NewSyscallError(call, errno)}
}

// Of connections that only wait, as net.Dialer sets them: probes tell whether the peer is there.
const (
	probeAfter = 15 // seconds
	probes     = 9
)

// socket makes a socket that timestamps received data; ok is false if it cannot.
func (a *address) socket() (fd int, ok bool) {
	fd, err := unix.Socket(a.family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, false
	}
	if stamping(fd) != nil {
		_ = unix.Close(fd)
		return -1, false
	}
	for _, o := range [...]struct {
		level, name int
		value       int32
	}{
		{unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, probeAfter},
		{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, probeAfter},
		{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, probes},
	} {
		_ = setOption(fd, o.level, o.name, o.value)
	}
	return fd, true
}

// dial opens a connection that a poller has; within makes the context of a wait, if there is one. Without a poller
// that could take it, both results are nil.
func (a *pollers) dial(within func() (ctx context.Context, done func()), to *address) (c *Conn, err error) {
	const tries = 3 // as net.Dialer
	for range tries {
		c, err = a.dialOnce(within, to)
		switch {
		case c != nil && to.is(c.raw.fd):
			_ = c.Close()
			c, err = nil, to.failed("connect", unix.EADDRNOTAVAIL)
		case !errors.Is(err, unix.EADDRNOTAVAIL):
			return c, err
		}
	}
	return nil, err
}

func (a *pollers) dialOnce(within func() (context.Context, func()), to *address) (*Conn, error) {
	p := a.next()
	if p == nil {
		return nil, nil
	}
	var err error
	fd, ok := to.socket()
	if ok {
		if err = a.connect(within, fd, to); err == nil {
			c := &Conn{clock: a.clock, meter: p.meter, emptied: a.clock.Now()}
			c.sent.Store(Never)
			if c.raw.peer = to.tcp; a.register(c, p, fd) == nil {
				return c, nil
			}
		}
		_ = unix.Close(fd)
	}
	p.closeIfUnused()
	return nil, err
}

// connect connects a socket.
func (a *pollers) connect(within func() (context.Context, func()), fd int, to *address) (err error) {
	errno := to.connect(fd)
	if errno == syscall.EINPROGRESS {
		errno = to.connect(fd) // within a machine it is done by now
	}
	if errno == syscall.EALREADY {
		ctx, done := within()
		defer done()
		if errno, err = a.connected(ctx, fd, to); err != nil {
			return err
		}
	}
	if errno != 0 {
		return to.failed("connect", errno)
	}
	return nil
}

// connected waits until a socket is connected, or cannot be. A poller that has no streams, and so never sleeps,
// tells when.
func (a *pollers) connected(ctx context.Context, fd int, to *address) (syscall.Errno, error) {
	p, err := a.forConnects()
	if err != nil {
		return 0, err
	}
	defer p.closeIfUnused()
	c := new(Conn) // late events are of this one, and not of what the socket is for
	if err := a.register(c, p, fd); err != nil {
		return 0, err
	}
	defer func() {
		_ = c.watch(unix.EPOLL_CTL_DEL, 0)
		a.table.set(fd, nil)
	}()
	for {
		ready, err := p.wait(c, true)
		if err != nil {
			return 0, err
		}
		select {
		case <-ready:
		case <-ctx.Done():
			p.ready(c)
			return 0, context.Cause(ctx)
		}
		if errno := to.connect(fd); errno != syscall.EALREADY {
			return errno, nil
		}
	}
}

// forConnects is the poller of sockets that are being connected, and counts another one of them.
func (a *pollers) forConnects() (p *poller, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, net.ErrClosed
	}
	if a.connects == nil {
		if a.connects, err = a.start(nil); err != nil {
			return nil, err
		}
	}
	a.connects.conns.Add(1)
	return a.connects, nil
}
