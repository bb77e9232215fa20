package bus_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/test/fleettest"
)

// limited is a context for what must not take long; it ends a test that hangs.
func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func connect(t *testing.T, o bus.Options) *bus.Bus {
	t.Helper()
	b, err := bus.Connect(limited(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

type question struct{ N int }

type answer struct{ Twice int }

// twice answers questions.
func twice(t *testing.T, b *bus.Bus, subject string) (end func()) {
	t.Helper()
	end, err := bus.Answer(b, subject, func(q question) (any, error) {
		if q.N < 0 {
			return nil, errors.New("below\n zero\x1b[31m")
		}
		return answer{2 * q.N}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return end
}

func TestQuestionsAndReplies(t *testing.T) {
	fleettest.Each(t, fleettest.Options{}, func(t *testing.T, s fleettest.Server) {
		asker, worker := connect(t, bus.Options{URL: s.URL()}), connect(t, bus.Options{URL: s.URL()})
		subject := bus.SubjectOf("w1", bus.Poll)
		if subject != "pitot.worker.w1.poll" {
			t.Errorf("subject %s", subject)
		}
		ctx := limited(t)
		if _, err := bus.Request[answer](ctx, asker, subject, question{1}); !errors.Is(err, bus.ErrGone) {
			t.Errorf("before anybody answers: %v", err)
		}
		end := twice(t, worker, subject)
		for n := range 20 {
			got, err := bus.Request[answer](ctx, asker, subject, question{n})
			if err != nil || got.Twice != 2*n {
				t.Fatalf("%d: %v, %v", n, got, err)
			}
		}
		_, err := bus.Request[answer](ctx, asker, subject, question{-1})
		if refusal := (bus.Refusal{}); !errors.As(err, &refusal) || refusal.Text != "below zero [31m" {
			t.Errorf("a refusal is %#v", err)
		}
		end()
		if _, err := bus.Request[answer](ctx, asker, subject, question{1}); !errors.Is(err, bus.ErrGone) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestEverybodyIsAsked(t *testing.T) {
	fleettest.Each(t, fleettest.Options{}, func(t *testing.T, s fleettest.Server) {
		asker, ctx := connect(t, bus.Options{URL: s.URL()}), limited(t)
		none := func(fleet.Worker) bool { t.Error("somebody answered"); return false }
		if err := bus.RequestAll(ctx, asker, bus.Everybody, fleet.Question{}, time.Hour, none); !errors.Is(err, bus.ErrGone) {
			t.Errorf("nobody: %v", err)
		}
		for i := range 5 {
			worker := connect(t, bus.Options{URL: s.URL()})
			if _, err := bus.Answer(worker, bus.Everybody, func(fleet.Question) (any, error) {
				return fleet.Worker{ID: fmt.Sprint(i)}, nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		found := map[string]bool{}
		err := bus.RequestAll(ctx, asker, bus.Everybody, fleet.Question{}, time.Hour, func(w fleet.Worker) bool {
			found[w.ID] = true
			return len(found) == 5
		})
		if err != nil || len(found) != 5 {
			t.Errorf("found %v, %v", found, err)
		}
		count := 0
		err = bus.RequestAll(ctx, asker, bus.Everybody, fleet.Question{}, time.Second, func(fleet.Worker) bool { count++; return false })
		if err != nil || count != 5 {
			t.Errorf("%d when the wait is over, %v", count, err)
		}
	})
}

// An order that takes long holds up no beat.
func TestSubjectsDoNotWaitForEachOther(t *testing.T) {
	s := fleettest.Embedded(t, fleettest.Options{})
	asker, worker, ctx := connect(t, bus.Options{URL: s.URL()}), connect(t, bus.Options{URL: s.URL()}), limited(t)
	hold, held := make(chan struct{}), make(chan struct{})
	if _, err := bus.Answer(worker, bus.SubjectOf("w", bus.Order), func(question) (any, error) {
		close(held)
		<-hold
		return answer{}, nil
	}); err != nil {
		t.Fatal(err)
	}
	twice(t, worker, bus.SubjectOf("w", bus.Beat))
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err := bus.Request[answer](short, asker, bus.SubjectOf("w", bus.Order), question{1})
	if !errors.Is(err, bus.ErrSilent) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an order that is under way: %v", err)
	}
	<-held
	if got, err := bus.Request[answer](ctx, asker, bus.SubjectOf("w", bus.Beat), question{4}); err != nil || got.Twice != 8 {
		t.Errorf("a beat meanwhile: %v, %v", got, err)
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := bus.Request[answer](canceled, asker, bus.SubjectOf("w", bus.Order), question{1}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	close(hold)
}

// lines are what a Bus says.
type lines chan string

func (l lines) say(line string) { l <- line }

func (l lines) next(t *testing.T, want string) {
	t.Helper()
	select {
	case line := <-l:
		if !strings.Contains(line, want) || strings.ContainsAny(line, "\n\x1b") {
			t.Errorf("said %q, want %q", line, want)
		}
	case <-limited(t).Done():
		t.Fatalf("nothing was said; want %q", want)
	}
}

func TestAServerThatRestarts(t *testing.T) {
	fleettest.Each(t, fleettest.Options{Token: "correct horse"}, func(t *testing.T, s fleettest.Server) {
		logged, loggedByWorker := make(lines, 100), make(lines, 100)
		asker := connect(t, bus.Options{URL: s.URL(), Token: "correct horse", Log: logged.say})
		worker := connect(t, bus.Options{URL: s.URL(), Token: "correct horse", Log: loggedByWorker.say})
		subject := bus.SubjectOf("w", bus.Beat)
		var asked atomic.Int32
		if _, err := bus.Answer(worker, subject, func(q question) (any, error) { asked.Add(1); return answer{2 * q.N}, nil }); err != nil {
			t.Fatal(err)
		}
		up, since := asker.Up()
		if !up || since.IsZero() {
			t.Errorf("up %v since %v", up, since)
		}
		s.Kill()
		logged.next(t, "is lost")
		loggedByWorker.next(t, "is lost")
		if up, down := asker.Up(); up || !down.After(since) {
			t.Errorf("up %v since %v, before %v", up, down, since)
		}
		// What is asked while the connection is down is not sent later.
		short, cancel := context.WithTimeout(limited(t), time.Millisecond)
		defer cancel()
		if _, err := bus.Request[answer](short, asker, subject, question{1}); !errors.Is(err, bus.ErrSilent) {
			t.Errorf("while the server is away: %v", err)
		}
		s.Restart()
		logged.next(t, "again")
		loggedByWorker.next(t, "again")
		if got, err := bus.Request[answer](limited(t), asker, subject, question{2}); err != nil || got.Twice != 4 {
			t.Errorf("afterwards: %v, %v", got, err)
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("%d questions arrived", n)
		}
		if up, _ := asker.Up(); !up {
			t.Error("not up")
		}
	})
}

// A freezing connection takes what is written and never answers once it is frozen, as one whose other
// end lost its power.
type freezing struct {
	net.Conn
	frozen *atomic.Bool
	closed chan struct{}
	once   *sync.Once
}

func (f freezing) Write(p []byte) (int, error) {
	if f.frozen.Load() {
		return len(p), nil
	}
	return f.Conn.Write(p)
}

func (f freezing) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	if f.frozen.Load() {
		<-f.closed
		return 0, net.ErrClosed
	}
	return n, err
}

func (f freezing) Close() error {
	f.once.Do(func() { close(f.closed) })
	return f.Conn.Close()
}

func TestADeadLinkIsNoticed(t *testing.T) {
	s := fleettest.Embedded(t, fleettest.Options{})
	var frozen atomic.Pointer[atomic.Bool]
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		frozen.Store(new(atomic.Bool))
		return freezing{conn, frozen.Load(), make(chan struct{}), new(sync.Once)}, err
	}
	logged := make(lines, 10)
	b := connect(t, bus.Options{URL: s.URL(), Dial: dial, Ping: 10 * time.Millisecond, Log: logged.say})
	frozen.Load().Store(true)
	logged.next(t, "is lost: stale connection")
	logged.next(t, "again")
	twice(t, b, bus.SubjectOf("w", bus.Poll))
	if got, err := bus.Request[answer](limited(t), b, bus.SubjectOf("w", bus.Poll), question{1}); err != nil || got.Twice != 2 {
		t.Errorf("afterwards: %v, %v", got, err)
	}
}

func TestManyQuestionsAtOnce(t *testing.T) {
	s := fleettest.Embedded(t, fleettest.Options{})
	asker, worker, ctx := connect(t, bus.Options{URL: s.URL()}), connect(t, bus.Options{URL: s.URL()}), limited(t)
	twice(t, worker, bus.SubjectOf("w", bus.Beat))
	var all errgroup.Group
	for i := range 200 {
		all.Go(func() error {
			got, err := bus.Request[answer](ctx, asker, bus.SubjectOf("w", bus.Beat), question{i})
			if err == nil && got.Twice != 2*i {
				err = fmt.Errorf("%d: %v", i, got)
			}
			return err
		})
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
}

// Close ends questions, whether they were sent or wait for a connection.
func TestCloseEndsQuestions(t *testing.T) {
	for _, away := range []bool{false, true} {
		s := fleettest.Embedded(t, fleettest.Options{})
		logged := make(lines, 10)
		asker, worker := connect(t, bus.Options{URL: s.URL(), Log: logged.say}), connect(t, bus.Options{URL: s.URL()})
		arrived, hold := make(chan struct{}), make(chan struct{})
		if _, err := bus.Answer(worker, bus.SubjectOf("w", bus.Order), func(question) (any, error) {
			close(arrived)
			<-hold
			return nil, nil
		}); err != nil {
			t.Fatal(err)
		}
		if away {
			s.Kill()
			logged.next(t, "is lost")
		}
		result := make(chan error)
		go func() {
			_, err := bus.Request[answer](limited(t), asker, bus.SubjectOf("w", bus.Order), question{})
			result <- err
		}()
		if !away {
			<-arrived
		}
		asker.Close()
		if err := <-result; err == nil || errors.Is(err, bus.ErrSilent) || !strings.Contains(err.Error(), "connection closed") {
			t.Errorf("away %v: %v", away, err)
		}
		close(hold)
	}
}
