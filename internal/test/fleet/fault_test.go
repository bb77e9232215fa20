package fleet

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/fleettest"
	"github.com/pitot-bench/pitot/internal/test/natsserver"
)

// A kind is a way to run the NATS server of a fleet, and to get into it.
type kind string

const (
	embedded  kind = "embedded"  // `pitot fleet up`
	ofModule  kind = "process"   // nats-server, built from its module
	withTLS   kind = "tls"       // as embedded, with an own CA and certificates of clients
	withCreds kind = "tls-creds" // as process, with an own CA and a credentials file
)

// overAll runs the short form of a test over one kind of server, and the long form over all.
func overAll(t *testing.T, short kind, test func(t *testing.T, k kind)) {
	t.Helper()
	kinds := []kind{short}
	if *long {
		kinds = []kind{embedded, ofModule, withTLS, withCreds}
	}
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			test(t, k)
		})
	}
}

// onlyLong leaves a test to the long form.
func onlyLong(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("only with -long")
	}
}

// A broker is the process of a NATS server.
type broker interface {
	stop()  // as an operator does
	kill()  // by force
	again() // starts it on the same address and folder
	signal(s syscall.Signal)
}

type moduleBroker struct{ *natsserver.Server }

func (b moduleBroker) stop()                   { b.Stop() }
func (b moduleBroker) kill()                   { b.Kill() }
func (b moduleBroker) again()                  { b.Restart() }
func (b moduleBroker) signal(s syscall.Signal) { _ = syscall.Kill(b.PID(), s) }

type embeddedBroker struct {
	*place
	args    []string
	at      string
	process *process
}

func (b *embeddedBroker) stop() {
	b.process.signal(syscall.SIGTERM)
	<-b.process.over
}

func (b *embeddedBroker) kill() {
	b.process.signal(syscall.SIGKILL)
	<-b.process.over
}

func (b *embeddedBroker) again() {
	b.process = b.start("server", b.args...)
	waitFor(b.t, b.at)
}

func (b *embeddedBroker) signal(s syscall.Signal) { b.process.signal(s) }

// A site is a fleet of processes, and a server that is measured.
type site struct {
	*place
	broker broker
	join   bus.Options // of the test itself
	own    []string    // flags of the fleet for workers, status and resume
	theirs []string    // and for measuring commands
	truth  *truth.Server
	target string // its URL
	crew   []*process
	eye    *bus.Bus
}

// slow is a server whose answers take 0.2 s.
var slow = truth.Config{TTFT: 50 * time.Millisecond, Step: 50 * time.Millisecond}

// newSite starts a NATS server and workers w0, w1 and so on.
func newSite(t *testing.T, k kind, workers int) *site {
	t.Helper()
	s := newBroker(t, k)
	s.truth, s.target = fleettest.Truth(t, slow)
	s.hire(workers)
	return s
}

// newBroker starts a NATS server and nothing else.
func newBroker(t *testing.T, k kind) *site {
	t.Helper()
	s := &site{place: newPlace(t)}
	s.join = bus.Options{Name: "test", Token: token}
	if k == withTLS || k == withCreds {
		ca := fleettest.NewCA(t)
		s.join.CA = ca.File
		s.join.Cert, s.join.Key = ca.Issue(t, "client")
	}
	switch k {
	case embedded, withTLS:
		s.embed(t, k)
	case ofModule:
		b := natsserver.Start(t, natsserver.Options{Token: token})
		s.broker, s.url = moduleBroker{b}, b.URL()
	case withCreds:
		operator := fleettest.NewOperator(t)
		s.join.Token, s.join.Creds = "", operator.User(t, nil)
		s.noToken = true
		b := natsserver.Start(t, natsserver.Options{Config: operator.Config, CA: s.join.CA, Cert: s.join.Cert, Key: s.join.Key})
		s.broker, s.url = moduleBroker{b}, b.URL()
	}
	s.join.URL = s.url
	s.flags()
	return s
}

func (s *site) embed(t *testing.T, k kind) {
	at := freeAddress(t)
	b := &embeddedBroker{place: s.place, at: at, args: []string{"fleet", "up", "--listen", at, "--dir", filepath.Join(s.dir, "fleet")}}
	s.url = "nats://" + at
	if k == withTLS {
		b.args = append(b.args, "--ca", s.join.CA, "--tls-cert", s.join.Cert, "--tls-key", s.join.Key)
		s.url = "tls://" + at
	}
	b.again()
	s.broker = b
}

