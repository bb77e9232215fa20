package transport

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// Parameters of the self-test.
const (
	checkWrites = 200
	checkSpace  = 300 * time.Microsecond // between two writes
	checkWait   = 500 * time.Millisecond // for the first timestamp
	checkLimit  = 2 * time.Second        // for all of it
	checkSlack  = int64(time.Microsecond)
)

// SelfTest measures the accuracy of this machine's timestamps, with writes to itself
// over loopback, in about 70 ms: the bytes arrived between the instants before and
// after the write.
//
//	before ──── kernel timestamp ──── after ─────────── read
//	      │── error ──│──────────────── lag ──────────────│
//
// The true error is smaller, since it includes the path through the kernel. Every byte
// is read alone, before the next is written; Inside is to within a microsecond. It is
// not an error if there are no timestamps: Stamped is 0.
func SelfTest(ctx context.Context, clk *clock.Clock) (trace.SelfTest, error) {
	p, err := connectSelf(ctx, clk)
	if err != nil {
		return trace.SelfTest{}, fmt.Errorf("connect to ourselves: %w", err)
	}
	defer p.close()
	defer context.AfterFunc(ctx, p.hangUp)()
	c, err := p.check()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return trace.SelfTest{}, fmt.Errorf("timestamp writes to ourselves: %w", err)
	}
	return c, nil
}

// A selfPair is a connection of this process to itself, with a reading goroutine.
type selfPair struct {
	clock    *clock.Clock
	near     *Conn
	far      *Conn
	timer    *clock.Timer
	arrivals chan Stamp // of each byte; closed when there are no more
	end      error      // the reason, once arrivals is closed
}

func connectSelf(ctx context.Context, clk *clock.Clock) (*selfPair, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	near, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		return nil, err
	}
	far, err := l.Accept()
	if err != nil {
		near.Close()
		return nil, err
	}
	p := &selfPair{
		clock: clk, near: NewConn(near, clk), far: NewConn(far, clk), timer: clock.NewPrecise(),
		arrivals: make(chan Stamp, 1),
	}
	deadline := time.Now().Add(checkLimit)
	_ = p.near.SetDeadline(deadline)
	_ = p.far.SetDeadline(deadline)
	go p.receive()
	return p, nil
}

// receive reads byte by byte.
func (p *selfPair) receive() {
	defer close(p.arrivals)
	var b [1]byte
	for {
		if _, p.end = p.far.Read(b[:]); p.end != nil {
			return
		}
		p.arrivals <- p.far.Last()
	}
}

// hangUp ends all waits.
func (p *selfPair) hangUp() {
	_ = p.near.Close()
	_ = p.far.Close()
}

func (p *selfPair) close() {
	p.hangUp()
	p.timer.Close()
	for range p.arrivals { // until the reader is gone
	}
}

// send writes a byte after a pause and returns the instants around the write, and
// the reader's stamp.
func (p *selfPair) send() (before, after int64, s Stamp, err error) {
	p.timer.Reset(checkSpace)
	<-p.timer.C
	p.near.Arm()
	if _, err = p.near.Write([]byte{0}); err != nil {
		return 0, 0, s, err
	}
	after = p.clock.Now()
	s, ok := <-p.arrivals
	if !ok {
		err = p.end
	}
	return p.near.Sent(), after, s, err
}

// check waits for the first timestamp, and then counts and measures.
func (p *selfPair) check() (trace.SelfTest, error) {
	c := trace.SelfTest{}
	start := p.clock.Now()
	for p.far.raw.stamps() && c.Waited < checkWait {
		_, _, s, err := p.send()
		if err != nil {
			return c, err
		}
		c.Waited = time.Duration(p.clock.Now() - start)
		if s.Kernel {
			break
		}
		c.Bare++
	}
	var errors, lags []int64
	for range checkWrites {
		before, after, s, err := p.send()
		if err != nil {
			return c, err
		}
		c.Writes++
		if !s.Kernel {
			continue
		}
		c.Stamped++
		if s.At >= before-checkSlack && s.At <= after+checkSlack {
			c.Inside++
		}
		errors, lags = append(errors, s.At-before), append(lags, s.User-s.At)
	}
	c.Error, c.Lag = Spread(errors), Spread(lags)
	return c, nil
}

// Spread summarizes durations in nanoseconds: each figure is one of them. It sorts them.
func Spread(ns []int64) trace.Lag {
	if len(ns) == 0 {
		return trace.Lag{}
	}
	slices.Sort(ns)
	rank := func(percent int) time.Duration { return time.Duration(ns[(len(ns)*percent+99)/100-1]) }
	return trace.Lag{Reads: len(ns), P50: rank(50), P99: rank(99), Max: rank(100)}
}
