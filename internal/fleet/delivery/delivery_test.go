package delivery

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

const run = "20261124-173000-abcd"

// A broker is a NATS server with JetStream in this process.
type broker struct {
	options server.Options
	running *server.Server
}

func start(t testing.TB) *broker {
	t.Helper()
	b := &broker{options: server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true}}
	b.start(t)
	b.options.Port = b.running.Addr().(*net.TCPAddr).Port
	t.Cleanup(b.stop)
	return b
}

func (b *broker) start(t testing.TB) {
	t.Helper()
	options := b.options
	s, err := server.NewServer(&options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	b.running = s
}

func (b *broker) stop() {
	b.running.Shutdown()
	b.running.WaitForShutdown()
}

// connect returns the JetStream of a connection of its own.
func (b *broker) connect(t testing.TB) jetstream.JetStream {
	t.Helper()
	return connect(t, b.running.ClientURL())
}

func connect(t testing.TB, url string) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond), nats.ReconnectJitter(0, 0),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// keys are those of the workers of shares.
var keys = [8]fleet.Key{fleet.NewKey(), fleet.NewKey(), fleet.NewKey(), fleet.NewKey(), fleet.NewKey(), fleet.NewKey(), fleet.NewKey(), fleet.NewKey()}

func heading(shares int) fleet.Heading {
	h := fleet.Heading{Fleet: run, Run: trace.Run{ID: "another", Name: "a run", End: trace.Never}, Zero: time.Date(2026, 11, 24, 17, 30, 0, 1, time.UTC)}
	for i := range shares {
		h.Workers = append(h.Workers, fleet.Worker{ID: keys[i].ID(), Name: fmt.Sprint("worker ", i)})
		h.Start = append(h.Start, fleet.Start{Run: run, Share: i, Of: shares})
	}
	return h
}

// create makes the stream of the run.
func create(t testing.TB, js jetstream.JetStream, shares int) {
	t.Helper()
	if err := Create(t.Context(), js, heading(shares)); err != nil {
		t.Fatal(err)
	}
}

// A collector is a Receiver at work, and what it was handed.
type collector struct {
	*Receiver
	*got
	mu    sync.Mutex
	ended int
	all   chan struct{} // closed once all shares have ended or are damaged
}

func (c *collector) Record(share int, r *trace.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got.Record(share, r)
}

func (c *collector) End(share int, e fleet.End) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got.End(share, e)
	c.over()
}

func (c *collector) Damaged(share int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got.Damaged(share, err)
	c.over()
}

func (c *collector) Forged(share, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got.Forged(share, by)
}

func (c *collector) over() {
	if c.ended++; c.ended == len(c.ends) {
		close(c.all)
	}
}

