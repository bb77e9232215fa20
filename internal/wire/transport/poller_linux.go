//go:build linux && (amd64 || arm64)

package transport

import (
	"errors"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// A poller reads the sockets of many connections in one goroutine, with an epoll of its own.
//
// The kernel notes when bytes came, so nothing is lost if they are read later. While many come, a poller
// sleeps for a moment and then reads all that are there: no token wakes a thread. It is lazy then. While
// few come it is eager: it waits for each. See pace.
//
// A connection belongs to a poller from its opening to its close, but is not read between two exchanges.
type poller struct {
	epoll  int
	alarm  int // an eventfd, which ends the wait of an eager poller
	clock  *clock.Clock
	all    *pollers
	meter  *meter
	pace   pace
	nap    *clock.Alarm // ends a sleep; nil before the first
	conns  atomic.Int64 // its connections
	active atomic.Int64 // of these, being read

	message message
	events  [512]unix.EpollEvent
	buf     [3 * readSize]byte // an arrival begins in the first third
	used    int                // of buf, by the arrivals
	batch   []arrival
	seen    int64   // an instant before the next read begins
	more    []*Conn // not read to their end
	// overslept: the latest sleep was much longer than meant, as the machine was busy.
	overslept bool

	mu      sync.Mutex       // guards the fields below
	asked   []*Conn          // to be read, or ended, without an event
	some    atomic.Bool      // asked is not empty
	waiting map[*Conn][]wait // for a socket to be ready
}

// A wait is of a goroutine that reads or writes by itself.
type wait struct {
	ready chan struct{} // closed when the socket may be ready
	room  bool          // to write
}

// pollers are those of a client, one for some hundred connections and at most one a processor.
type pollers struct {
	watch   *watch
	clock   *clock.Clock
	table   table
	serial  atomic.Int32 // of the latest connection
	patient atomic.Bool  // nothing waits for the ends of answers
	lazy    bool         // for tests: pollers always are

	mu       sync.Mutex
	list     []*poller
	connects *poller // of sockets that connect; nil until one takes a while
	closed   bool
}

const (
	perPoller = 512                                    // connections, before there is another poller
	crowd     = 32                                     // streams
	crowdLook = 2 * time.Millisecond                   // how long an eager poller leaves a crowd alone
	fairReads = 8                                      // of a connection, before others have their turn
	watched   = unix.EPOLLIN | unix.EPOLLRDHUP | 1<<31 // edge-triggered
)

// adopt takes a connection over from the runtime, if that is possible. ahead: a layer on top may have read bytes of
// which no event tells.
func (a *pollers) adopt(c *Conn, ahead bool) {
	if c.raw.calls == nil {
		return
	}
	p := a.next()
	if p == nil {
		return
	}
	fd := -1
	err := c.raw.calls.rc.Control(func(old uintptr) { fd, _ = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil || fd < 0 {
		p.closeIfUnused()
		return
	}
	runtimes := c.raw.calls
	c.raw.calls = nil
	c.raw.peer, _ = c.Conn.RemoteAddr().(*net.TCPAddr)
	c.raw.missed.Store(ahead)
	if a.register(c, p, fd) != nil {
		_ = unix.Close(fd)
		c.raw.calls = runtimes
		p.closeIfUnused()
		return
	}
	c.meter = p.meter
	_ = c.Conn.Close() // the runtime's descriptor; the socket has another
	c.Conn = nil
}

// register makes a connection one of a poller, which has counted it. Before its exchange it takes no notice of
// events but that there was one: so it may be in the table already.
func (a *pollers) register(c *Conn, p *poller, fd int) error {
	c.raw.fd, c.raw.serial, c.raw.poller = fd, a.serial.Add(1), p
	a.table.set(fd, c)
	err := c.watch(unix.EPOLL_CTL_ADD, watched)
	if err != nil {
		a.table.set(fd, nil)
		c.raw.poller = nil
	}
	return os.NewSyscallError("epoll_ctl", err)
}

// watch tells the epoll for which events to look. They bear the connection's serial number, since descriptors
// are reused.
func (c *Conn) watch(op int, events uint32) error {
	return unix.EpollCtl(c.raw.poller.epoll, op, c.raw.fd,
		&unix.EpollEvent{Events: events, Fd: int32(c.raw.fd), Pad: c.raw.serial})
}

// next is the poller of another connection, which it counts; nil if there is none.
func (a *pollers) next() *poller {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := a.least()
	if p != nil {
		p.conns.Add(1)
	}
	return p
}

// least is the poller with the fewest connections, or a new one.
func (a *pollers) least() *poller {
	if a.closed {
		return nil
	}
	var least *poller
	for _, p := range a.list {
		if least == nil || p.conns.Load() < least.conns.Load() {
			least = p
		}
	}
	if least != nil && (least.conns.Load() < perPoller || len(a.list) == len(a.watch.meters)) {
		return least
	}
	p, err := a.start(&a.watch.meters[len(a.list)])
	if err != nil {
		return least
	}
	a.list = append(a.list, p)
	return p
}

func (a *pollers) start(m *meter) (*poller, error) {
	p := &poller{
		epoll: -1, alarm: -1, clock: a.clock, all: a, meter: m, pace: pace{sleep: shortSleep}, waiting: map[*Conn][]wait{},
	}
	var err error
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		err = unix.SetNonblock(p.epoll, true) // the runtime waits for it
	}
	if err == nil {
		p.alarm, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	}
	if err == nil {
		err = unix.EpollCtl(p.epoll, unix.EPOLL_CTL_ADD, p.alarm, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(p.alarm)})
	}
	if err != nil {
		p.end()
		return nil, err
	}
	go p.run()
	return p, nil
}

// close ends the pollers, once they have no connections.
func (a *pollers) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, p := range a.list {
		p.wake()
	}
	if a.connects != nil {
		a.connects.wake()
	}
}

