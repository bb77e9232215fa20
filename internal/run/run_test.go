package run

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// A world is what a run has to itself: an engine and a client that meet in memory, where
// what the client writes is kept.
type world struct {
	Deps
	mu    sync.Mutex
	wires []*wire
}

func newWorld() *world {
	l, w := memnet.Listen(), &world{}
	w.Deps = Deps{
		Kinds:  Kinds{Datasets: traffic.Datasets(), Arrivals: traffic.Arrivals()},
		Read:   os.ReadFile,
		Env:    func(string) (string, bool) { return "", false },
		Listen: func(string, string) (net.Listener, error) { return l, nil },
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := l.Dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.wires = append(w.wires, &wire{Conn: c})
			return w.wires[len(w.wires)-1], nil
		},
	}
	return w
}

// A wire keeps what is written to a connection.
type wire struct {
	net.Conn
	mu      sync.Mutex
	written bytes.Buffer
}

func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.written.Write(b)
	return w.Conn.Write(b)
}

// bodies are those of all requests to an API that were sent, in order of their text: which
// connection carries which is a matter of chance.
func (w *world) bodies(t *testing.T) (bodies []string) {
	t.Helper()
	for _, one := range w.wires {
		r := bufio.NewReader(&one.written)
		for {
			req, err := http.ReadRequest(r)
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(req.Body)
			if err != nil {
				t.Fatal(err)
			}
			if req.Method == http.MethodPost {
				bodies = append(bodies, req.URL.Path+" "+string(body))
			}
		}
	}
	slices.Sort(bodies)
	return bodies
}

// spec reads a Spec in YAML, with what all of them have.
func spec(t *testing.T, text string) plan.Spec {
	t.Helper()
	s, _, err := plan.Read("spec.yaml", []byte("version: 1\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

const (
	random = `
target: {engine: {ttft: "normal(20ms,4ms)", itl: 5ms, seed: 3}}
request: {protocol: completions, usage: end, ignore_eos: true}
requests: 30
seed: 7
load: [{arrival: {kind: poisson, rate: 40}, dataset: {kind: random, input_len: "uniform(10,40)", output_len: 8}}]
before: {warm_up: {requests: 2, from: other}, ready: {timeout: 30s, ask: small}}
`
	talk = `
target: {engine: {profile: small-chat}}
request: {protocol: chat, usage: chunk, ignore_eos: true}
requests: 24
seed: 8
gate: {concurrency: 4}
load: [{arrival: {kind: constant, rate: 7.3}, dataset: {kind: chat, input_len: 30, output_len: 12, turns: 3, turn_len: 9, think: 111ms}}]
keep_text: true
`
	simulated = `
target: {simulated: true, engine: {profile: small-chat}}
request: {protocol: completions, usage: end, ignore_eos: true}
requests: 200
seed: 9
load: [{arrival: {kind: gamma, rate: 20, burstiness: 0.5}, dataset: {kind: random, input_len: 100, output_len: 50}}]
`
)

// An outcome is all there is to tell runs apart: what was asked, and what came back when.
type outcome struct {
	Bodies  []string
	Records []trace.Record
	Notes   []plan.Message
	Summary metrics.Summary
}

// outcomeOf makes a run in a world.
func outcomeOf(t *testing.T, s plan.Spec, w *world) (o outcome) {
	t.Helper()
	p, err := Prepare(t.Context(), s, w.Deps)
	if err != nil {
		t.Error(err)
		return o
	}
	defer p.Close()
	r, err := p.Execute(t.Context(), nil)
	if err != nil {
		t.Error(err)
		return o
	}
	o.Bodies, o.Notes, o.Summary = w.bodies(t), r.Trace.Run.Notes, r.Summary
	for _, rec := range r.Trace.Records {
		one := *rec
		one.ID = "" // of each run its own
		o.Records = append(o.Records, one)
	}
	slices.SortFunc(o.Records, func(a, b trace.Record) int { return a.Index - b.Index })
	o.Summary.Run, o.Summary.Health = trace.Run{}, metrics.Health{} // of the machine
	return o
}

// alone are the outcomes of runs, each by itself, and what holds others to them.
func alone(t *testing.T) (texts []string, same func(got []outcome)) {
	t.Helper()
	texts = []string{random, talk, simulated}
	want := make([]outcome, len(texts))
	for i, text := range texts {
		synctest.Test(t, func(t *testing.T) { want[i] = outcomeOf(t, spec(t, text), newWorld()) })
		if len(want[i].Records) < 20 || len(want[i].Bodies) < 20 && i < 2 {
			t.Fatalf("run %d sent %d requests and has %d records", i, len(want[i].Bodies), len(want[i].Records))
		}
	}
	return texts, func(got []outcome) {
		for i := range texts {
			if diff := gocmp.Diff(want[i], got[i], cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("run %d differs (-alone +here):\n%s", i, diff)
			}
		}
	}
}

// Runs in one process leave nothing behind in each other: one after the other, each gives what it gives alone.
func TestRunsAfterEachOtherAreIndependent(t *testing.T) {
	race.Skip(t)
	texts, same := alone(t)
	after := make([]outcome, len(texts))
	synctest.Test(t, func(t *testing.T) {
		for i, text := range texts {
			after[i] = outcomeOf(t, spec(t, text), newWorld())
		}
	})
	same(after)
}

// So do two at once with a simulation beside them.
func TestRunsSideBySideAreIndependent(t *testing.T) {
	texts, same := alone(t)
	concurrent := make([]outcome, len(texts))
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		for i, text := range texts {
			all.Go(func() { concurrent[i] = outcomeOf(t, spec(t, text), newWorld()) })
		}
		all.Wait()
	})
	same(concurrent)
}

// The Spec that a run keeps makes the same requests again, and so does the Spec of that run.
func TestAKeptSpecSendsTheSame(t *testing.T) {
	race.Skip(t)
	for name, text := range map[string]string{"random": random, "talk": talk} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := newWorld()
				p, err := Prepare(t.Context(), spec(t, text), first.Deps)
				if err != nil {
					t.Fatal(err)
				}
				r, err := p.Execute(t.Context(), nil)
				p.Close()
				if err != nil {
					t.Fatal(err)
				}
				stored, err := json.Marshal(r.Trace.Run.Plan.Spec)
				if err != nil {
					t.Fatal(err)
				}
				again, _, err := plan.Read("kept.json", stored)
				if err != nil {
					t.Fatal(err)
				}
				second := newWorld()
				o := outcomeOf(t, *again, second)
				if diff := gocmp.Diff(first.bodies(t), o.Bodies); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}
