package fleet

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/test/fleettest"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// holdPreparing lets no further connection through to the measured server while a worker prepares,
// until it is released.
func (s *site) holdPreparing() (release func()) {
	s.t.Helper()
	return s.holdWhile(fleet.Preparing)
}

func (s *site) holdWhile(state fleet.State) (release func()) {
	s.t.Helper()
	var free atomic.Bool
	l := newLine(s.t, hostOf(s.t, s.target))
	l.hold = func() bool {
		n := 0
		for _, w := range s.look() {
			if w.State == state {
				n++
			}
		}
		return !free.Load() && (n == len(s.crew) || n > 0 && state == fleet.Preparing)
	}
	s.target = l.before(s.t, s.target)
	release = func() { free.Store(true) }
	s.t.Cleanup(release)
	return release
}

// crash kills a worker.
func (s *site) crash(i int) {
	s.crew[i].signal(syscall.SIGKILL)
	<-s.crew[i].over
}

// A worker that is killed while it is idle is not asked.
func TestAWorkerIsKilledWhileIdle(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, embedded, func(t *testing.T, k kind) {
		s := newSite(t, k, 3)
		s.crash(1)
		s.control("--workers", "3", "--fleet-wait", "1s").complains("2 of 3 workers", "--fleet-wait", "--fleet-fewer")
		s.control("--workers", "3", "--fleet-wait", "1s", "--fleet-fewer").ends(0, "2 of 3 workers")
		s.kept(120, nil)
	})
}

// A worker that is killed before the start: the run waits for another one, starts with fewer, or is
// refused in one line.
func TestAWorkerIsKilledBeforeTheStart(t *testing.T) {
	t.Parallel()
	for _, phase := range []fleet.State{fleet.Preparing, fleet.Ready} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			if phase == fleet.Ready {
				onlyLong(t)
			}
			overAll(t, ofModule, func(t *testing.T, k kind) {
				t.Run("another one", func(t *testing.T) { killBeforeTheStart(t, k, phase, 3) })
				if *long {
					t.Run("fewer", func(t *testing.T) { killBeforeTheStart(t, k, phase, 2, "--fleet-fewer", "--fleet-wait", "1s") })
					t.Run("refused", func(t *testing.T) { killBeforeTheStart(t, k, phase, 0, "--fleet-wait", "1s") })
				}
			})
		})
	}
}

// killBeforeTheStart kills one of three workers. made is how many of them send the run, 0 for a run
// that is refused.
func killBeforeTheStart(t *testing.T, k kind, phase fleet.State, made int, flags ...string) {
	t.Parallel()
	s := newSite(t, k, 3)
	release := s.holdWhile(phase)
	c := s.control(append([]string{"--workers", "3", "--warmup", "5"}, flags...)...)
	s.in("w1", phase)
	s.crash(1)
	release()
	if made == 0 {
		c.complains("2 of 3 workers", "--fleet-fewer")
		s.free(2)
		return
	}
	if made == 3 {
		c.says("w1 on")
		s.hire(1)
	}
	c.ends(0, "worker w1 on", "was lost before the start")
	r, _ := s.kept(120, nil)
	if len(r.Run.Fleet.Workers) != made || len(losses(r)) > 0 {
		t.Errorf("fleet %v", lines(r))
	}
}

// The requests of a worker that is killed in the run are failed by its class, the rest goes on, and
// what it had delivered is kept.
func TestAWorkerIsKilledInTheRun(t *testing.T) {
	t.Parallel()
	overAll(t, embedded, func(t *testing.T, k kind) {
		s := newSite(t, k, 3)
		c := s.control("--require-valid")
		s.answered(20)
		before := s.complete()
		s.answered(70)
		s.crash(1)
		c.ends(3, "worker w1 on", "was lost", "INVALID")
		r, classes := s.kept(120, before)
		lost := classes[trace.WorkerLost]
		if got := losses(r); len(got) != 1 || got[0] != "w1" || lost == 0 || lost > 30 || lost != r.Run.Fleet.Workers[1].Missing() || r.Run.Status != trace.Complete {
			t.Errorf("%s, %d lost, fleet %v", r.Run.Status, lost, lines(r))
		}
		if v := r.Run.Verdict; v.Validity != trace.Invalid {
			t.Errorf("verdict %+v", v)
		}
	})
}

// A worker that is killed when all have agreed on the start is lost in the run.
func TestAWorkerIsKilledWhenItIsArmed(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, embedded, func(t *testing.T, k kind) {
		s := newSite(t, k, 3)
		c := s.control()
		s.crew[1].says("sending 40 of 120")
		s.crash(1)
		c.ends(0, "worker w1 on", "INVALID")
		if _, classes := s.kept(120, nil); classes[""] != 80 || classes[trace.WorkerLost] != 40 {
			t.Errorf("%v", classes)
		}
	})
}

// The same with --tolerate, in a closed loop: its places go to the others.
func TestALossIsTolerated(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, embedded, func(t *testing.T, k kind) {
		s := newSite(t, k, 3)
		c := s.start("controller", append([]string{"bench", "--fleet", s.url, "--url", s.target, "-n", "300", "-c", "9", "--output-len", "4", "--warmup", "0", "--tolerate"}, s.theirs...)...)
		s.answered(50)
		s.crash(1)
		c.ends(0, "worker w1 on", "was lost")
		r, classes := s.kept(300, nil)
		if classes[trace.WorkerLost] == 0 || !tolerated(r) {
			t.Errorf("%v, verdict %v", classes, verdict(r))
		}
	})
}