// closeIfUnused ends a poller after its last connection, if the client is closed.
func (p *poller) closeIfUnused() {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	p.conns.Add(-1)
	if p.all.closed {
		p.wake()
	}
}

func (p *poller) over() bool {
	if p.conns.Load() > 0 {
		return false
	}
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	return p.all.closed && p.conns.Load() == 0
}

func (p *poller) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.nap != nil {
		p.nap.Close()
	}
	_ = unix.Close(p.epoll)
	_ = unix.Close(p.alarm)
	p.alarm = -1 // a late wake must not write to what has the number next
}

// run reads until the client is closed.
func (p *poller) run() {
	defer p.end()
	for !p.over() {
		if p.eager() && p.stayEager() {
			continue
		}
		if len(p.more) == 0 {
			p.rest()
		} else {
			runtime.Gosched()
		}
		p.visit(p.poll())
	}
}

// rest sleeps for a moment. The runtime's own sleep of several milliseconds would wake it twice.
func (p *poller) rest() {
	if p.nap == nil {
		p.nap = clock.NewAlarm()
	}
	began := p.clock.Now()
	p.nap.Wait(p.pace.sleep)
	p.overslept = p.clock.Now()-began > 2*int64(p.pace.sleep)
}

// eager reports whether the poller is to wait for events, and has nothing else to do.
func (p *poller) eager() bool { return !p.pace.lazy && !p.all.lazy && len(p.more) == 0 }

// stayEager reads what comes as it comes, until the poller is to be lazy. The runtime waits for the epoll as it
// does for a socket. It reports false if the runtime cannot.
func (p *poller) stayEager() bool {
	fd, err := unix.FcntlInt(uintptr(p.epoll), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return false
	}
	file := os.NewFile(uintptr(fd), "epoll")
	defer file.Close() // the runtime takes no more notice of events
	rc, err := file.SyscallConn()
	crowded := false
	for err == nil && p.eager() && !p.over() {
		// The runtime asks for events only when no goroutine can run. Hundreds of requests that begin
		// keep it from that; a deadline it keeps even then.
		by := time.Time{}
		if crowded = p.active.Load() >= crowd; crowded {
			by = time.Now().Add(crowdLook)
		}
		if err = file.SetReadDeadline(by); err != nil {
			break
		}
		err = rc.Read(func(uintptr) bool {
			if n := p.poll(); n > 0 {
				p.visit(n)
			}
			return !p.eager() || p.over() || crowded != (p.active.Load() >= crowd)
		})
		if errors.Is(err, os.ErrDeadlineExceeded) {
			p.visit(p.poll())
			err = nil
		}
	}
	return err == nil
}

