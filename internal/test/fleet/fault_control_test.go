package fleet

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// kill ends a process by force.
func (c *process) kill() {
	c.signal(syscall.SIGKILL)
	<-c.over
}

// A controller that is killed before the start leaves workers that are free again, and nothing to
// collect.
func TestTheControllerIsKilledBeforeTheStart(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for _, phase := range []fleet.State{fleet.Preparing, fleet.Ready} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			overAll(t, embedded, func(t *testing.T, k kind) {
				s := newSite(t, k, 2)
				direct := s.target
				release := s.holdWhile(phase)
				c := s.control("--warmup", "5")
				s.in("w1", phase)
				c.kill()
				release()
				s.resume().complains("no run to resume")
				s.target = direct
				s.control("--workers", "2", "--fleet-wait", "30s").ends(0)
				s.kept(-1, nil)
			})
		})
	}
}

// What the workers measure for a controller that is killed once they have begun is collected by `pitot
// fleet resume`, once, into the row of the store that the first one began.
func TestTheControllerIsKilled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		at   func(s *site)
	}{
		{"in the run", func(s *site) { s.answered(60) }},
		{"armed", allArmed},
		{"after the last request", func(s *site) { s.answered(120) }},
		{"when the workers are done", func(s *site) { s.crew[0].says("done"); s.crew[1].says("done") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "in the run" {
				onlyLong(t)
			}
			overAll(t, ofModule, func(t *testing.T, k kind) {
				s := newSite(t, k, 2)
				c := s.control()
				tt.at(s)
				c.kill()
				begun := new(trace.Trace) // it may have died before it began a row
				if len(s.all()) > 0 {
					begun = s.stored()
				}
				again := s.resume()
				if code := again.wait(); code == 1 && strings.Contains(again.errs.String(), "no run to resume") && begun.Run.Status == trace.Complete {
					t.Log("the run was complete")
				} else if code != 0 {
					t.Errorf("exit code %d: %s", code, again.errs)
				}
				r, classes := s.kept(120, s.complete())
				if classes[""] != 120 || r.Run.Status != trace.Complete || begun.Run.ID != "" && r.Run.ID != begun.Run.ID || len(losses(r)) > 0 {
					t.Errorf("%s, %v, run %s of %s", r.Run.Status, classes, r.Run.ID, begun.Run.ID)
				}
				if a, b := samples(begun), samples(r); b < a {
					t.Errorf("%d samples were there, %d are", a, b)
				}
				s.free(2)
				s.resume().complains("no run to resume")
				if *long {
					s.control().ends(0)
				}
			})
		})
	}
}

func samples(r *trace.Trace) (n int) {
	if r.Telemetry == nil {
		return 0
	}
	for _, s := range r.Telemetry.Series {
		n += len(s.Points)
	}
	return n
}

// A controller that is killed while it stores, at one of many instants: the run is complete then, or
// resume completes it.
func TestTheControllerIsKilledWhileItStores(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	for i := range 8 {
		overAll(t, []kind{embedded, ofModule}[i%2], func(t *testing.T, k kind) {
			s := newSite(t, k, 2)
			c := s.control("-n", "3000", "--rate", "500") // faster ones, side by side, have more connections than files
			s.answered(3000)
			s.until("both are idle", func() bool {
				return strings.Contains(s.crew[0].errs.String(), "done") && strings.Contains(s.crew[1].errs.String(), "done")
			})
			time.Sleep(time.Duration(i) * 25 * time.Millisecond)
			c.kill()
			before := s.stored().Run.Status
			again := s.resume()
			code := again.wait()
			t.Logf("after %d ms: %s, resume %d %s", 25*i, before, code, again.errs)
			if code != 0 && before != trace.Complete {
				t.Errorf("exit code %d", code)
			}
			if r, classes := s.kept(3000, nil); classes[""] != 3000 || r.Run.Status != trace.Complete {
				t.Errorf("%s, %v", r.Run.Status, classes)
			}
		})
	}
}

// Resume is refused while there is a controller, and collects into another store as well.
func TestResumeElsewhere(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, embedded, func(t *testing.T, k kind) {
		s := newSite(t, k, 2)
		c := s.control("-n", "600")
		s.answered(40)
		s.resume().complains("has a controller", "stop that one first")
		c.kill()
		other := filepath.Join(s.dir, "other.db")
		s.resume("--store", other).ends(0)
		s.store = other
		if r, classes := s.kept(600, s.complete()); classes[""] != 600 || !r.Run.Fleet.Resumed {
			t.Errorf("%v", classes)
		}
	})
}

// A worker that is killed too is lost for who resumes, and what it had delivered is kept.
func TestAWorkerAndTheControllerAreKilled(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, ofModule, func(t *testing.T, k kind) {
		s := newSite(t, k, 2)
		c := s.control()
		s.answered(20)
		before := s.complete()
		s.answered(70)
		c.kill()
		s.crash(0)
		s.broker.kill()
		s.broker.again()
		s.resume("--tolerate").ends(0, "worker w0 on", "was lost")
		if r, classes := s.kept(120, before); classes[trace.WorkerLost] == 0 || !tolerated(r) {
			t.Errorf("%v, verdict %s", classes, verdict(r))
		}
	})
}