// flags are those that let processes into the fleet.
func (s *site) flags() {
	for _, one := range []struct{ own, theirs, value string }{
		{"--ca", "--fleet-ca", s.join.CA}, {"--tls-cert", "--fleet-cert", s.join.Cert}, {"--tls-key", "--fleet-key", s.join.Key}, {"--creds", "--fleet-creds", s.join.Creds},
	} {
		if one.value != "" {
			s.own, s.theirs = append(s.own, one.own, one.value), append(s.theirs, one.theirs, one.value)
		}
	}
}

// hire starts more workers.
func (s *site) hire(n int) {
	s.t.Helper()
	for range n {
		s.crew = append(s.crew, s.worker(fmt.Sprintf("w%d", len(s.crew)), s.own...))
	}
}

// control starts a controller with flags, whose load is 120 requests in 3 s unless they say otherwise.
func (s *site) control(more ...string) *process {
	s.t.Helper()
	args := append([]string{"--url", s.target, "-n", "120", "--rate", "40", "--output-len", "4", "--warmup", "0", "--seed", "7", "--fleet-wait", "10s"}, s.theirs...)
	return s.bench(append(args, more...)...)
}

// resume collects what a controller has left.
func (s *site) resume(more ...string) *process {
	s.t.Helper()
	return s.start("resume", append(append([]string{"fleet", "resume", "--join", s.url}, s.own...), more...)...)
}

// until waits for something to hold.
func (s *site) until(what string, holds func() bool) {
	s.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			s.t.Fatalf("waited a minute: %s", what)
		}
	}
}

// answered waits until the server has answered so many requests.
func (s *site) answered(n int) {
	s.t.Helper()
	s.until(fmt.Sprintf("%d answers", n), func() bool { return len(s.complete()) >= n })
}