// poll asks which sockets are ready, without waiting, and returns the number of events.
func (p *poller) poll() int {
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.epoll), uintptr(unsafe.Pointer(&p.events[0])),
		uintptr(len(p.events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// visit reads what n events announce, and what came meanwhile if there may be more of them.
func (p *poller) visit(n int) {
	for {
		p.round(n)
		if n < len(p.events) {
			return
		}
		n = p.poll()
	}
}

// round reads on from connections that had more than others, reads those that n events announce, and looks at
// those that it is asked to.
func (p *poller) round(n int) {
	p.seen = p.clock.Now()
	begun := p.seen
	more := p.more
	p.more = nil
	for _, c := range more {
		c.raw.again = false
		p.read(c)
	}
	for i := 0; i < n; {
		if i > 0 {
			runtime.Gosched()
			p.seen = p.clock.Now()
		}
		i = p.gather(i, n)
		p.deliver()
	}
	p.pace.events += n
	if p.some.Load() {
		p.answer()
	}
	p.pace.decide(begun, int(p.active.Load()), p.all.patient.Load())
}

// of is the connection of an event, nil if it is closed by now: its descriptor may be another connection's.
func (p *poller) of(e *unix.EpollEvent) *Conn {
	c := p.all.table.get(int(e.Fd))
	if c == nil || c.raw.serial != e.Pad {
		return nil
	}
	return c
}

// noticed takes notice of an event and returns its connection, nil if there is none.
func (p *poller) noticed(e *unix.EpollEvent) *Conn {
	if int(e.Fd) == p.alarm {
		var b [8]byte
		_, _, _ = syscall.RawSyscall(unix.SYS_READ, uintptr(p.alarm), uintptr(unsafe.Pointer(&b)), uintptr(len(b)))
		return nil
	}
	c := p.of(e)
	if c == nil {
		return nil
	}
	if came := e.Events&^unix.EPOLLOUT != 0; came && !c.raw.reading.Load() {
		c.raw.missed.Store(true)
		p.ready(c)
	}
	if e.Events&unix.EPOLLOUT != 0 {
		p.room(c)
	}
	if e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		c.raw.ending = true
	}
	return c
}

// read reads what a connection has, if an exchange is on its way.
func (p *poller) read(c *Conn) {
	r := &c.raw
	r.dry = false
	for range fairReads {
		if !r.reading.Load() {
			return
		}
		r.warmUp()
		n, err := p.receive(c)
		if !p.pass(c, p.free()[:n], err) {
			return
		}
	}
	if !r.again {
		r.again = true
		p.more = append(p.more, c)
	}
}

// pass gives what a read returned to the taker, and reports whether there may be more. A layer may return bytes with
// an error.
func (p *poller) pass(c *Conn, b []byte, err error) (more bool) {
	r := &c.raw
	if len(b) > 0 {
		more := r.taker.take(b, c.last)
		if r.warm != nil && r.warm.Output(c.last.Seq) && c.last.At != r.output {
			if r.output != 0 {
				p.pace.paused(c.last.At - r.output)
			}
			r.output = c.last.At
		}
		if !more {
			p.finish(c, nil)
			return false
		}
		if r.taker.insideChunk() {
			p.pace.pieces++
		}
	}
	switch {
	case err == nil && r.dry && r.layer == nil, errors.Is(err, errNotReady):
	case err != nil:
		p.finish(c, err)
	default:
		return true
	}
	return false
}

// receive makes one read, from the layer on top of the connection if there is one.
func (p *poller) receive(c *Conn) (int, error) {
	if c.raw.layer != nil {
		return c.raw.layer.Read(p.free())
	}
	return p.socket(c, p.free())
}

// socket reads a socket. One that a read has emptied is not read again until it has an event: with each read
// the kernel tells how much is left, the end of a stream included. It does not tell of a reset; the event does.
func (p *poller) socket(c *Conn, b []byte) (int, error) {
	r := &c.raw
	if r.dry {
		return 0, errNotReady
	}
	n, errno := p.message.receive(uintptr(r.fd), b)
	if errno == syscall.EAGAIN {
		r.dry = true
		return 0, errNotReady
	}
	n, err := c.took(&p.message, p.seen, n, errno, len(b))
	if err == nil {
		p.seen, r.dry = c.last.User, r.left == 0 && !r.ending
		if !c.last.Kernel {
			p.pace.bare++
		}
	}
	return n, err
}

// errNotReady says that there is nothing to read at present. A layer such as TLS goes on after it.
var errNotReady = &notReady{}

type notReady struct{}

func (*notReady) Error() string   { return "nothing to read" }
func (*notReady) Timeout() bool   { return true }
func (*notReady) Temporary() bool { return true }

// finish ends the reading of an exchange.
func (p *poller) finish(c *Conn, err error) {
	p.pace.ended(p.seen, max(0, p.seen-c.raw.began))
	p.active.Add(-1)
	c.raw.reading.Store(false)
	c.raw.end = err
	c.raw.over.Done()
}

// begin has the poller pass what comes to the connection's taker.
func (p *poller) begin(c *Conn) {
	r := &c.raw
	r.began = p.clock.Now()
	r.over.Add(1)
	p.active.Add(1)
	r.reading.Store(true)
	if r.missed.Swap(false) || passed(&r.readBy) {
		p.ask(c) // an event came before, or the end
	}
}

// ask has the poller look at a connection soon.
func (p *poller) ask(c *Conn) {
	p.mu.Lock()
	p.asked = append(p.asked, c)
	p.some.Store(true)
	p.mu.Unlock()
	p.wake()
}

func (p *poller) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alarm >= 0 {
		one := [8]byte{1}
		_, _, _ = syscall.RawSyscall(unix.SYS_WRITE, uintptr(p.alarm), uintptr(unsafe.Pointer(&one)), uintptr(len(one)))
	}
}

