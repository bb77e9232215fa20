package fleet

import (
	"context"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// whole checks a run of 120 requests that lost nothing.
func (s *site) whole() *trace.Trace {
	s.t.Helper()
	r, classes := s.kept(120, s.complete())
	if classes[""] != 120 || len(losses(r)) > 0 || r.Run.Status != trace.Complete {
		s.t.Errorf("%s, %v, fleet %v", r.Run.Status, classes, lines(r))
	}
	return r
}

// A NATS server that is stopped or killed and started again, in any phase, costs nothing.
func TestNATSIsRestarted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		phase fleet.State
		at    func(s *site)
		away  time.Duration
	}{
		{"idle", "", nil, 0},
		{"preparing", fleet.Preparing, func(s *site) { s.in("w1", fleet.Preparing) }, 0},
		{"preparing, 8 s", fleet.Preparing, func(s *site) { s.in("w1", fleet.Preparing) }, 8 * time.Second},
		{"warming up", fleet.Ready, func(s *site) { s.in("w1", fleet.Ready); s.in("w0", fleet.Ready) }, 0},
		{"warming up, 8 s", fleet.Ready, func(s *site) { s.in("w1", fleet.Ready); s.in("w0", fleet.Ready) }, 8 * time.Second},
		{"armed", "", allArmed, 0},
		{"in the run", "", func(s *site) { s.answered(40) }, 0},
		{"in the run, 10 s", "", func(s *site) { s.answered(40) }, 10 * time.Second},
		{"at the end, 7 s", "", func(s *site) { s.answered(112) }, 7 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "in the run" {
				onlyLong(t)
			}
			overAll(t, embedded, func(t *testing.T, k kind) {
				for _, force := range []bool{false, true} {
					if !force && !*long {
						continue
					}
					s := newSite(t, k, 2)
					release := func() {}
					if tt.phase != "" {
						release = s.holdWhile(tt.phase)
					}
					var c *process
					if tt.at != nil {
						c = s.control("--warmup", "5", "--fleet-wait", "30s")
						tt.at(s)
					}
					if force {
						s.broker.kill()
					} else {
						s.broker.stop()
					}
					time.Sleep(tt.away)
					s.broker.again()
					release()
					if c == nil {
						s.free(2)
						c = s.control()
					}
					c.ends(0)
					s.whole()
				}
			})
		})
	}
}

// A NATS server that is suspended costs nothing.
func TestNATSIsSuspended(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, ofModule, func(t *testing.T, k kind) {
		s := newSite(t, k, 2)
		c := s.control()
		s.answered(40)
		s.broker.signal(syscall.SIGSTOP)
		time.Sleep(8 * time.Second)
		s.broker.signal(syscall.SIGCONT)
		c.ends(0)
		s.whole()
	})
}

// Records that cannot be delivered, since the NATS server does not come back, are in a file when the
// worker ends, and `pitot import` reads it.
func TestNATSDoesNotComeBack(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, ofModule, func(t *testing.T, k kind) {
		s := newSite(t, k, 2)
		c := s.control()
		s.answered(20)
		s.broker.kill()
		s.answered(120)
		for _, w := range s.crew {
			w.signal(syscall.SIGTERM)
			time.Sleep(50 * time.Millisecond)
			w.signal(syscall.SIGTERM)
		}
		n := 0
		for _, w := range s.crew {
			w.ends(130, "records could not be delivered", "they are in ")
			files, err := filepath.Glob(filepath.Join(s.dir, w.name, "pitot-rescue-*.json"))
			if err != nil || len(files) != 1 {
				t.Fatalf("files %v, %v", files, err)
			}
			s.start("import", "import", files[0]).ends(0)
			for _, one := range s.all() {
				if strings.Contains(files[0], one.Run.ID) {
					n += len(one.Records)
				}
			}
		}
		if n != 120 {
			t.Errorf("%d of 120 records were imported", n)
		}
		begin := time.Now()
		c.signal(syscall.SIGINT)
		time.Sleep(50 * time.Millisecond)
		c.signal(syscall.SIGINT)
		c.wait()
		if took := time.Since(begin); took > 40*time.Second || c.ProcessState.ExitCode() != 130 {
			t.Errorf("the controller ended %v after two interrupts with exit code %d: %s", took, c.ProcessState.ExitCode(), c.errs)
		}
	})
}

