// Package memnet is an in-process network for tests in virtual time.
//
// A Listener hands out both ends of net.Pipe, so a client and a server connect
// without a socket. Every wait is on a channel made where the Listener was made.
// Inside a testing/synctest bubble time therefore advances as soon as both sides
// wait, and a time chosen by the server is the time seen by the client, to the
// nanosecond.
package memnet

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// A Listener is a net.Listener that accepts the connections made by Dial.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Listen returns an open Listener.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to l; network and address are ignored, so it fits
// http.Transport.DialContext. A closed listener refuses connections, like a kernel.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "memnet", Err: syscall.ECONNREFUSED}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next Dial.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close makes Accept return net.ErrClosed and Dial refuse.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is a placeholder address.
func (l *Listener) Addr() net.Addr { return addr{} }

type addr struct{}

func (addr) Network() string { return "memnet" }
func (addr) String() string  { return "memnet" }