// A controller that is suspended in the run goes on with it.
func TestTheControllerIsSuspended(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, embedded, func(t *testing.T, k kind) {
		s := newSite(t, k, 2)
		c := s.control()
		s.answered(40)
		c.signal(syscall.SIGSTOP)
		time.Sleep(10 * time.Second)
		c.signal(syscall.SIGCONT)
		c.ends(0)
		if r, classes := s.kept(120, nil); classes[""] != 120 || len(losses(r)) > 0 {
			t.Errorf("%v, fleet %v", classes, lines(r))
		}
	})
}

// An interrupt ends the run in each of its phases, two end what is in flight.
func TestInterrupts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		phase fleet.State // to be held in; empty: none
		at    func(s *site)
		times int
		least int // records that the store has then; -1: no run
		most  int
	}{
		{"preparing", fleet.Preparing, func(s *site) { s.in("w1", fleet.Preparing) }, 1, -1, 0},
		{"warming up", fleet.Ready, func(s *site) { s.in("w1", fleet.Ready) }, 1, -1, 0},
		{"armed", "", allArmed, 1, 0, 10},
		{"in the run", "", func(s *site) { s.answered(60) }, 1, 60, 110},
		{"in the run twice", "", func(s *site) { s.answered(60) }, 2, 60, 110},
		{"armed twice", "", allArmed, 2, 0, 10},
		{"at the end", "", func(s *site) { s.answered(118) }, 1, 118, 120},
		{"at the end twice", "", func(s *site) { s.answered(118) }, 2, 118, 120},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "in the run" {
				onlyLong(t)
			}
			overAll(t, embedded, func(t *testing.T, k kind) {
				s := newSite(t, k, 2)
				release := func() {}
				if tt.phase != "" {
					release = s.holdWhile(tt.phase)
				}
				c := s.control("--warmup", "5")
				tt.at(s)
				for range tt.times {
					c.signal(syscall.SIGINT)
					time.Sleep(50 * time.Millisecond)
				}
				begin := time.Now()
				code := c.wait()
				if took := time.Since(begin); took > 5*time.Second {
					t.Errorf("it took %v", took)
				}
				release()
				if code != 130 && (code != 0 || tt.least < 118) {
					t.Errorf("exit code %d", code)
				}
				s.free(2)
				if tt.least < 0 {
					return
				}
				r, classes := s.kept(-1, nil)
				n := len(r.Records)
				if n < tt.least || n > tt.most || classes[trace.WorkerLost] > 0 || code == 130 && r.Run.Status != trace.Interrupted && tt.least < 118 {
					t.Errorf("%s, %d records, %v", r.Run.Status, n, classes)
				}
				if tt.times == 1 && classes[""] != n {
					t.Errorf("%v: what was in flight was not waited for", classes)
				}
			})
		})
	}
}

// Of two controllers that ask for the same workers, one gets them and the other is told who has them.
func TestTwoControllers(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, embedded, func(t *testing.T, k kind) {
		s := newSite(t, k, 2)
		a := s.control("-n", "400", "--workers", "2", "--fleet-wait", "6s")
		other := filepath.Join(s.dir, "other.db") // two processes that create one store may be in each other's way
		b := s.control("-n", "400", "--workers", "2", "--fleet-wait", "6s", "--store", other)
		if x, y := a.wait(), b.wait(); x+y != 1 {
			t.Fatalf("exit codes %d and %d:\n%s\n%s", x, y, a.errs, b.errs)
		}
		want := a
		if a.ProcessState.ExitCode() == 0 {
			want = b
		} else {
			s.store = other
		}
		want.complains("0 of 2 workers are free", "w0 is sending run fleet-", "w1 is sending", "--fleet-wait")
		s.kept(400, nil)
		s.free(2)
	})
}

// The server of `pitot fleet up` that is killed takes its workers with it.
func TestFleetUpIsKilled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	at := freeAddress(t)
	c := p.start("server", "fleet", "up", "--local", "2", "--listen", at, "--dir", filepath.Join(p.dir, "fleet"))
	c.says("-2: worker ")
	c.says("-1: worker ")
	before := p.processes(t)
	if len(before) != 3 {
		t.Errorf("%d processes: %v", len(before), before)
	}
	c.kill()
	deadline := time.Now().Add(20 * time.Second)
	for len(p.processes(t)) > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("processes are left: %v", p.processes(t))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// A leg of an experiment that loses a worker is made, and says so; the others are not affected.
func TestAnExperimentLosesAWorker(t *testing.T) {
	t.Parallel()
	onlyLong(t)
	overAll(t, embedded, func(t *testing.T, k kind) {
		s := newSite(t, k, 3)
		folder := filepath.Join(s.dir, "ab")
		args := append([]string{"ab", "--quiet", "--folder", folder, "--name", "faults", "--seed", "3", "--blocks", "1", "--warm-up", "own", "--before", s.target, "--same", "--fleet", s.url}, s.theirs...)
		c := s.start("experiment", append(args, "--", "bench", "-n", "60", "--rate", "40", "--output-len", "4", "--warmup", "0")...)
		s.answered(90)
		s.crash(2)
		if code := c.wait(); code > 1 { // 1: legs on a busy machine are not valid
			t.Errorf("exit code %d", code)
		}
		n, lost := 0, 0
		for _, r := range s.all() {
			n++
			if names := losses(r); len(names) > 0 {
				lost++
				if r.Run.Verdict.Validity != trace.Invalid || names[0] != "w2" {
					t.Errorf("%v, verdict %s", names, verdict(r))
				}
			}
		}
		if n < 3 || lost != 1 {
			t.Errorf("%d runs, %d with a loss:\n%s%s", n, lost, c.out, c.errs)
		}
	})
}