// A slow network makes the bounds of clocks wider, and nothing is lost: neither where each piece takes its
// time, nor where few fit in, nor where connections are cut, nor where nothing is forwarded for a while.
func TestASlowNetwork(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, tt := range []struct {
		name    string
		set     func(l *line)
		during  func(ctx context.Context, l *line)
		least   time.Duration // the bound of a worker behind the line is at least so wide, and at most
		most    time.Duration
		control bool // the controller is behind it too
	}{
		{name: "50 ms", set: func(l *line) { l.delay, l.more = 50*ms, 5*ms }, least: 10 * ms, most: 80 * ms},
		{name: "200 ms", set: func(l *line) { l.delay, l.more = 200*ms, 60*ms }, least: 50 * ms, most: 600 * ms, control: true},
		{name: "one way", set: func(l *line) { l.delay, l.back = 100*ms, true }, least: 45 * ms, most: 120 * ms},
		{name: "20 kB a second", set: func(l *line) { l.rate = 20_000 }, most: time.Second},
		{name: "cut", during: func(ctx context.Context, l *line) {
			for ctx.Err() == nil {
				time.Sleep(rand.N(800 * ms))
				l.cut()
			}
		}, most: time.Second, control: true},
		{name: "half open", during: func(_ context.Context, l *line) {
			time.Sleep(500 * ms)
			l.freeze(true)
			time.Sleep(10 * time.Second)
			l.freeze(false)
		}, most: time.Second, control: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "50 ms" {
				onlyLong(t)
			}
			overAll(t, embedded, func(t *testing.T, k kind) {
				s := newSite(t, k, 1)
				l := newLine(t, hostOf(t, s.url))
				if tt.set != nil {
					tt.set(l)
				}
				straight := s.url
				s.url = l.before(t, s.url)
				s.hire(1)
				if !tt.control {
					s.url = straight
				}
				c := s.control("--workers", "2")
				s.answered(20)
				ctx, end := context.WithTimeout(t.Context(), 5*time.Second)
				defer end()
				if tt.during != nil {
					tt.during(ctx, l)
				}
				c.ends(0)
				r := s.whole()
				if len(r.Run.Fleet.Workers) != 2 {
					t.Fatalf("fleet %v", lines(r))
				}
				w := r.Run.Fleet.Workers[1]
				if w.Clock.Bound < tt.least || w.Clock.Bound > tt.most {
					t.Errorf("bound %v, not from %v to %v; round trip %v, %d exchanges", w.Clock.Bound, tt.least, tt.most, w.Clock.RoundTrip, w.Clock.Exchanges)
				}
				s.agree(r)
			})
		})
	}
}

// agree checks that requests arrived when they were due, within the bounds of the clocks: all
// processes are on this machine, and the server has one clock.
func (s *site) agree(r *trace.Trace) {
	s.t.Helper()
	received := map[string]int64{}
	for _, one := range s.truth.Log().Requests {
		received[one.ID] = one.Received
	}
	// What is between the due time and the arrival of a request is the same for all workers, but
	// for how late it was sent, which the record tells, and how far its worker's clock is off.
	var least, most [2]int64
	for i := range least {
		least[i], most[i] = 1<<62, -1<<62
	}
	for _, rec := range r.Records {
		delay := received[rec.ID] - int64(rec.Sent)
		i := rec.Index % 2
		least[i], most[i] = min(least[i], delay), max(most[i], delay)
	}
	bound := int64(r.Run.Fleet.MaxOffset) + int64(5*time.Millisecond) // to write and to receive
	if d := least[1] - least[0]; d > bound || -d > bound {
		s.t.Errorf("the workers are %v apart, and are to be at most %v", time.Duration(d), time.Duration(bound))
	}
}

// A worker whose monotonic clock is far from the controller's sends at the same instants.
func TestAFarMonotonicClock(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	if out, err := exec.Command("unshare", "--time", "--monotonic", "100000", "--fork", "true").CombinedOutput(); err != nil {
		t.Skipf("no time namespaces here: %v %s", err, out)
	}
	overAll(t, embedded, func(t *testing.T, k kind) {
		s := newSite(t, k, 1)
		s.crew = append(s.crew, s.workerWith("w1", []string{"unshare", "--time", "--monotonic", "100000", "--boottime", "100000", "--fork", "--kill-child"}, s.own...))
		s.control().ends(0)
		r := s.whole()
		if w := r.Run.Fleet.Workers[1]; w.Clock.Bound <= 0 || w.Clock.Bound > 100*time.Millisecond || w.Clock.Steps > 0 {
			t.Errorf("clock %+v", w.Clock)
		}
		s.agree(r)
	})
}
