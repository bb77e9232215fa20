//go:build linux && (amd64 || arm64)

package transport

import (
	"bytes"
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pitot-bench/pitot/internal/wire/clock"
)

// idlePoller is a poller with rounds that the test calls.
func idlePoller(t *testing.T, clk *clock.Clock) *poller {
	t.Helper()
	w := newWatch()
	p := &poller{
		alarm: -1, clock: clk, all: &pollers{watch: w, clock: clk}, meter: &w.meters[0], waiting: map[*Conn][]wait{},
	}
	var err error
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.end)
	p.all.list = []*poller{p}
	return p
}

// adopted is a connection of the poller, with the other end.
func (p *poller) adopted(t *testing.T, take takes) (*Conn, net.Conn) {
	t.Helper()
	conn, far := loopback(t, p.clock)
	if p.all.adopt(conn, false); !conn.begin(nil, take) {
		t.Fatal("the poller does not take the connection")
	}
	return conn, far
}

// Of many sockets that are read before any of their bytes are passed on, each taker gets its own, with their stamps.
func TestBatchesKeepStreamsApart(t *testing.T) {
	p := idlePoller(t, clock.New())
	sizes := []int{1, 300, readSize - 1, readSize, 7, 2*readSize + 5, 4096, 64, 9, readSize + 1}
	const streams = 3*batchSize + 5
	var want, got [streams]bytes.Buffer
	var last [streams]Stamp
	var far [streams]net.Conn
	for i := range streams {
		_, far[i] = p.adopted(t, func(b []byte, s Stamp) bool {
			got[i].Write(b)
			if s.conn != nil && (s.Seq != last[i].Seq+1 || s.At < last[i].At || s.Lo > s.At || s.At > s.User) {
				t.Errorf("stream %d: stamp %+v after %+v", i, s, last[i])
			}
			last[i] = s
			return true
		})
	}
	for round := range 3 {
		for i := range far {
			b := bytes.Repeat([]byte{byte(i + round)}, sizes[(i+round)%len(sizes)])
			if _, err := far[i].Write(b); err != nil {
				t.Fatal(err)
			}
			want[i].Write(b)
		}
		soon(t, func() {
			for i := 0; i < streams; {
				if p.visit(p.poll()); got[i].Len() >= want[i].Len() {
					i++
				}
			}
		})
	}
	for i := range want {
		if !bytes.Equal(got[i].Bytes(), want[i].Bytes()) {
			t.Errorf("stream %d: %d bytes that are not the %d sent", i, got[i].Len(), want[i].Len())
		}
	}
}

// The number of segments of a read is asked for before more can arrive: a connection that asks for it passes its
// bytes on before others are read.
func TestAReadThatIsAskedForIsPassedOnAtOnce(t *testing.T) {
	p := idlePoller(t, clock.New())
	var second *Conn
	var reads []uint64 // of the second connection, when the first one's bytes are passed on
	ask := false
	first, near := p.adopted(t, func(_ []byte, s Stamp) bool {
		reads = append(reads, second.Last().Seq)
		if ask {
			s.Coalesced()
		}
		return true
	})
	second, far := p.adopted(t, func([]byte, Stamp) bool { return true })
	both := func() {
		before := len(reads)
		for _, c := range []net.Conn{near, far} {
			if _, err := c.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		soon(t, func() {
			for seq := second.Last().Seq; len(reads) == before || second.Last().Seq == seq; {
				p.visit(p.poll())
			}
		})
	}
	stamp := func() {
		for !first.Last().Kernel {
			both()
		}
	}
	stamp()
	reads = nil
	seq := second.Last().Seq
	both()
	ask = true
	both()
	both()
	for i, want := range []uint64{seq + 1, seq + 2, seq + 2} {
		if reads[i] != want {
			t.Errorf("round %d: the other connection has been read %d times, want %d", i, reads[i]-seq, want-seq)
		}
	}
	first.raw.reading.Store(false)
	if first.begin(nil, first.raw.taker); first.raw.alone() {
		t.Error("the next exchange inherits it")
	}
}

// unended is a taker of what never ends with a read.
type unended struct{ takes }

func (unended) insideChunk() bool { return true }

// A poller counts the reads that end within what belongs together, for its pace.
func TestAPollerCountsPieces(t *testing.T) {
	for _, tt := range []struct {
		taker func(takes) consumer
		want  int
	}{
		{func(f takes) consumer { return f }, 0},
		{func(f takes) consumer { return unended{f} }, 3},
	} {
		var p poller
		var c Conn
		c.raw.taker = tt.taker(func([]byte, Stamp) bool { return true })
		c.raw.dry = true
		for range 3 {
			p.pass(&c, []byte("data"), nil)
		}
		p.pass(&c, nil, errNotReady)
		if p.pace.pieces != tt.want {
			t.Errorf("%T: %d pieces of 3 reads, want %d", c.raw.taker, p.pace.pieces, tt.want)
		}
	}
}

// speaker is a receiver of which the reads with these numbers have output.
type speaker struct {
	Receiver
	output map[uint64]bool
}

func (speaker) Hot() Span                   { return Span{} }
func (speaker) Prefetch()                   {}
func (s speaker) Output(number uint64) bool { return s.output[number] }

// A pause is between two reads with output; a layer may pass one read on in two parts.
func TestAPollerNotesPauses(t *testing.T) {
	var p poller
	var c Conn
	c.raw.taker = takes(func([]byte, Stamp) bool { return true })
	c.raw.warm = speaker{output: map[uint64]bool{1: true, 3: true, 4: true}}
	c.raw.dry = true
	for _, at := range []int64{100, 200, 300, 300 + int64(pauseStep), 300 + int64(pauseStep)} {
		c.last.At = at
		if c.last.Seq < 4 {
			c.last.Seq++
		}
		p.pass(&c, []byte("data"), nil)
	}
	if p.pace.pauses != 2 || p.pace.short[0] != 1 || p.pace.short[1] != 1 {
		t.Errorf("%d pauses, the short ones %v", p.pace.pauses, p.pace.short)
	}
}
