//go:build linux && (amd64 || arm64)

package transport

import "unsafe"

// A poller reads a batch of sockets before it passes on what came: in turn for every token, the kernel's code and
// the client's would drive each other out of the processor's caches.

// batchSize is how many connections are in a batch, after which other goroutines have their turn.
const batchSize = 32

// An arrival is what a read of a socket gave, for the connection's taker.
type arrival struct {
	c    *Conn
	data []byte // in the poller's buf
	err  error
}

// gather reads the sockets that the events from i on announce, up to a batch, and returns the next event. What came
// is for deliver.
func (p *poller) gather(i, n int) int {
	for end := min(n, i+batchSize); i < end && p.used < readSize; i++ {
		p.prepare(i, n)
		c := p.noticed(&p.events[i])
		switch {
		case c == nil || !c.raw.reading.Load():
		case c.raw.alone():
			p.read(c)
		default:
			c.raw.dry = false
			size, err := p.socket(c, p.free())
			p.batch = append(p.batch, arrival{c, p.free()[:size], err})
			p.used += size
		}
	}
	return i
}

// free is the part of the buffer for the next read.
func (p *poller) free() []byte { return p.buf[p.used:][:readSize] }

// deliver passes a batch on, and reads on where more may be.
func (p *poller) deliver() {
	for i := range p.batch {
		if i+1 < len(p.batch) {
			p.batch[i+1].c.raw.warmUp()
		}
		a := &p.batch[i]
		if p.pass(a.c, a.data, a.err) {
			p.read(a.c)
		}
	}
	clear(p.batch)
	p.batch, p.used = p.batch[:0], 0
}

// prepare prefetches memory for the next two events while the system call of this one runs: the connection of
// the second, and the exchange of the first, which has its connection by now.
func (p *poller) prepare(i, n int) {
	if i+2 < n {
		if c := p.all.table.get(int(p.events[i+2].Fd)); c != nil {
			Span{unsafe.Pointer(c), connLines}.Prefetch()
		}
	}
	if i+1 < n {
		if c := p.of(&p.events[i+1]); c != nil && c.raw.reading.Load() {
			c.raw.hot[0].Prefetch()
			c.raw.hot[1].Prefetch()
		}
	}
}

// connLines are the cache lines of a Conn that a read needs.
const connLines = int(unsafe.Offsetof(Conn{}.raw)+unsafe.Offsetof(rawConn{}.began)+cacheLine-1) / cacheLine