// answer looks at the connections for which it was asked.
func (p *poller) answer() {
	p.mu.Lock()
	asked := p.asked
	p.asked = nil
	p.some.Store(false)
	p.mu.Unlock()
	for _, c := range asked {
		if p.read(c); c.raw.reading.Load() && passed(&c.raw.readBy) {
			p.finish(c, os.ErrDeadlineExceeded)
		}
	}
}

// ready ends waits for a socket.
func (p *poller) ready(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.release(c)
}

func (p *poller) release(c *Conn) {
	for _, w := range p.waiting[c] {
		close(w.ready)
	}
	delete(p.waiting, c)
}

// room wakes the waiters for a socket that takes bytes; without waiters it ends the events that report it.
func (p *poller) room(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting[c]) == 0 && !c.raw.closed.Load() {
		_ = c.watch(unix.EPOLL_CTL_MOD, watched) // at worst there are more of them
	}
	p.release(c)
}

// wait begins a wait for a socket to have bytes, or for it to take some.
func (p *poller) wait(c *Conn, room bool) (ready chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.raw.closed.Load() {
		return nil, net.ErrClosed
	}
	all := append(p.waiting[c], wait{make(chan struct{}), room})
	events := uint32(watched)
	if slices.ContainsFunc(all, func(w wait) bool { return w.room }) {
		events |= unix.EPOLLOUT
	}
	// A socket that is ready by now has an event once more.
	if err := c.watch(unix.EPOLL_CTL_MOD, events); err != nil {
		return nil, os.NewSyscallError("epoll_ctl", err)
	}
	p.waiting[c] = all
	return all[len(all)-1].ready, nil
}

// await waits until a socket may be ready, or until a deadline.
func (p *poller) await(c *Conn, by *atomic.Int64) error {
	ready, err := p.wait(c, by == &c.raw.sendBy)
	if err != nil {
		return err
	}
	var late <-chan time.Time
	if at := by.Load(); at != 0 {
		timer := time.NewTimer(time.Until(time.Unix(0, at)))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-ready:
		return nil
	case <-late:
		return os.ErrDeadlineExceeded
	}
}

// passed reports whether a deadline is over.
func passed(by *atomic.Int64) bool {
	at := by.Load()
	return at != 0 && at <= time.Now().UnixNano()
}