// collect runs a Receiver until the test ends.
func collect(t testing.TB, js jetstream.JetStream) *collector {
	t.Helper()
	h, err := HeadingOf(t.Context(), js, run)
	if err != nil {
		t.Fatal(err)
	}
	r := NewReceiver(js, h)
	c := &collector{Receiver: r, got: newGot(len(h.Workers)), all: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := r.Run(ctx, c); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return c
}

// check waits for the ends and compares what came with what was sent.
func (c *collector) check(t testing.TB, want [][]*trace.Record) {
	t.Helper()
	select {
	case <-c.all:
	case <-time.After(30 * time.Second):
		c.mu.Lock()
		defer c.mu.Unlock()
		t.Fatalf("%d of %d shares have ended; %v", c.ended, len(want), c.damaged)
	}
	if err := c.CaughtUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range want {
		if diff := diff(want[i], c.records[i]); diff != "" {
			t.Errorf("share %d: %d records, want %d: %.2000s", i, len(c.records[i]), len(want[i]), diff)
		}
		if c.damaged[i] != nil {
			t.Errorf("share %d: %v", i, c.damaged[i])
		} else if c.ends[i].Records != len(want[i]) || c.ends[i].Share != i {
			t.Errorf("share %d: %+v", i, c.ends[i])
		}
	}
}

// shares are different records for each of n shares.
func shares(n, each, chunks int) [][]*trace.Record {
	all := make([][]*trace.Record, n)
	for i := range all {
		for k := range each {
			all[i] = append(all[i], sample(k*n+i, chunks))
		}
	}
	return all
}

// deliver sends records and an end, and waits until all is confirmed.
func deliver(t testing.TB, js jetstream.JetStream, share int, records []*trace.Record) {
	t.Helper()
	s := NewSender(js, run, share, keys[share])
	defer s.Close()
	for _, r := range records {
		s.Record(r)
	}
	s.End(fleet.End{Share: share, Records: len(records)})
	if err := s.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if n := s.Undelivered(); n != 0 {
		t.Errorf("%d records of share %d are not delivered", n, share)
	}
}

// deliverAll sends all shares at once, each over a connection of its own.
func deliverAll(t testing.TB, url string, all [][]*trace.Record) {
	t.Helper()
	var senders sync.WaitGroup
	for i, records := range all {
		js := connect(t, url)
		senders.Go(func() { deliver(t, js, i, records) })
	}
	senders.Wait()
}

func TestFourSendersAndTwoReceivers(t *testing.T) {
	b := start(t)
	js := b.connect(t)
	create(t, js, 4)
	c := collect(t, b.connect(t))
	if err := c.CaughtUp(t.Context()); err != nil {
		t.Error(err)
	}
	all := shares(4, 1000, 64)
	deliverAll(t, b.running.ClientURL(), all)
	c.check(t, all)
	collect(t, js).check(t, all) // a controller that was started again
}

func TestStreamsOfRuns(t *testing.T) {
	b := start(t)
	js := b.connect(t)
	ctx := t.Context()
	if _, err := HeadingOf(ctx, js, run); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	large := heading(3)
	large.Run.Notes = nil
	large.Run.Env.Invocation = []string{strings.Repeat("x", 3*messageSize)}
	if err := Create(ctx, js, large); err != nil {
		t.Fatal(err)
	}
	read, err := HeadingOf(ctx, js, run)
	if err != nil {
		t.Fatal(err)
	}
	r := NewReceiver(js, read)
	if diff := cmp.Diff(large, read); diff != "" {
		t.Error(diff)
	}
	if err := Create(ctx, js, heading(1)); err == nil || !strings.Contains(err.Error(), "id of its own") {
		t.Error(err)
	}
	other := heading(1)
	other.Fleet = "20261124-173001-0000"
	if err := Create(ctx, js, other); err != nil {
		t.Error(err)
	}
	if runs, err := Runs(ctx, js); err != nil || cmp.Diff([]string{run, other.Fleet}, runs) != "" {
		t.Error(runs, err)
	}
	for range 2 {
		if err := Remove(ctx, js, run); err != nil {
			t.Error(err)
		}
	}
	if err := r.Run(ctx, newGot(3)); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	if err := r.CaughtUp(ctx); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	if runs, err := Runs(ctx, js); err != nil || cmp.Diff([]string{other.Fleet}, runs) != "" {
		t.Error(runs, err)
	}
}

func TestIdsThatAreNone(t *testing.T) {
	b := start(t)
	js := b.connect(t)
	for _, id := range []string{"", "a.b", "*", ">", "a b", "é", strings.Repeat("a", 101)} {
		h := heading(1)
		h.Fleet = id
		s := NewSender(js, id, 0, keys[0])
		s.Record(sample(0, 1))
		_, err := HeadingOf(t.Context(), js, id)
		for _, err := range []error{Create(t.Context(), js, h), Remove(t.Context(), js, id), s.Wait(t.Context()), err} {
			if err == nil || !strings.Contains(err.Error(), "not the id of a run") {
				t.Errorf("%q: %v", id, err)
			}
		}
		s.Close()
	}
}

// A run that is over or discarded ends its senders, and one that is closed ends by itself.
func TestAStreamIsRemovedUnderItsSender(t *testing.T) {
	b := start(t)
	js := b.connect(t)
	create(t, js, 1)
	s := NewSender(js, run, 0, keys[0])
	defer s.Close()
	s.Record(sample(0, 10))
	if err := s.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := Remove(t.Context(), js, run); err != nil {
		t.Fatal(err)
	}
	s.Record(sample(1, 10))
	if err := s.Wait(t.Context()); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	s.Record(sample(2, 10))
	s.End(fleet.End{})
	if n := s.Undelivered(); n != 2 || len(s.records) > 0 || len(s.out) > 0 {
		t.Errorf("%d records are not delivered", n)
	}
	closed := NewSender(js, run, 1, keys[1])
	closed.Record(sample(0, 10))
	closed.Close()
	if err := closed.Wait(t.Context()); err == nil || errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

func TestAServerWithoutJetStream(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	js := connect(t, s.ClientURL())
	_, headingErr := HeadingOf(t.Context(), js, run)
	_, runsErr := Runs(t.Context(), js)
	for _, err := range []error{Create(t.Context(), js, heading(1)), headingErr, runsErr} {
		if err == nil || !strings.Contains(err.Error(), "start nats-server with -js") {
			t.Error(err)
		}
	}
}
