//go:build linux && (amd64 || arm64)

package transport

import "iter"

// A readStack is a reusable buffer and stack on which streams read, one after the other.
// Thousands of streams that wake in turn would otherwise each read on their own
// stack, which is no longer in any cache, and spend most of the time waiting for
// memory. A stream that wakes uses one that the stream before it has just left.
//
// The stack is that of a coroutine: entering it is a switch within the thread,
// without the scheduler. A waiting stream needs neither a buffer nor a stack of
// that size.
type readStack struct {
	message
	buf  [readSize]byte
	conn *Conn // reading on it
	fd   uintptr
	over bool
	next func() (struct{}, bool)
	stop func()
}

// readStacks holds the free ones; there are hardly more than processors.
var readStacks = make(chan *readStack, 64)

func takeReadStack() *readStack {
	select {
	case s := <-readStacks:
		return s
	default:
		s := new(readStack)
		s.next, s.stop = iter.Pull(s.work)
		return s
	}
}

// leave makes s available to another stream.
func (s *readStack) leave() {
	select {
	case readStacks <- s:
	default:
		s.stop()
	}
}

// serve reads the available data of a stream on s; over is the result of
// readAt.
func (s *readStack) serve(c *Conn, fd uintptr) (over bool) {
	s.conn, s.fd = c, fd
	s.next()
	return s.over
}

// work runs on the stack of s.
func (s *readStack) work(yield func(struct{}) bool) {
	for {
		s.over = s.conn.readAt(s, s.fd)
		if s.conn = nil; !yield(struct{}{}) {
			return
		}
	}
}
