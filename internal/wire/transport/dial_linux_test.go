//go:build linux && (amd64 || arm64)

package transport

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// dialer returns pollers, which end with the test.
func dialer(t *testing.T) *pollers {
	t.Helper()
	all := &pollers{watch: newWatch(), clock: clock.New()}
	t.Cleanup(all.close)
	return all
}

func within(ctx context.Context) func() (context.Context, func()) {
	return func() (context.Context, func()) { return ctx, func() {} }
}

// What net.Dialer sets of a socket, a poller's connection has too.
func TestADialedConnectionIsAsNetsDialer(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
		if err != nil {
			t.Log("no", host) // a machine without IPv6
			continue
		}
		defer l.Close()
		theirs, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer theirs.Close()
		if _, err := l.Accept(); err != nil {
			t.Fatal(err)
		}
		ours, err := dialer(t).dial(within(t.Context()), newAddress(l.Addr().String()))
		if err != nil || ours == nil || ours.raw.poller == nil {
			t.Fatal(ours, err)
		}
		defer ours.Close()
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer far.Close()
		if ours.LocalAddr().String() != far.RemoteAddr().String() || ours.RemoteAddr().String() != far.LocalAddr().String() {
			t.Errorf("from %v to %v, the server says %v to %v", ours.LocalAddr(), ours.RemoteAddr(), far.RemoteAddr(),
				far.LocalAddr())
		}
		rc, err := theirs.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		if err := rc.Control(func(fd uintptr) { alike(t, int(fd), ours.raw.fd) }); err != nil {
			t.Fatal(err)
		}
	}
}

// alike compares the options of two sockets.
func alike(t *testing.T, a, b int) {
	t.Helper()
	for _, o := range [][2]int{
		{unix.IPPROTO_TCP, unix.TCP_NODELAY},
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE},
		{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE},
		{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL},
		{unix.IPPROTO_TCP, unix.TCP_KEEPCNT},
		{unix.SOL_SOCKET, unix.SO_LINGER},
	} {
		va, errA := unix.GetsockoptInt(a, o[0], o[1])
		vb, errB := unix.GetsockoptInt(b, o[0], o[1])
		if va != vb || errA != nil || errB != nil {
			t.Errorf("option %v: %d of net's, %d of ours; errors %v, %v", o, va, vb, errA, errB)
		}
	}
	for name, of := range map[string]int{"flags": unix.F_GETFD, "status": unix.F_GETFL} {
		va, _ := unix.FcntlInt(uintptr(a), of, 0)
		if vb, _ := unix.FcntlInt(uintptr(b), of, 0); va != vb {
			t.Errorf("%s: %#x of net's, %#x of ours", name, va, vb)
		}
	}
}

// An unreachable server is reported in the words of net.Dialer.
func TestARefusedConnectionIsToldAsNetDoes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	_ = l.Close()
	_, want := net.Dial("tcp", nobody)
	c, err := dialer(t).dial(within(t.Context()), newAddress(nobody))
	if c != nil || err == nil || want == nil || err.Error() != want.Error() || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("error %v, net says %v", err, want)
	}
}

// full listens with room for no more connections: the next ones wait until it accepts.
func full(t *testing.T) (listener int, at string) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	err = errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0))
	name, named := unix.Getsockname(fd)
	if err != nil || named != nil {
		t.Fatal(err, named)
	}
	at = (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*unix.SockaddrInet4).Port}).String()
	filler, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = filler.Close() })
	return fd, at
}

// connecting waits until a poller waits for a connection.
func connecting(all *pollers) bool {
	all.mu.Lock()
	p := all.connects
	all.mu.Unlock()
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.waiting) > 0
}

// A connection that takes a while is waited for; the end of its request ends the wait, and leaves nothing.
func TestAConnectionThatTakesAWhile(t *testing.T) {
	fd, at := full(t)
	all := dialer(t)
	for _, given := range []bool{true, false} { // up
		ctx, cancel := context.WithCancelCause(t.Context())
		type result struct {
			c   *Conn
			err error
		}
		done := make(chan result, 1)
		go func() {
			c, err := all.dial(within(ctx), newAddress(at))
			done <- result{c, err}
		}()
		soon(t, func() {
			for !connecting(all) {
				if t.Context().Err() != nil {
					return
				}
			}
		})
		own := errors.New("the end")
		if given {
			cancel(own)
		} else if _, _, err := unix.Accept(fd); err != nil {
			t.Fatal(err)
		}
		got := <-done
		switch {
		case given && (!errors.Is(got.err, own) || got.c != nil):
			t.Errorf("error %v, want %v", got.err, own)
		case !given && (got.err != nil || got.c.raw.poller == nil || got.c.raw.poller == all.connects):
			t.Errorf("error %v of a connection that was accepted", got.err)
		case !given:
			_ = got.c.Close()
		}
		cancel(nil)
		if n, least := all.connects.conns.Load(), all.list[0].conns.Load(); n != 0 || least != 0 {
			t.Errorf("%d connect and %d are open after the end", n, least)
		}
	}
}

// Addresses that net has to look up, or to interpret, are left to it.
func TestAddressesInDigits(t *testing.T) {
	for text, plain := range map[string]bool{
		"127.0.0.1:80": true, "[::1]:8000": true, "[::ffff:10.0.0.1]:1": true, "10.0.0.1:65535": true,
		"localhost:80": false, "0.0.0.0:80": false, "[::]:80": false, "[fe80::1%eth0]:80": false, "127.1:80": false,
		"127.0.0.1:http": false,
	} {
		a := newAddress(text)
		if (a != nil) != plain {
			t.Errorf("%s: taken %v, want %v", text, a != nil, plain)
		}
		if a != nil && (a.family == unix.AF_INET) == strings.Contains(text, "::1") {
			t.Errorf("%s: family %d", text, a.family)
		}
	}
}

// A socket may connect to itself, if the kernel gives it the port that it asks for.
func TestASocketThatConnectedToItself(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	own, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	self := newAddress((&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: own.(*unix.SockaddrInet4).Port}).String())
	if errno := self.connect(fd); errno != 0 || !self.is(fd) {
		t.Errorf("errno %v; it does not know itself", errno)
	}
	if other := newAddress("127.0.0.1:1"); other.is(fd) {
		t.Error("takes another address for its own")
	}
}
