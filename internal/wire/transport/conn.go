package transport

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// A Stamp says when the bytes of one read came.
//
// The kernel stamps the last byte that a read returns. What came earlier in the
// same read came after Lo and no later than At. So an event has an exact instant
// only if it is the last thing in its read, and if the read emptied the socket: one
// that the buffer cut short has a stamp of bytes that are still to be read.
type Stamp struct {
	At   int64 // the kernel's receive stamp; the same as User where there is none
	User int64 // when the read returned
	Lo   int64 // when the socket was last seen empty, or when the request left; At without kernel stamps
	// Seq numbers the reads of a connection, from 1. Bytes with equal numbers
	// came in one read, whatever buffers lie between.
	Seq     uint64
	Kernel  bool // At is the kernel's
	Drained bool // the read emptied the socket

	conn *Conn
}

// Together reports whether all that the read brought is known to have come at once: the
// server, or the network, had put it together, and At is the instant of all of it.
// Otherwise it came in pieces that a late client found together, or nobody knows. It is
// to be asked before the next read, and costs two system calls.
func (s Stamp) Together() bool { return s.Kernel && s.conn != nil && s.conn.together(s.Seq) }

// A Conn is a connection that stamps what it reads with the kernel's receive time,
// where it is a TCP connection on a system that has it, and notes when a request
// begins to leave. It is a net.Conn, so TLS and net/http can lie on top.
type Conn struct {
	net.Conn
	clock *clock.Clock
	meter *meter // shared with other connections of the client
	raw   rawConn
	sent  atomic.Int64 // instant of the first write since Arm, Never before it

	mu      sync.Mutex // guards what follows: net/http reads ahead in a goroutine of its own
	last    Stamp
	emptied int64
	pieces  pieces
}

// pieces are the segments with data that have come over a connection, against those
// that its reads account for if each brought one.
type pieces struct {
	base uint32 // of the kernel's count, when the two last agreed
	read uint32 // in the reads since
	size int    // of the largest segment; 0 as long as nobody asked
}

// took counts a read of n bytes.
func (p *pieces) took(n int) {
	p.read++
	if p.size > 0 {
		p.read += uint32((n - 1) / p.size)
	}
}

// A watch counts the reads of a client.
type watch struct {
	dealt  atomic.Uint32
	meters []meter // dealt to the connections in turn
}

func newWatch() *watch { return &watch{meters: make([]meter, runtime.GOMAXPROCS(0))} }

// A meter counts the reads of some connections. There is one for each processor, so
// that they hardly meet, and stay in its cache.
type meter struct {
	mu   sync.Mutex
	lag  lagCounts
	bare int // reads without the kernel's stamp on connections that have them
}

// NewConn returns c with stamps by clk.
func NewConn(c net.Conn, clk *clock.Clock) *Conn { return newConn(c, clk, newWatch()) }

func newConn(c net.Conn, clk *clock.Clock, w *watch) *Conn {
	conn := &Conn{Conn: c, clock: clk, meter: &w.meters[int(w.dealt.Add(1))%len(w.meters)], emptied: clk.Now()}
	conn.sent.Store(Never)
	if sc, ok := c.(syscall.Conn); ok {
		conn.raw.open(sc)
	}
	return conn
}

// Arm makes the next write the first of a request.
func (c *Conn) Arm() { c.sent.Store(Never) }

// Sent is the instant just before the first write since Arm, Never before it.
func (c *Conn) Sent() int64 { return c.sent.Load() }

// Last is the stamp of the latest Read that returned bytes.
func (c *Conn) Last() Stamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// Read is net.Conn's.
func (c *Conn) Read(p []byte) (int, error) {
	if c.raw.stamps() && len(p) > 0 {
		return c.readStamped(p)
	}
	before := c.clock.Now()
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.note(before, 0, n, n < len(p))
	}
	return n, err
}

// Write is net.Conn's.
func (c *Conn) Write(p []byte) (int, error) {
	if c.raw.stamps() && len(p) > 0 {
		return c.writeStamped(p)
	}
	c.leaving()
	return c.Conn.Write(p)
}

// leaving stamps the first write of a request. Nothing of its answer can have come
// before.
func (c *Conn) leaving() {
	if c.sent.Load() != Never {
		return
	}
	now := c.clock.Now()
	c.sent.Store(now)
	c.mu.Lock()
	c.emptied = now
	c.mu.Unlock()
}

// note makes the stamp of a read that has just returned and was begun at before; wall
// is the kernel's, 0 if there was none; n are the bytes.
func (c *Conn) note(before, wall int64, n int, drained bool) {
	user := c.clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stamp{At: user, User: user, Lo: min(c.emptied, user), Seq: c.last.Seq + 1, Drained: drained, conn: c}
	c.pieces.took(n)
	if drained {
		c.emptied = before // by now more may have come: a system call is where a busy machine halts us
	}
	switch {
	case wall != 0:
		s.Kernel, s.At = true, min(c.clock.FromWall(wall), user)
		c.meter.read(user - s.At)
		s.Lo = min(s.Lo, s.At)
	case c.raw.stamps():
		c.meter.missed()
	default:
		s.Lo = user
	}
	c.last = s
}

// read counts a read that came so long after its bytes.
func (m *meter) read(lag int64) {
	m.mu.Lock()
	m.lag.add(lag)
	m.mu.Unlock()
}

// missed counts a read without a stamp.
func (m *meter) missed() {
	m.mu.Lock()
	m.bare++
	m.mu.Unlock()
}

// take sums up the meters and sets them to zero.
func (w *watch) take() (lag lagCounts, bare int) {
	for i := range w.meters {
		m := &w.meters[i]
		m.mu.Lock()
		lag.merge(&m.lag)
		bare += m.bare
		m.lag, m.bare = lagCounts{}, 0
		m.mu.Unlock()
	}
	return lag, bare
}
