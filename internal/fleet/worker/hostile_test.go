package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/fleet/worker"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/test/fleettest"
)

const (
	version = "v1.2.3"
	run1    = "fleet-hostile1"
)

// A victim is a worker, and what it did beside answering.
type victim struct {
	t    *testing.T
	id   string
	b    *bus.Bus // of the attacker
	mu   sync.Mutex
	did  []string
	said []string
}

func (v *victim) note(to *[]string, what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	*to = append(*to, what)
}

// newVictim starts a worker, which ends with the test.
func newVictim(t *testing.T) *victim {
	t.Helper()
	s := fleettest.Embedded(t, fleettest.Options{})
	connect := func() *bus.Bus {
		b, err := bus.Connect(t.Context(), bus.Options{URL: s.URL()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		return b
	}
	key := fleet.NewKey()
	v := &victim{t: t, id: key.ID(), b: connect()}
	o := worker.Options{
		Key: key, Self: fleet.Worker{Name: "w", Host: "here", Protocol: fleet.Protocol, Pitot: version, CPUs: 2, Files: 1 << 16}, Bus: connect(), Deps: v.deps, Folder: t.TempDir(),
		Log: func(line string) { v.note(&v.said, line) },
	}
	ctx, end := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		if err := worker.Serve(ctx, o); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { end(); done.Wait() })
	for { // until it listens
		poll := fleet.Poll{Run: "nothing"}
		_, err := bus.Request[fleet.Readiness](t.Context(), v.b, bus.SubjectOf(v.id, bus.Poll), poll)
		if err == nil {
			return v
		}
		if !errors.Is(err, bus.ErrGone) {
			t.Fatal(err)
		}
	}
}

// deps are those of a machine with a key file and variables, whose uses are noted.
func (v *victim) deps() run.Deps {
	return run.Deps{
		Kinds: run.Kinds{Datasets: traffic.Datasets(), Arrivals: traffic.Arrivals()},
		Read: func(name string) ([]byte, error) {
			v.note(&v.did, "read "+name)
			return os.ReadFile(name)
		},
		Folder: files.Folder,
		Env: func(name string) (string, bool) {
			v.note(&v.did, "env "+name)
			return "value-of-" + name, true
		},
		Listen: func(network, address string) (net.Listener, error) {
			v.note(&v.did, "listen "+address)
			return net.Listen(network, address)
		},
		Dial:    new(net.Dialer).DialContext,
		Machine: trace.Environment{CPUs: 2, FileLimit: 1 << 16},
	}
}

func (v *victim) list(of *[]string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Join(*of, "\n")
}

// order has the worker prepare a Spec, and returns what came of it.
func (v *victim) order(o fleet.Order) fleet.Readiness {
	v.t.Helper()
	if o.Run == "" {
		o.Run = run1
	}
	o.Protocol, o.Pitot = fleet.Protocol, version
	r, err := bus.Request[fleet.Readiness](v.t.Context(), v.b, bus.SubjectOf(v.id, bus.Order), o)
	for err == nil && r.State == fleet.Preparing {
		r, err = bus.Request[fleet.Readiness](v.t.Context(), v.b, bus.SubjectOf(v.id, bus.Poll), fleet.Poll{Run: o.Run})
	}
	if err != nil {
		v.t.Fatal(err)
	}
	return r
}

func specOf(t *testing.T, target string) plan.Spec {
	t.Helper()
	s, _, err := plan.Read("spec.yaml", []byte("version: 1\ntarget: "+target+"\n"+small))
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

const small = `
request: {protocol: completions, usage: end, ignore_eos: true, ids: r-}
requests: 6
seed: 7
tokenizer: {where: none}
gate: {concurrency: 2}
load: [{arrival: {kind: at-once}, dataset: {kind: random, input_len: 10, output_len: 4}}]
`

// A Spec cannot have a worker read its files, tell the token of the fleet, start a program, listen, or
// prepare more than a run can have.
func TestHostileOrders(t *testing.T) {
	t.Parallel()
	_, url := fleettest.Truth(t, truth.Config{})
	own := t.TempDir() + "/id_rsa"
	if err := os.WriteFile(own, []byte("the-key-of-this-machine"), 0o600); err != nil {
		t.Fatal(err)
	}
	with := func(change func(*plan.Spec)) fleet.Order {
		s := specOf(t, `{url: "`+url+`"}`)
		change(&s)
		return fleet.Order{Spec: s}
	}
	for name, tt := range map[string]struct {
		order fleet.Order
		state fleet.State
		why   string
		never string // what it must not have done
	}{
		"a key file":      {with(func(s *plan.Spec) { s.Target.Key = &plan.Source{File: own} }), fleet.Failed, "id_rsa is not among what the controller prepared the run from", "read"},
		"a CA":            {with(func(s *plan.Spec) { s.Target.CA = own }), fleet.Failed, "is not among what", "read"},
		"the fleet's own": {with(func(s *plan.Spec) { s.Target.Key = &plan.Source{Env: "PITOT_FLEET_TOKEN"} }), fleet.Failed, "PITOT_FLEET_TOKEN is not set", "env PITOT_FLEET"},
		"no server":       {with(func(s *plan.Spec) { s.Target.URL, s.Target.Engine = "", []byte(`{}`) }), fleet.Failed, "names no server", "listen"},
		"programs": {with(func(s *plan.Spec) {
			s.Target.Site = plan.Sites{{Kind: "ssh", Name: "elsewhere"}}
			s.Telemetry.Sources = []string{"host@elsewhere", "nvidia-smi"}
			s.Before.WarmUp.Requests, s.Before.Settle = 50, plan.Duration(time.Hour)
		}), fleet.Ready, "", "ssh"},
		"too many requests": {with(func(s *plan.Spec) { s.Requests = 1e12 }), fleet.Failed, "requests", "listen"},
		"too many places":   {with(func(s *plan.Spec) { s.Gate.Concurrency = 1e9 }), fleet.Failed, "gate.concurrency", "listen"},
		"negative":          {with(func(s *plan.Spec) { s.Requests = -5 }), fleet.Failed, "requests", "listen"},
		"a file by digest":  {fleet.Order{Spec: with(func(*plan.Spec) {}).Spec, Inputs: []fleet.Input{{Kind: fleet.FileInput, Name: own, Digest: "../../etc", Object: "0"}}}, fleet.Failed, "SHA-256", "read"},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVictim(t)
			r := v.order(tt.order)
			if r.State != tt.state || !strings.Contains(r.Why, tt.why) {
				t.Errorf("it is %s: %q, want %s: %q", r.State, r.Why, tt.state, tt.why)
			}
			if did := v.list(&v.did); strings.Contains(did, tt.never) {
				t.Errorf("it did %q", did)
			}
			if r := v.order(fleet.Order{Run: "fleet-after1", Spec: with(func(*plan.Spec) {}).Spec}); tt.state == fleet.Failed && r.State != fleet.Ready {
				t.Errorf("after that it is %s: %s", r.State, r.Why)
			}
		})
	}
}

