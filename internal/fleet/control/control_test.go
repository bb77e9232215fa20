package control_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/fleet/control"
	"github.com/pitot-bench/pitot/internal/fleet/inputs"
	"github.com/pitot-bench/pitot/internal/fleet/worker"
	"github.com/pitot-bench/pitot/internal/load/traffic"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/test/fleettest"
)

const version = "v1.2.3"

// deps is the world of a controller, or of a worker.
func deps() run.Deps {
	return run.Deps{
		Kinds:   run.Kinds{Datasets: traffic.Datasets(), Arrivals: traffic.Arrivals()},
		Read:    os.ReadFile,
		Env:     func(string) (string, bool) { return "", false },
		Listen:  net.Listen,
		Dial:    new(net.Dialer).DialContext,
		Machine: trace.Environment{CPUs: runtime.NumCPU(), FileLimit: 1 << 16},
	}
}

// connect is a connection to the server of a fleet, until the test ends.
func connect(t *testing.T, s fleettest.Server) *bus.Bus {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{URL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// A crew is workers in this process.
type crew struct {
	buses []*bus.Bus
	over  chan struct{} // has an element for each share that is done
	ends  []context.CancelFunc
	done  sync.WaitGroup
}

// hire starts workers, which end with the test.
func hire(t *testing.T, s fleettest.Server, n int, change func(i int, o *worker.Options)) *crew {
	t.Helper()
	if testing.Short() {
		t.Skip("a fleet takes its time: runs without -short")
	}
	c := &crew{over: make(chan struct{}, 100)}
	for i := range n {
		ctx, end := context.WithCancel(context.Background())
		c.ends = append(c.ends, end)
		o := worker.Options{
			Key: fleet.NewKey(), Self: fleet.Worker{Name: fmt.Sprintf("worker-%d", i), Host: "here", Protocol: fleet.Protocol, Pitot: version, CPUs: 2, Files: 1 << 16},
			Bus: connect(t, s), Deps: deps, Folder: t.TempDir(), Log: func(line string) {
				t.Logf("worker-%d: %s", i, line)
				if strings.Contains(line, ": done, ") {
					c.over <- struct{}{}
				}
			},
		}
		if change != nil {
			change(i, &o)
		}
		c.buses = append(c.buses, o.Bus)
		c.done.Go(func() {
			if err := worker.Serve(ctx, o); err != nil {
				t.Error(err)
			}
		})
	}
	for seen, b := 0, connect(t, s); seen < n; { // they listen
		all, err := control.Look(t.Context(), b, version, 100*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		seen = len(all)
	}
	t.Cleanup(func() {
		for _, end := range c.ends {
			end()
		}
		c.done.Wait()
	})
	return c
}

func spec(t *testing.T, url, text string) plan.Spec {
	t.Helper()
	s, _, err := plan.Read("spec.yaml", []byte("version: 1\ntarget: {url: \""+url+"\"}\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return *s
}

const (
	open = `
request: {protocol: completions, usage: end, ignore_eos: true, ids: r-}
requests: 60
seed: 7
tokenizer: {where: none}
load: [{arrival: {kind: poisson, rate: 60}, dataset: {kind: random, input_len: "uniform(10,40)", output_len: 8}}]
`
	closed = `
request: {protocol: completions, usage: end, ignore_eos: true, ids: r-}
requests: 60
seed: 7
tokenizer: {where: none}
gate: {concurrency: 7}
load: [{arrival: {kind: at-once}, dataset: {kind: random, input_len: "uniform(10,40)", output_len: 8}}]
`
)

// execute makes a run, of a fleet if there is one.
func execute(t *testing.T, s plan.Spec, f run.Fleet, sinks ...run.Sink) (*run.Result, error) {
	t.Helper()
	d := deps()
	d.Fleet = f
	p, err := run.Prepare(t.Context(), s, d)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Execute(t.Context(), nil, sinks...)
}

// options are those of a controller of so many workers, 0: of all that are idle.
func options(t *testing.T, s fleettest.Server, workers int) control.Options {
	return control.Options{
		Bus: connect(t, s), Pitot: version, Workers: workers, Wait: 30 * time.Second, Lead: 2 * time.Second,
		Ledger: new(inputs.Ledger), Log: func(line string) { t.Log("controller: " + line) },
	}
}

// asked is what a server was asked for, in order of the ids.
func asked(s *truth.Server) (all []truth.Request) {
	all = s.Log().Requests
	slices.SortFunc(all, func(a, b truth.Request) int { return compareIDs(a.ID, b.ID) })
	return all
}

func compareIDs(a, b string) int { return len(a)*1000 - len(b)*1000 + cmpString(a, b) }

func cmpString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// What a fleet sends is what one machine would send, and when.
func TestAFleetSendsTheSame(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"open": open, "closed": closed} {
		t.Run(name, func(t *testing.T) {
			alone, url := fleettest.Truth(t, truth.Config{TTFT: 20 * time.Millisecond, Step: 2 * time.Millisecond})
			one, err := execute(t, spec(t, url, text), nil)
			if err != nil {
				t.Fatal(err)
			}
			s := fleettest.Embedded(t, fleettest.Options{})
			hire(t, s, 3, nil)
			server, url := fleettest.Truth(t, truth.Config{TTFT: 20 * time.Millisecond, Step: 2 * time.Millisecond})
			many, err := execute(t, spec(t, url, text), control.New(options(t, s, 3)))
			if err != nil {
				t.Fatal(err)
			}
			a, b := asked(alone), asked(server)
			if len(a) != len(b) || len(a) != 60 {
				t.Fatalf("%d requests alone, %d by the fleet", len(a), len(b))
			}
			for i := range a {
				if a[i].ID != b[i].ID || a[i].PromptTokens != b[i].PromptTokens || a[i].Wanted != b[i].Wanted {
					t.Errorf("request %d: %s %d %d alone, %s %d %d by the fleet", i, a[i].ID, a[i].PromptTokens, a[i].Wanted, b[i].ID, b[i].PromptTokens, b[i].Wanted)
				}
			}
			checkSame(t, one, many)
		})
	}
}

func checkSame(t *testing.T, one, many *run.Result) {
	t.Helper()
	if len(one.Trace.Records) != len(many.Trace.Records) {
		t.Fatalf("%d records alone, %d of the fleet", len(one.Trace.Records), len(many.Trace.Records))
	}
	due := map[int]trace.Instant{}
	for _, r := range one.Trace.Records {
		due[r.Index] = r.Due
	}
	for _, r := range many.Trace.Records {
		if !r.OK() || r.Due != due[r.Index] {
			t.Errorf("request %d: class %q, due %v; alone it was due %v", r.Index, r.Class, r.Due, due[r.Index])
		}
	}
	f := many.Trace.Run.Fleet
	if f == nil || len(f.Workers) != 3 {
		t.Fatalf("fleet %+v", f)
	}
	for _, w := range f.Workers {
		if w.Requests != 20 || w.Records != 20 || w.IsLost() || w.Clock.Exchanges == 0 || w.Clock.Bound <= 0 || w.Clock.Bound > 50*time.Millisecond {
			t.Errorf("worker %+v", w)
		}
	}
	if many.Trace.Run.Status != trace.Complete || many.Summary.Requests.OK != 60 {
		t.Errorf("status %s, %d completed, verdict %v", many.Trace.Run.Status, many.Summary.Requests.OK, many.Trace.Run.Verdict)
	}
}
