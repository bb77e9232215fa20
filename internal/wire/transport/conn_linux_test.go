//go:build linux && (amd64 || arm64)

package transport

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// loopback returns both ends of a TCP connection; the first one timestamps.
func loopback(t testing.TB, clk *clock.Clock) (*Conn, *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	conn := NewConn(near, clk)
	t.Cleanup(func() { _, _ = conn.Close(), far.Close() })
	return conn, far.(*net.TCPConn)
}

// takes is a taker.
type takes func(p []byte, s Stamp) bool

func (f takes) take(p []byte, s Stamp) bool { return f(p, s) }
func (f takes) insideChunk() bool           { return false }

// polled has a poller read a connection.
func polled(t *testing.T, conn *Conn, take takes) error {
	t.Helper()
	all := &pollers{watch: newWatch(), clock: conn.clock}
	defer all.close()
	if all.adopt(conn, false); !conn.begin(nil, take) {
		t.Fatal("no poller took the connection")
	}
	return conn.finish()
}

// stamped reads until the kernel timestamps, which may take a moment on a host that
// has not used them before.
func stamped(t testing.TB, conn *Conn, far net.Conn) {
	t.Helper()
	for range 10_000 {
		if _, err := far.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 8)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if conn.Last().Kernel {
			return
		}
	}
	t.Fatal("the kernel gives no stamps")
}

func TestTheKernelsStampLiesWithinTheWrite(t *testing.T) {
	clk := clock.New()
	conn, far := loopback(t, clk)
	stamped(t, conn, far)
	seq := conn.Last().Seq
	buf := make([]byte, 64)
	inside := 0
	for i := range 100 {
		before := clk.Now()
		_, _ = far.Write([]byte("hello"))
		after := clk.Now()
		n, err := conn.Read(buf)
		s := conn.Last()
		if err != nil || n != 5 || !s.Kernel || !s.Drained || s.Seq != seq+uint64(i)+1 {
			t.Fatalf("read %d: %d bytes, error %v, %+v", i, n, err, s)
		}
		if s.At > s.User || s.Lo > s.At {
			t.Errorf("stamps out of order: %+v", s)
		}
		if s.At >= before-1000 && s.At <= after+1000 {
			inside++
		}
	}
	if inside < 95 { // the comparison of the clocks has its own error
		t.Errorf("%d of 100 stamps lie between the instants around the write", inside)
	}
}

// Data of one write came together; data of two writes that a late client reads at
// once did not, however short the gap. Each query covers the data since the last
// one.
func TestWhatComesTogetherIsTold(t *testing.T) {
	conn, far := loopback(t, clock.New())
	stamped(t, conn, far)
	buf := make([]byte, 4096)
	for round := range 3 {
		for _, writes := range [][]string{{"one"}, {"one", "two"}, {"onetwo"}, {"one", "two", "three"}, {"one"}} {
			for _, w := range writes {
				_, _ = far.Write([]byte(w))
			}
			if n, err := conn.Read(buf); n == 0 || err != nil {
				t.Fatal(n, err)
			}
			s := conn.Last()
			if got, segments := s.Coalesced(); got != (len(writes) == 1) || segments != len(writes) {
				t.Errorf("round %d, %d writes: together %v in %d", round, len(writes), got, segments)
			}
		}
	}
	_, _ = far.Write([]byte("one"))
	_, _ = conn.Read(buf)
	old := conn.Last()
	_, _ = far.Write([]byte("two"))
	_, _ = conn.Read(buf)
	if once, segments := old.Coalesced(); once || segments != 0 {
		t.Error("a read before the latest one is answered")
	}
}

// Reads without a query account for their segments.
func TestWhatComesTogetherBehindOtherReads(t *testing.T) {
	conn, far := loopback(t, clock.New())
	stamped(t, conn, far)
	buf := make([]byte, 4096)
	for range 5 {
		_, _ = far.Write([]byte("alone"))
		_, _ = conn.Read(buf)
	}
	_, _ = far.Write([]byte("several in one write"))
	_, _ = conn.Read(buf)
	if once, _ := conn.Last().Coalesced(); !once {
		t.Error("one write came in pieces, it says")
	}
}