// complete are the ids of requests that the server has answered.
func (s *site) complete() (ids []string) {
	for _, r := range s.truth.Log().Requests {
		if r.Ended == truth.Complete {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// look asks the workers who they are.
func (s *site) look() (all []fleet.Worker) {
	s.t.Helper()
	if s.eye == nil {
		b, err := bus.Connect(s.t.(*testing.T).Context(), s.join)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(b.Close)
		s.eye = b
	}
	seen := map[string]bool{}
	_ = bus.RequestAll(s.t.(*testing.T).Context(), s.eye, bus.Everybody, fleet.Question{Protocol: fleet.Protocol}, 100*time.Millisecond, func(w fleet.Worker) bool {
		all = append(all, w)
		seen[w.ID] = true
		return len(seen) == len(s.crew)
	})
	return all
}

// in waits until a worker is in one of some states.
func (s *site) in(name string, states ...fleet.State) {
	s.t.Helper()
	s.until(fmt.Sprintf("%s is %v", name, states), func() bool {
		return slices.ContainsFunc(s.look(), func(w fleet.Worker) bool { return w.Name == name && slices.Contains(states, w.State) })
	})
}

// allArmed waits until both workers know that they are to begin, up to 2 s before they do.
func allArmed(s *site) {
	s.t.Helper()
	for _, w := range s.crew {
		w.says("sending 60 of 120")
	}
}

// free waits until n workers are idle.
func (s *site) free(n int) {
	s.t.Helper()
	s.until(fmt.Sprintf("%d workers are idle", n), func() bool {
		idle := 0
		for _, w := range s.look() {
			if w.State == fleet.Idle {
				idle++
			}
		}
		return idle >= n
	})
}

// kept is the last run in the store, with its records by class. Each of n requests must be there
// once, those before must be answered, and nothing may have been sent twice.
func (s *site) kept(n int, before []string) (*trace.Trace, map[trace.Class]int) {
	s.t.Helper()
	r := s.stored()
	classes, seen, ok, ours := map[trace.Class]int{}, map[int]bool{}, map[string]bool{}, map[string]bool{}
	for _, rec := range r.Records {
		if seen[rec.Index] {
			s.t.Errorf("request %d is in the store twice", rec.Index)
		}
		seen[rec.Index], ours[rec.ID] = true, true
		classes[rec.Class]++
		if rec.OK() {
			ok[rec.ID] = true
		}
	}
	if n >= 0 && len(r.Records) != n {
		s.t.Errorf("the store has %d of %d records: %v", len(r.Records), n, classes)
	}
	sent := map[string]bool{}
	for _, one := range s.truth.Log().Requests {
		if sent[one.ID] {
			s.t.Errorf("request %s was sent twice", one.ID)
		}
		sent[one.ID] = true
	}
	for id := range ok {
		if !sent[id] {
			s.t.Errorf("request %s has an answer that the server did not give", id)
		}
	}
	for _, id := range before {
		if ours[id] && !ok[id] { // what else was sent tried the server
			s.t.Errorf("the answer to request %s was delivered, and is not in the store", id)
		}
	}
	s.t.Logf("%s, %v, verdict %s, fleet %+v", r.Run.Status, classes, verdict(r), lines(r))
	return r, classes
}

func verdict(r *trace.Trace) string {
	if r.Run.Verdict == nil {
		return "none"
	}
	return fmt.Sprintf("%v %v", r.Run.Verdict.Validity, r.Run.Verdict.Reasons)
}

// tolerated reports whether a run is judged for a loss, but not invalid because of it. On a busy machine
// it may be so for another reason.
func tolerated(r *trace.Trace) bool {
	v := r.Run.Verdict
	return slices.ContainsFunc(v.Reasons, func(m plan.Message) bool { return m.Code == "verdict.workers-lost" }) &&
		r.Run.Fleet.Tolerate && (v.Validity == trace.Doubtful || len(v.Reasons) > 1)
}

// lines are what a run keeps of its workers.
func lines(r *trace.Trace) (all []string) {
	if r.Run.Fleet == nil {
		return nil
	}
	for _, w := range r.Run.Fleet.Workers {
		all = append(all, fmt.Sprintf("%s %d/%d ±%v steps %d %v", w.Name, w.Records, w.Requests, w.Clock.Bound, w.Clock.Steps, w.LostWhy))
	}
	return all
}

// losses are the names of the workers that were lost.
func losses(r *trace.Trace) (names []string) {
	if r.Run.Fleet == nil {
		return nil
	}
	for _, w := range r.Run.Fleet.Workers {
		if w.IsLost() {
			names = append(names, w.Name)
		}
	}
	return names
}

// ends waits for a process and checks its exit code and what it has said.
func (c *process) ends(code int, lines ...string) {
	c.t.Helper()
	got := c.wait()
	text := c.out.String() + c.errs.String()
	if got != code {
		c.t.Errorf("%s: exit code %d, not %d:\n%s", c.name, got, code, text)
	}
	for _, want := range lines {
		if !strings.Contains(text, want) {
			c.t.Errorf("%s does not say %q:\n%s", c.name, want, text)
		}
	}
	if strings.Contains(text, "panic:") || strings.Contains(text, "goroutine ") {
		c.t.Errorf("%s panicked:\n%s", c.name, text)
	}
}

// complains checks that a process ends with one line of error, which names what is wrong.
func (c *process) complains(lines ...string) {
	c.t.Helper()
	c.ends(1, lines...)
	last := ""
	for line := range strings.Lines(c.errs.String()) {
		last = line
	}
	c.t.Logf("%s: %s", c.name, strings.TrimSpace(last))
	for _, want := range lines {
		if !strings.Contains(last, want) {
			c.t.Errorf("the last line of %s does not say %q: %s", c.name, want, last)
		}
	}
}

// status is what `pitot fleet status --json` prints.
func (s *site) status() string {
	c := s.start("status", append([]string{"fleet", "status", "--json", "--wait", "300ms", "--join", s.url}, s.own...)...)
	c.wait()
	return c.out.String()
}

// otherVersion is the program with another version.
var otherVersion = func() func(t testing.TB) string {
	build := sync.OnceValues(func() (string, error) {
		name := pitot + "-v9.9.9"
		out, err := exec.Command("go", "build", "-ldflags", "-X main.version=v9.9.9", "-o", name, "github.com/pitot-bench/pitot/cmd/pitot").CombinedOutput()
		if err != nil {
			err = fmt.Errorf("build: %w\n%s", err, out)
		}
		return name, err
	})
	return func(t testing.TB) string {
		t.Helper()
		name, err := build()
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
}()

// processes are the ids of the processes of a place, by the folder in their environment.
func (p *place) processes(t testing.TB) (ids []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		env, err := os.ReadFile(name) // it may have ended, or be another user's
		if err == nil && bytes.Contains(env, []byte(p.dir)) {
			ids = append(ids, filepath.Base(filepath.Dir(name)))
		}
	}
	return ids
}