// An order that names a file of the worker learns nothing of its content, and one that names a pipe does not hold the
// worker: it is free for another run at once.
func TestOrdersOfFiles(t *testing.T) {
	t.Parallel()
	_, url := fleettest.Truth(t, truth.Config{})
	s := specOf(t, `{url: "`+url+`"}`)
	dir := t.TempDir()
	if err := syscall.Mkfifo(dir+"/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	v := newVictim(t)
	reasons := map[string]bool{}
	for i, content := range []string{"the secret of this machine", "another one, of that size."} {
		if err := os.WriteFile(dir+"/own", []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		in := fleet.Input{Kind: fleet.FileInput, Name: dir + "/own", Digest: strings.Repeat("0a", 32), Size: int64(len(content)), Object: "0"}
		r := v.order(fleet.Order{Run: fmt.Sprint("fleet-file", i), Spec: s, Inputs: []fleet.Input{in}})
		if reasons[r.Why] = true; r.State != fleet.Failed || !strings.Contains(r.Why, "is not that of the controller") {
			t.Errorf("it is %s: %s", r.State, r.Why)
		}
	}
	if len(reasons) != 1 {
		t.Errorf("two contents are told apart: %v", reasons)
	}
	pipe := fleet.Order{
		Run: "fleet-pipe", Spec: s, Protocol: fleet.Protocol, Pitot: version,
		Inputs: []fleet.Input{{Kind: fleet.FileInput, Name: dir + "/pipe", Digest: strings.Repeat("0a", 32), Size: 5, Object: "0"}},
	}
	if r, err := bus.Request[fleet.Readiness](t.Context(), v.b, bus.SubjectOf(v.id, bus.Order), pipe); err != nil || r.State != fleet.Preparing {
		t.Fatalf("it is %s, %v", r.State, err)
	}
	for r := (fleet.Readiness{}); len(r.Needs) == 0; { // it takes the pipe for a file that it does not have
		var err error
		if r, err = bus.Request[fleet.Readiness](t.Context(), v.b, bus.SubjectOf(v.id, bus.Poll), fleet.Poll{Run: pipe.Run}); err != nil || r.State != fleet.Preparing {
			t.Fatalf("it is %s: %s, %v", r.State, r.Why, err)
		}
	}
	if _, err := bus.Request[fleet.Pulse](t.Context(), v.b, bus.SubjectOf(v.id, bus.Beat), fleet.Beat{Run: pipe.Run, Stop: fleet.Discard}); err != nil {
		t.Fatal(err)
	}
	r := fleet.Readiness{Busy: pipe.Run}
	for r.Busy != "" {
		r = v.order(fleet.Order{Run: "fleet-after", Spec: s})
	}
	if r.State != fleet.Ready {
		t.Errorf("after that it is %s: %s", r.State, r.Why)
	}
}

// A Start that no controller gives is not taken, and the worker is there for one that is right.
func TestHostileStarts(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	_, url := fleettest.Truth(t, truth.Config{})
	if r := v.order(fleet.Order{Spec: specOf(t, `{url: "`+url+`"}`)}); r.State != fleet.Ready {
		t.Fatalf("it is %s: %s", r.State, r.Why)
	}
	p, err := bus.Request[fleet.Pulse](t.Context(), v.b, bus.SubjectOf(v.id, bus.Beat), fleet.Beat{Run: run1, Places: math.MaxInt, Stop: -3})
	if err != nil {
		t.Fatal(err)
	}
	right := fleet.Start{Run: run1, Share: 0, Of: 1, Places: 2, Most: 2, At: p.Answered + int64(30*time.Second)}
	for name, change := range map[string]func(*fleet.Start){
		"no share":        func(s *fleet.Start) { s.Share = 1 },
		"negative share":  func(s *fleet.Start) { s.Share = -1 },
		"of none":         func(s *fleet.Start) { s.Of = 0 },
		"a huge gate":     func(s *fleet.Start) { s.Places, s.Most = 1<<60, 1<<60 },
		"negative places": func(s *fleet.Start) { s.Places = math.MinInt },
		"no gate":         func(s *fleet.Start) { s.Places, s.Most = 0, 0 },
		"long over":       func(s *fleet.Start) { s.At = math.MinInt64 },
		"just over":       func(s *fleet.Start) { s.At = p.Answered },
		"never":           func(s *fleet.Start) { s.At = math.MaxInt64 },
	} {
		s := right
		change(&s)
		r, err := bus.Request[fleet.Readiness](t.Context(), v.b, bus.SubjectOf(v.id, bus.Start), s)
		if err != nil || r.State != fleet.Ready || r.Why == "" {
			t.Errorf("%s: it is %s, %q, %v", name, r.State, r.Why, err)
		}
	}
	if r, err := bus.Request[fleet.Readiness](t.Context(), v.b, bus.SubjectOf(v.id, bus.Start), right); err != nil || r.State != fleet.Armed {
		t.Errorf("the right one: it is %s, %q, %v", r.State, r.Why, err)
	}
}

// What a server says with a key in it reaches nobody.
func TestAKeyIsNotRepeated(t *testing.T) {
	t.Parallel()
	const key = "key-that-is-echoed-4711"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // a server that repeats the request in what is no answer
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b := make([]byte, 4096)
			n, _ := c.Read(b)
			_, _ = c.Write([]byte("HTTP/1.1 401 " + strings.ReplaceAll(string(b[:n]), "\r\n", " ") + "\r\n\r\n"))
			_ = c.Close()
		}
	}()
	v := newVictim(t)
	s := specOf(t, `{url: "http://`+l.Addr().String()+`", key: {given: true}}`)
	r := v.order(fleet.Order{Spec: s, Given: map[string]string{"target.key": key}})
	if all := r.Why + v.list(&v.said); r.State != fleet.Failed || strings.Contains(all, key) {
		t.Errorf("it is %s, and says %q", r.State, all)
	}
}