func TestAReadThatTheBufferCutIsNotDrained(t *testing.T) {
	conn, far := loopback(t, clock.New())
	stamped(t, conn, far)
	_, _ = far.Write([]byte("0123456789"))
	first, second := make([]byte, 4), make([]byte, 64)
	n, _ := conn.Read(first)
	cut := conn.Last()
	m, _ := conn.Read(second)
	rest := conn.Last()
	if n != 4 || cut.Drained || m != 6 || !rest.Drained {
		t.Errorf("%d bytes %+v, then %d bytes %+v", n, cut, m, rest)
	}
	if rest.Lo > cut.User {
		t.Errorf("the socket was not empty at %d, but that is the bound of the read behind", rest.Lo)
	}
}

func TestTheFirstWriteIsStamped(t *testing.T) {
	clk := clock.New()
	conn, far := loopback(t, clk)
	if conn.Arm(); conn.Sent() != Never {
		t.Errorf("sent at %d before anything was", conn.Sent())
	}
	before := clk.Now()
	_, _ = conn.Write([]byte("one"))
	sent, after := conn.Sent(), clk.Now()
	_, _ = conn.Write([]byte("two"))
	if sent < before || sent > after || conn.Sent() != sent {
		t.Errorf("sent at %d and then %d, between %d and %d", sent, conn.Sent(), before, after)
	}
	if b := make([]byte, 6); true {
		if _, err := io.ReadFull(far, b); err != nil || string(b) != "onetwo" {
			t.Errorf("%q, %v", b, err)
		}
	}
	conn.Arm()
	if _, err := conn.Write([]byte("three")); err != nil || conn.Sent() <= sent {
		t.Errorf("the next request is sent at %d, the one before at %d; error %v", conn.Sent(), sent, err)
	}
}

// Data larger than the socket buffers is written in pieces.
func TestAWriteWaitsForRoom(t *testing.T) {
	conn, far := loopback(t, clock.New())
	text := strings.Repeat("0123456789abcdef", 1<<20)
	done := make(chan error, 1)
	go func() {
		n, err := conn.Write([]byte(text))
		if n != len(text) && err == nil {
			err = fmt.Errorf("%d bytes", n)
		}
		done <- errors.Join(err, conn.Close())
	}()
	got, err := io.ReadAll(far)
	if err != nil || string(got) != text {
		t.Errorf("%d bytes of %d, error %v", len(got), len(text), err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestEndsOfAConnection(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(far *net.TCPConn)
		want error
	}{
		{"closed", func(far *net.TCPConn) { _ = far.Close() }, io.EOF},
		{"reset", func(far *net.TCPConn) { _, _ = far.SetLinger(0), far.Close() }, syscall.ECONNRESET},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, far := loopback(t, clock.New())
			if conn.stale(false) || conn.stale(true) {
				t.Error("stale while it is open")
			}
			var got []byte
			_, _ = far.Write([]byte("last words"))
			tt.end(far)
			err := polled(t, conn, func(p []byte, _ Stamp) bool { got = append(got, p...); return true })
			if !errors.Is(err, tt.want) && !errors.Is(err, io.EOF) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if errors.Is(tt.want, io.EOF) && string(got) != "last words" {
				t.Errorf("%q", got)
			}
			if !conn.stale(false) || !conn.stale(true) {
				t.Error("not stale after its end")
			}
		})
	}
}

// A reset that comes together with the last bytes is found behind them.
func TestAResetBehindTheLastBytesIsFound(t *testing.T) {
	for range 20 {
		conn, far := loopback(t, clock.New())
		_, _ = far.Write([]byte("last words"))
		_, _ = far.SetLinger(0), far.Close()
		err := polled(t, conn, func([]byte, Stamp) bool { return true })
		if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
			t.Fatalf("error %v", err)
		}
	}
}

func TestAnIdleConnectionWithBytesIsStale(t *testing.T) {
	conn, far := loopback(t, clock.New())
	_, _ = far.Write([]byte("unasked"))
	if !conn.stale(false) || conn.stale(true) {
		t.Errorf("stale %v, over TLS %v", conn.stale(false), conn.stale(true))
	}
}

func TestDeadlinesEndARead(t *testing.T) {
	conn, far := loopback(t, clock.New())
	began := make(chan struct{}, 1)
	go func() { <-began; _ = conn.SetReadDeadline(time.Unix(1, 0)) }()
	_, _ = far.Write([]byte("begins"))
	err := polled(t, conn, func([]byte, Stamp) bool { began <- struct{}{}; return true })
	if timeout := net.Error(nil); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("error %v", err)
	}
}

