//go:build linux && (amd64 || arm64)

package transport

import "iter"

// A desk is where streams read, one after the other: a buffer, and a stack. Thousands of
// streams that wake in turn would each read on a stack of their own, which by then is in
// nobody's cache, and most of the time would go by waiting for memory. So a stream that
// wakes goes to a desk, which the stream before it has just left.
//
// The stack is that of a coroutine: to go there is a switch within the thread, without
// the scheduler. A stream that waits holds neither buffer nor stack of that size.
type desk struct {
	message
	buf  [readSize]byte
	conn *Conn // at the desk
	fd   uintptr
	over bool
	next func() (struct{}, bool)
	stop func()
}

// desks are those that are free; there are hardly more than processors.
var desks = make(chan *desk, 64)

func takeDesk() *desk {
	select {
	case d := <-desks:
		return d
	default:
		d := new(desk)
		d.next, d.stop = iter.Pull(d.work)
		return d
	}
}

// leave makes room for another stream.
func (d *desk) leave() {
	select {
	case desks <- d:
	default:
		d.stop()
	}
}

// serve has a stream read here what there is; over is what readAt says.
func (d *desk) serve(c *Conn, fd uintptr) (over bool) {
	d.conn, d.fd = c, fd
	d.next()
	return d.over
}

// work is what goes on on the stack of the desk.
func (d *desk) work(yield func(struct{}) bool) {
	for {
		d.over = d.conn.readAt(d, d.fd)
		if d.conn = nil; !yield(struct{}{}) {
			return
		}
	}
}
