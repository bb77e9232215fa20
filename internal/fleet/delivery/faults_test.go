package delivery

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

var long = flag.Bool("long", false, "send a record of 100 MB, restart servers and cut connections more often")

// times is how often something is done, more often with -long.
func times(usually, withLong int) int {
	if *long {
		return withLong
	}
	return usually
}

// until waits for a condition that nothing signals.
func until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !condition() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited 20 s until %s", what)
		}
	}
}

// count is how many records have come.
func (c *collector) count() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, records := range c.records {
		n += len(records)
	}
	return n
}

// The server goes down at random instants, and comes up again with the same files.
func TestTheServerIsRestarted(t *testing.T) {
	b := start(t)
	create(t, b.connect(t), 4)
	c := collect(t, b.connect(t))
	all := shares(4, times(1500, 15_000), 32)
	total := len(all) * len(all[0])
	var senders sync.WaitGroup
	for i, records := range all {
		js := b.connect(t)
		senders.Go(func() {
			s := NewSender(js, run, i, keys[i])
			defer s.Close()
			for k, r := range records {
				s.Record(r)
				if k%(25*(i+1)) == 0 { // many messages, one or several in flight
					if err := s.Wait(t.Context()); err != nil {
						t.Error(err)
						return
					}
				}
			}
			s.End(fleet.End{Share: i, Records: len(records)})
			if err := s.Wait(t.Context()); err != nil || s.Undelivered() != 0 {
				t.Error(err, s.Undelivered())
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 1))
	restarts := times(4, 20)
	for i := range restarts {
		next := total * (i + 1) / (restarts + 1)
		next -= rng.IntN(total / restarts / 4)
		until(t, strconv.Itoa(next)+" records have come", func() bool { return c.count() >= next })
		b.stop()
		b.start(t)
	}
	senders.Wait()
	c.check(t, all)
}

// While there is no server, Record takes what comes and Wait waits.
func TestNoServerForAWhile(t *testing.T) {
	b := start(t)
	create(t, b.connect(t), 1)
	c := collect(t, b.connect(t))
	s := NewSender(b.connect(t), run, 0, keys[0])
	defer s.Close()
	b.stop()
	records := shares(1, 3000, 16)[0]
	for _, r := range records {
		s.Record(r)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*sendWithin)
	defer cancel()
	if err := s.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) || s.Undelivered() != len(records) {
		t.Errorf("%v, %d records are not delivered", err, s.Undelivered())
	}
	if err := c.CaughtUp(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	b.start(t)
	s.End(fleet.End{Records: len(records)})
	if err := s.Wait(t.Context()); err != nil || s.Undelivered() != 0 || len(s.out) > 0 {
		t.Errorf("%v, %d records are not delivered", err, s.Undelivered())
	}
	c.check(t, [][]*trace.Record{records})
}

// A badLine is a proxy in front of a server that delays what it passes on, and cuts connections in the
// middle of it.
type badLine struct {
	listener net.Listener
	target   string
	cuts     atomic.Int64 // that are still to be made
	lines    sync.WaitGroup
}

func cutting(t testing.TB, target string, cuts int) *badLine {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &badLine{listener: l, target: target}
	p.cuts.Store(int64(cuts))
	p.lines.Go(func() {
		for n := uint64(0); ; n++ {
			client, err := l.Accept()
			if err != nil {
				return
			}
			p.lines.Go(func() { p.pass(client, rand.New(rand.NewPCG(n, 7))) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); p.lines.Wait() })
	return p
}

func (p *badLine) url() string { return "nats://" + p.listener.Addr().String() }

func (p *badLine) pass(client net.Conn, rng *rand.Rand) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	var ways sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		budget := 20_000 + rng.Int64N(700_000)
		ways.Go(func() {
			p.copy(way[1], way[0], budget)
			_, _ = client.Close(), server.Close()
		})
	}
	ways.Wait()
}

// copy passes bytes on until a number of them, if there are cuts to be made.
func (p *badLine) copy(to, from net.Conn, budget int64) {
	buf := make([]byte, 32<<10)
	for passed := int64(0); ; {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if passed += int64(n); passed > budget && p.cuts.Add(-1) >= 0 {
			_, _ = to.Write(buf[:n/2])
			return
		}
		<-time.After(time.Duration(n) * 20 * time.Nanosecond) // 50 MB/s
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// Lines that are slow and cut again and again, between senders, server and receiver.
func TestASlowNetworkThatBreaks(t *testing.T) {
	b := start(t)
	line := cutting(t, b.running.Addr().String(), times(30, 300))
	create(t, b.connect(t), 3)
	c := collect(t, connect(t, line.url()))
	all := shares(3, times(2500, 25_000), 128)
	deliverAll(t, line.url(), all)
	c.check(t, all)
	if n := line.cuts.Load(); n > int64(times(24, 240)) {
		t.Errorf("%d cuts were not made", n)
	}
}

// Messages that are in the stream several times and in any order.
func TestMessagesThatAreStoredAgainAndInAnyOrder(t *testing.T) {
	b := start(t)
	js := b.connect(t)
	create(t, js, 1)
	c := collect(t, js)
	records := longRecords(500)
	messages := cutAll(t, records, &fleet.End{Records: len(records)})
	rng := rand.New(rand.NewPCG(3, 3))
	for _, i := range append(rng.Perm(len(messages)), rng.Perm(len(messages))...) {
		publish(t, js, 0, uint64(i+1), messages[i])
	}
	c.check(t, [][]*trace.Record{records})
}

// What another one than the worker of a share has sent is not taken, whatever it is and whenever it comes: the
// records of that worker are, and who has signed the other ones is known.
func TestOnlyTheWorkerOfAShareDelivers(t *testing.T) {
	b := start(t)
	js := b.connect(t)
	create(t, js, 2)
	all := shares(2, 300, 100)
	subject := subjectOf(run, "0")
	forge := func(m *nats.Msg) {
		t.Helper()
		if _, err := js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	lie := cutAll(t, all[1], &fleet.End{Records: len(all[1])})[0]
	other := signed(keys[0], subjectOf("another-run", "0"), 1, lie)
	other.Subject = subject // replayed
	replayed := signed(keys[0], subject, 1, lie)
	replayed.Header.Set(numberHeader, "2")
	unsigned := newMessage(subject, 1, lie)
	unsigned.Header.Set(jetstream.MsgIDHeader, "0.1")
	forge(signed(keys[1], subject, 1, lie)) // as a Sender of this share with the key of another worker does
	forge(signed(fleet.NewKey(), subject, 1, lie))
	forge(signed(keys[1], subject, 1<<40, lie))
	forge(unsigned)
	forge(other)
	forge(replayed)
	c := collect(t, js)
	deliver(t, js, 0, all[0])
	for range 2 * mostForged {
		forge(signed(keys[1], subject, 1, lie))
	}
	deliver(t, js, 1, all[1])
	c.check(t, all)
	c.mu.Lock()
	defer c.mu.Unlock()
	if want := []int{1, -1, 1, -1, -1, -1, 1, 1, 1, 1}; !slices.Equal(c.forged[0], want) || len(c.forged[1]) > 0 {
		t.Errorf("forged by %v, want %v", c.forged, want)
	}
}

// publish stores a message as a Sender does, whether it is there already or not.
func publish(t testing.TB, js jetstream.JetStream, share int, number uint64, data []byte) {
	t.Helper()
	m := signed(keys[max(share, 0)%len(keys)], subjectOf(run, strconv.Itoa(share)), number, data)
	if number == 0 {
		m.Header.Del(numberHeader)
	}
	if _, err := js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// Of a sender that was killed there may be half a frame. Others may send what is none.
func TestSharesThatEndInTheMiddleOrAreDamaged(t *testing.T) {
	b := start(t)
	js := b.connect(t)
	create(t, js, 4)
	c := collect(t, js)
	records := shares(1, 10, 100)[0]
	whole := cutAll(t, records, nil)[0]
	publish(t, js, 0, 1, whole[:len(whole)-20])
	publish(t, js, 1, 1, append(bytes.Clone(whole), "this is no frame"...))
	publish(t, js, 1, 2, whole)
	publish(t, js, 2, 0, whole) // without a number
	for _, share := range []int{4, -1, 1 << 40} {
		publish(t, js, share, 1, whole)
	}
	deliver(t, js, 3, records)
	if err := c.CaughtUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, want := range []struct {
		records        int
		ended, damaged bool
	}{{9, false, false}, {10, false, true}, {0, false, false}, {10, true, false}} {
		if d := diff(records[:want.records], append([]*trace.Record{}, c.records[i]...)); d != "" {
			t.Errorf("share %d: %s", i, d)
		}
		if i == 2 && len(c.forged[i]) != 1 {
			t.Errorf("a message without a number: %v", c.forged)
		}
		if (c.ends[i] != nil) != want.ended || (c.damaged[i] != nil) != want.damaged {
			t.Errorf("share %d: ended %v, damaged %v", i, c.ends[i] != nil, c.damaged[i])
		}
	}
}

func TestAHugeRecord(t *testing.T) {
	b := start(t)
	js := b.connect(t)
	create(t, js, 1)
	c := collect(t, js)
	records := shares(1, 3, 100)[0]
	records[1].Text = string(bytes.Repeat([]byte("0123456789"), times(2_000_000, 10_000_000)))
	deliver(t, js, 0, records)
	c.check(t, [][]*trace.Record{records})
}

// A stream that is full delays, and loses nothing.
func TestAFullStream(t *testing.T) {
	b := start(t)
	js := b.connect(t)
	create(t, js, 1)
	c := collect(t, b.connect(t))
	limit := func(bytes int64) {
		s, err := js.Stream(t.Context(), streamPrefix+run)
		if err != nil {
			t.Fatal(err)
		}
		config := s.CachedInfo().Config
		config.MaxBytes = bytes
		if _, err := js.UpdateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	}
	limit(1 << 20)
	records := shares(1, 4000, 128)[0]
	s := NewSender(b.connect(t), run, 0, keys[0])
	defer s.Close()
	for _, r := range records {
		s.Record(r)
	}
	s.End(fleet.End{Records: len(records)})
	until(t, "the stream is full", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.failed > 2
	})
	if n := s.Undelivered(); n == 0 || n == len(records) {
		t.Errorf("%d of %d records are not delivered", n, len(records))
	}
	if why := s.Refused(); why == nil {
		t.Error("it does not know why")
	}
	limit(-1)
	if err := s.Wait(t.Context()); err != nil || s.Refused() != nil {
		t.Error(err, s.Refused())
	}
	c.check(t, [][]*trace.Record{records})
}

// A Run that was ended goes on with the next.
func TestRunAgain(t *testing.T) {
	b := start(t)
	js := b.connect(t)
	create(t, js, 1)
	records := shares(1, 100, 10)[0]
	messages := cutAll(t, records, &fleet.End{Records: len(records)})
	whole := bytes.Join(messages, nil)
	r := NewReceiver(js, heading(1))
	g, pieces := newGot(1), uint64(5)
	for i := range pieces {
		publish(t, js, 0, i+1, whole[uint64(len(whole))*i/pieces:uint64(len(whole))*(i+1)/pieces])
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := r.Run(ctx, g); err != nil {
				t.Error(err)
			}
		})
		if err := r.CaughtUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		end()
		running.Wait()
	}
	if d := diff(records, g.records[0]); d != "" || g.ends[0] == nil {
		t.Error(d, g.ends[0])
	}
}