// A worker that is killed while it delivers: the NATS server is away, so that it has to.
func TestAWorkerIsKilledWhileDelivering(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, ofModule, func(t *testing.T, k kind) {
		s := newSite(t, k, 3)
		c := s.control()
		s.answered(20)
		before := s.complete()
		s.answered(90)
		s.broker.stop()
		s.answered(120)
		s.crash(1)
		s.broker.again()
		c.ends(0, "worker w1 on", "INVALID")
		r, classes := s.kept(120, before)
		if n := classes[trace.WorkerLost]; n == 0 || n > 20 {
			t.Errorf("%v, fleet %v", classes, lines(r))
		}
	})
}

// A worker that is suspended for less than the grace time goes on, and its lateness shows.
func TestAWorkerIsSuspendedForASecond(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, embedded, func(t *testing.T, k kind) {
		s := newSite(t, k, 2)
		c := s.control()
		s.answered(30)
		s.crew[1].signal(syscall.SIGSTOP)
		time.Sleep(time.Second)
		s.crew[1].signal(syscall.SIGCONT)
		c.ends(0)
		r, classes := s.kept(120, nil)
		if classes[""] != 120 || len(losses(r)) > 0 || r.Run.Fleet.Workers[1].Late < 500*time.Millisecond || r.Run.Verdict.Validity == trace.Valid {
			t.Errorf("%v, late %v, verdict %s", classes, r.Run.Fleet.Workers[1].Late, verdict(r))
		}
	})
}

// A worker that is suspended for longer is lost. When it goes on it is told so and sends no more, and
// what it had measured is taken while the run goes on.
func TestAWorkerIsSuspendedInTheRun(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, ofModule, func(t *testing.T, k kind) {
		s := newSite(t, k, 2)
		c := s.control("-n", "400")
		s.answered(40)
		s.crew[1].signal(syscall.SIGSTOP)
		c.says("worker w1 on") // it is lost
		s.crew[1].signal(syscall.SIGCONT)
		s.free(1) // it, as the other one sends
		at := len(s.truth.Log().Requests)
		c.ends(0, "w1", "was lost")
		r, classes := s.kept(400, nil)
		if got := losses(r); len(got) != 1 || classes[trace.WorkerLost] < 10 || r.Run.Status != trace.Complete {
			t.Errorf("%s, %v, fleet %v", r.Run.Status, classes, lines(r))
		}
		if at > 380 {
			t.Logf("the worker came back late: %d of 400 had been sent", at)
		}
	})
}

// A worker that is suspended before the start is replaced.
func TestAWorkerIsSuspendedBeforeTheStart(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, embedded, func(t *testing.T, k kind) {
		s := newSite(t, k, 3)
		release := s.holdPreparing()
		c := s.control("--workers", "3", "--fleet-wait", "20s")
		s.in("w1", fleet.Preparing)
		s.crew[1].signal(syscall.SIGSTOP)
		release()
		c.says("w1 on")
		s.crew[1].signal(syscall.SIGCONT)
		c.ends(0, "was lost before the start")
		if r, classes := s.kept(120, nil); len(r.Run.Fleet.Workers) != 3 || classes[""] != 120 {
			t.Errorf("%v, fleet %v", classes, lines(r))
		}
	})
}

// A worker that is asked to end while it sends waits for what is in flight, and delivers it; asked
// twice, it cancels that. What it did not send is missing, and the run says so.
func TestAWorkerIsAskedToEnd(t *testing.T) {
	t.Parallel()
	for name, times := range map[string]int{"once": 1, "twice": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if times > 1 {
				onlyLong(t)
			}
			overAll(t, embedded, func(t *testing.T, k kind) {
				s := newSite(t, k, 2)
				c := s.control()
				s.answered(60)
				for range times {
					s.crew[1].signal(syscall.SIGTERM)
					time.Sleep(20 * time.Millisecond) // signals of a kind do not queue
				}
				s.crew[1].ends(130)
				c.ends(0, "worker w1 on", "was lost", "interrupted", "INVALID")
				r, classes := s.kept(120, nil)
				if n := classes[trace.WorkerLost]; n < 10 || n > 30 || r.Run.Status != trace.Complete {
					t.Errorf("%s, %v", r.Run.Status, classes)
				}
				if n := classes[trace.Cancelled]; (n > 0) != (times > 1) {
					t.Errorf("%d requests cancelled", n)
				}
			})
		})
	}
}

// A worker that is asked to end while nothing is sent ends at once.
func TestAWorkerIsAskedToEndBeforeTheStart(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, embedded, func(t *testing.T, k kind) {
		s := newSite(t, k, 1)
		s.crew[0].signal(syscall.SIGTERM)
		s.crew[0].ends(130)
		for _, phase := range []fleet.State{fleet.Preparing, fleet.Ready} {
			s := newSite(t, k, 2)
			release := s.holdWhile(phase)
			c := s.control("--workers", "2", "--fleet-wait", "1s", "--fleet-fewer", "--warmup", "2")
			s.in("w1", phase)
			s.crew[1].signal(syscall.SIGTERM)
			s.crew[1].ends(130)
			release()
			c.ends(0, "worker w1 on", "was lost before the start")
			s.kept(120, nil)
		}
	})
}

// A worker of another version is refused, with both named.
func TestVersionsDiffer(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, embedded, func(t *testing.T, k kind) {
		s := newBroker(t, k)
		s.truth, s.target = fleettest.Truth(t, slow)
		s.hire(1)
		other := s.pitot
		s.pitot = otherVersion(t)
		s.hire(1)
		s.pitot = other
		s.control().complains("worker w1 on", "is pitot v9.9.9", "and this is pitot dev", "use one version")
		if text := s.status(); !strings.Contains(text, "v9.9.9") {
			t.Errorf("status: %s", text)
		}
		s.free(2)
		s.pitot = otherVersion(t)
		s.control().complains("worker w0 on", "v9.9.9", "dev")
	})
}
