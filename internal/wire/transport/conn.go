package transport

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/pitot-bench/pitot/internal/wire/clock"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Stamp holds the timestamps of one read.
//
// The kernel timestamps the last byte that a read returns. Earlier bytes of the
// same read came after Lo and no later than At. So an event has an exact timestamp
// only if it is the last one in its read, and if the read emptied the socket: a
// read cut short by the buffer has the timestamp of bytes that are still unread.
type Stamp struct {
	At   int64 // the kernel's receive timestamp; equal to User without one
	User int64 // when the read returned
	Lo   int64 // when the socket was last seen empty, or when the request left; At without kernel timestamps
	// Seq numbers the reads of a connection, from 1. Bytes with equal numbers came
	// in one read, whatever buffers are between.
	Seq     uint64
	Kernel  bool // At is the kernel's
	Drained bool // the read emptied the socket

	conn *Conn
}

// Coalesced reports whether all bytes of the read are known to have arrived at once:
// the server, or the network, had combined them, and At is the time of all of them.
// Otherwise they arrived separately and were read late, or it is unknown. segments is
// how many data segments they came in at most, 0 if it is unknown: what a server writes
// separately takes one each. Call it before the next read; it costs two system calls.
func (s Stamp) Coalesced() (once bool, segments int) {
	if !s.Kernel || s.conn == nil {
		return false, 0
	}
	return s.conn.coalesced(s.Seq)
}

// A Conn is a connection that timestamps its reads with the kernel's receive time,
// for TCP on systems that support it, and records when a request begins to leave.
// It is a net.Conn, so TLS and net/http can use it.
type Conn struct {
	mu      sync.Mutex // guards the next fields: net/http reads ahead in its own goroutine
	last    Stamp
	emptied int64
	pieces  segmentMeter
	clock   *clock.Clock
	meter   *meter       // shared with other connections of the client
	sent    atomic.Int64 // instant of the first write since Arm, Never before it
	raw     rawConn
	net.Conn
}

// segmentMeter compares the data segments received on a connection with those that its
// reads would account for at one segment each.
type segmentMeter struct {
	base uint32 // of the kernel's count, when the two last agreed
	read uint32 // in the reads since
	last uint32 // of these, in the last read
	size int    // of the largest segment; 0 until the first query
}

// took counts a read of n bytes.
func (p *segmentMeter) took(n int) {
	p.last = 1
	if p.size > 0 {
		p.last += uint32((n - 1) / p.size)
	}
	p.read += p.last
}

// A consumer takes the bytes of each read.
type consumer interface {
	take(p []byte, s Stamp) (more bool) // whether it wants more
	insideChunk() bool                  // whether the data so far ends within an HTTP chunk
}

// A watch counts the reads of a client.
type watch struct {
	dealt  atomic.Uint32
	meters []meter // assigned to the connections in turn
}

func newWatch() *watch { return &watch{meters: make([]meter, runtime.GOMAXPROCS(0))} }

// A meter counts the reads of some connections. There is one per processor, to
// reduce contention and stay in its cache.
type meter struct {
	mu   sync.Mutex
	lag  trace.Delays
	bare int // reads without a kernel timestamp on connections that have them
}

// NewConn returns c with timestamps from clk.
func NewConn(c net.Conn, clk *clock.Clock) *Conn { return newConn(c, clk, newWatch()) }

func newConn(c net.Conn, clk *clock.Clock, w *watch) *Conn {
	conn := &Conn{Conn: c, clock: clk, meter: &w.meters[int(w.dealt.Add(1))%len(w.meters)], emptied: clk.Now()}
	conn.sent.Store(Never)
	if sc, ok := c.(syscall.Conn); ok {
		conn.open(sc)
	}
	return conn
}

// Arm makes the next write the first of a request.
func (c *Conn) Arm() { c.sent.Store(Never) }

// Sent is the instant just before the first write since Arm, Never before it.
func (c *Conn) Sent() int64 { return c.sent.Load() }

// Last returns the stamp of the latest Read that returned bytes.
func (c *Conn) Last() Stamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// Read implements net.Conn.
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

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	if c.raw.stamps() && len(p) > 0 {
		return c.writeStamped(p)
	}
	c.leaving()
	return c.Conn.Write(p)
}

// leaving timestamps the first write of a request. No byte of its answer can have
// come before.
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

// note makes the stamp of a read that has just returned and began at before; wall
// is the kernel's timestamp, 0 if there is none; n is the number of bytes.
func (c *Conn) note(before, wall int64, n int, drained bool) {
	user := c.clock.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stamp{At: user, User: user, Lo: min(c.emptied, user), Seq: c.last.Seq + 1, Drained: drained, conn: c}
	c.pieces.took(n)
	if drained {
		c.emptied = before // by now more may have come: system calls are where a busy machine preempts us
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

// read counts a read with this delay after its bytes.
func (m *meter) read(lag int64) {
	m.mu.Lock()
	m.lag.Add(lag)
	m.mu.Unlock()
}

// missed counts a read without a timestamp.
func (m *meter) missed() {
	m.mu.Lock()
	m.bare++
	m.mu.Unlock()
}

// take sums up the meters and resets them.
func (w *watch) take() (lag trace.Delays, bare int) {
	for i := range w.meters {
		m := &w.meters[i]
		m.mu.Lock()
		lag.Merge(&m.lag)
		bare += m.bare
		m.lag, m.bare = trace.Delays{}, 0
		m.mu.Unlock()
	}
	return lag, bare
}