func TestReadsAndWritesDoNotAllocate(t *testing.T) {
	conn, far := loopback(t, clock.New())
	p, buf := []byte("data: x\n\n"), make([]byte, 64)
	if n := testing.AllocsPerRun(200, func() {
		_, _ = far.Write(p)
		_, _ = conn.Read(buf)
		_, _ = conn.Write(p)
		_, _ = far.Read(buf)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// events is a Receiver that splits a stream into events.
type eventTape struct {
	Events
	got []Event
}

func (e *eventTape) Head(int, http.Header) {}

func (e *eventTape) Data(p []byte, s Stamp) error {
	return e.Feed(p, s, func(ev Event) error {
		ev.Data = nil
		e.got = append(e.got, ev)
		return nil
	})
}

// Both engines give every event the kernel's timestamp of its own read, over plain
// TCP and TLS.
func TestEventsHaveKernelStamps(t *testing.T) {
	conn, far := loopback(t, clock.New())
	stamped(t, conn, far) // while this one is open, others are timestamped from the start
	for _, secure := range []bool{false, true} {
		engines(t, Config{}, func(t *testing.T, cfg Config) {
			const events = 20
			next := make(chan struct{})
			l, clientTLS := listen(t, secure)
			cfg.TLS, cfg.Clock = clientTLS, clock.New()
			var wrote []int64
			srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for range events {
					wrote = append(wrote, cfg.Clock.Now())
					_, _ = io.WriteString(w, "data: x\n\n")
					w.(http.Flusher).Flush()
					wrote = append(wrote, cfg.Clock.Now())
					<-next
				}
			})}
			go func() { _ = srv.Serve(l) }()
			defer srv.Close()
			c := New(cfg)
			defer c.Close()
			tape := &stepper{next: next}
			scheme := map[bool]string{false: "http", true: "https"}[secure]
			timing, err := c.Do(t.Context(), &Request{Method: "GET", URL: scheme + "://" + l.Addr().String() + "/"}, tape)
			if err != nil || len(tape.got) != events {
				t.Fatalf("error %v, %d events", err, len(tape.got))
			}
			kernel, inside := 0, 0
			for i, e := range tape.got {
				if e.Stamp.Kernel {
					kernel++
				}
				if e.Coalesced || i > 0 && e.Stamp.Seq <= tape.got[i-1].Stamp.Seq {
					t.Errorf("event %d shares its read: %+v", i, e.Stamp)
				}
				if e.Stamp.At >= wrote[2*i]-1000 && e.Stamp.At <= wrote[2*i+1]+1000 {
					inside++
				}
			}
			if timing.Sent < timing.Connected || timing.FirstByte < timing.Sent || timing.FirstByte > tape.got[0].Stamp.At {
				t.Errorf("%+v, first event at %d", timing, tape.got[0].Stamp.At)
			}
			if kernel < events || inside < events-2 {
				t.Errorf("of %d events %d have stamps of the kernel's, %d lie between the instants around the write", events,
					kernel, inside)
			}
			if h, _ := c.TakeLag(); h.Reads == 0 || h.P50 > h.P99 || h.P99 > h.Max || h.Max == 0 {
				t.Errorf("%+v", h)
			}
		})
	}
}

// A stepper lets the server continue after each event.
type stepper struct {
	eventTape
	next chan struct{}
}

func (s *stepper) Data(p []byte, st Stamp) error {
	n := len(s.got)
	err := s.eventTape.Data(p, st)
	for range len(s.got) - n {
		s.next <- struct{}{}
	}
	return err
}

func TestReadsWithoutAStampAreCounted(t *testing.T) {
	clk, w := clock.New(), newWatch()
	plain, _ := loopback(t, clk)
	conn := newConn(plain.Conn, clk, w)
	conn.note(clk.Now(), 0, 1, true)
	if s := conn.Last(); s.Kernel || s.At != s.User || s.Lo > s.At {
		t.Errorf("%+v", s)
	}
	if lag, bare := w.take(); lag.Lag().Reads != 0 || bare != 1 {
		t.Errorf("%d with and %d without", lag.Lag().Reads, bare)
	}
}
