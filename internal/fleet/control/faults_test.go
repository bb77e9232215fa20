package control_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/fleet/control"
	"github.com/pitot-bench/pitot/internal/fleet/worker"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/truth"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run"
	"github.com/pitot-bench/pitot/internal/test/fleettest"
)

// lasting is a load of about a second.
const lasting = `
request: {protocol: completions, usage: end, ignore_eos: true, ids: r-}
requests: 200
seed: 7
tokenizer: {where: none}
load: [{arrival: {kind: poisson, rate: 180}, dataset: {kind: random, input_len: 20, output_len: 4}}]
`

// after calls do once, when so many records came. The test does not end before do has.
func after(t *testing.T, n int, do func()) run.Sink {
	var mu sync.Mutex
	var doing sync.WaitGroup
	t.Cleanup(doing.Wait)
	return run.SinkFunc(func(e run.Event) error {
		if _, ok := e.(run.Recorded); !ok {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if n--; n == 0 {
			doing.Go(do)
		}
		return nil
	})
}

var errNowhere = errors.New("there is no route")

func nowhere(context.Context, string, string) (net.Conn, error) { return nil, errNowhere }

// Before the start a worker of another version, one that makes other requests, and too few refuse
// the run, in a line that names them.
func TestRefusedBeforeTheStart(t *testing.T) {
	t.Parallel()
	_, url := fleettest.Truth(t, truth.Config{})
	for _, tt := range []struct {
		name    string
		workers int
		change  func(i int, o *worker.Options)
		options func(*control.Options)
		want    []string
	}{
		{"another version", 2, func(i int, o *worker.Options) {
			if i == 1 {
				o.Self.Pitot = "v9.9.9"
			}
		}, nil, []string{"worker-1", "v9.9.9", "v1.2.3"}},
		{"nobody", 0, nil, func(o *control.Options) { o.Wait = 0 }, []string{"no worker is there", "pitot fleet worker --join"}},
		{"too few", 2, nil, func(o *control.Options) { o.Workers, o.Wait = 3, 2*time.Second }, []string{"2 of 3 workers", "--fleet-wait", "--fleet-fewer"}},
		{"no way to the server", 2, func(i int, o *worker.Options) {
			if i == 0 {
				d := deps()
				d.Dial = nowhere
				o.Deps = func() run.Deps { return d }
			}
		}, nil, []string{"worker-0", "there is no route"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := fleettest.Embedded(t, fleettest.Options{})
			hire(t, s, tt.workers, tt.change)
			o := options(t, s, tt.workers)
			if tt.options != nil {
				tt.options(&o)
			}
			result, err := execute(t, spec(t, url, open), control.New(o))
			if err == nil {
				t.Fatalf("made: %+v", result.Trace.Run.Fleet)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

// A run goes without workers that are not there, if that was asked for.
func TestFewerWorkers(t *testing.T) {
	t.Parallel()
	server, url := fleettest.Truth(t, truth.Config{TTFT: 10 * time.Millisecond, Step: 5 * time.Millisecond})
	s := fleettest.Embedded(t, fleettest.Options{})
	hire(t, s, 2, nil)
	o := options(t, s, 2)
	o.Workers, o.Wait, o.Fewer = 5, 0, true
	result, err := execute(t, spec(t, url, open), control.New(o))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(server.Log().Requests); n != 60 || len(result.Trace.Run.Fleet.Workers) != 2 {
		t.Errorf("%d requests, fleet %+v", n, result.Trace.Run.Fleet)
	}
}

// The requests of a worker that is lost are failed by its class, the others go on, and what it had
// delivered is kept.
func TestAWorkerIsLost(t *testing.T) {
	t.Parallel()
	for name, tolerate := range map[string]bool{"invalid": false, "tolerated": true} {
		t.Run(name, func(t *testing.T) { loseAWorker(t, tolerate) })
	}
}

func loseAWorker(t *testing.T, tolerate bool) {
	t.Parallel()
	server, url := fleettest.Truth(t, truth.Config{TTFT: 10 * time.Millisecond, Step: 5 * time.Millisecond})
	s := fleettest.Embedded(t, fleettest.Options{})
	c := hire(t, s, 3, nil)
	o := options(t, s, 3)
	o.Grace, o.Tolerate = time.Second, tolerate
	result, err := execute(t, spec(t, url, lasting), control.New(o), after(t, 30, func() { c.buses[1].Close() }))
	if err != nil {
		t.Fatal(err)
	}
	r := result.Trace
	byClass := map[trace.Class]int{}
	seen := map[int]bool{}
	for _, rec := range r.Records {
		byClass[rec.Class]++
		if seen[rec.Index] {
			t.Errorf("request %d is there twice", rec.Index)
		}
		seen[rec.Index] = true
	}
	workers, missing := r.Run.Fleet.Lost()
	if len(r.Records) != 200 || workers != 1 || missing != byClass[trace.WorkerLost] || missing == 0 || missing > 67 {
		t.Errorf("%d records, by class %v; %d workers lost, %d requests", len(r.Records), byClass, workers, missing)
	}
	if n := len(server.Log().Requests); n < 200-67 {
		t.Errorf("the server got %d requests", n)
	}
	v := r.Run.Verdict
	lost := v != nil && slices.ContainsFunc(v.Reasons, func(why plan.Message) bool { return why.Code == "verdict.workers-lost" })
	if !lost || !tolerate && v.Validity != trace.Invalid || r.Run.Fleet.Tolerate != tolerate {
		t.Errorf("verdict %+v, fleet %+v", v, r.Run.Fleet)
	}
}

// A run goes on while the server of the fleet is down, and loses nothing.
func TestTheServerIsRestarted(t *testing.T) {
	t.Parallel()
	fleettest.Each(t, fleettest.Options{}, func(t *testing.T, s fleettest.Server) {
		server, url := fleettest.Truth(t, truth.Config{TTFT: 10 * time.Millisecond, Step: 5 * time.Millisecond})
		hire(t, s, 3, nil)
		result, err := execute(t, spec(t, url, lasting), control.New(options(t, s, 3)), after(t, 30, s.Restart))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(server.Log().Requests); n != 200 || result.Summary.Requests.OK != 200 {
			t.Errorf("the server got %d requests, %d answers are known; %+v", n, result.Summary.Requests.OK, result.Trace.Run.Fleet)
		}
		if workers, _ := result.Trace.Run.Fleet.Lost(); workers > 0 {
			t.Errorf("%d workers lost: %+v", workers, result.Trace.Run.Fleet)
		}
	})
}

// What a controller that died has not stored another one collects, whether the workers still send or
// are done.
func TestAnotherControllerGoesOn(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"while they send": false, "when they are done": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, url := fleettest.Truth(t, truth.Config{TTFT: 10 * time.Millisecond, Step: 5 * time.Millisecond})
			s := fleettest.Embedded(t, fleettest.Options{})
			c := hire(t, s, 3, nil)
			o := options(t, s, 3)
			died := make(chan struct{})
			go func() { // it is never heard of again: its connection is cut, and nothing is closed
				d := deps()
				d.Fleet = control.New(o)
				p, err := run.Prepare(context.Background(), spec(t, url, lasting), d)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = p.Execute(context.Background(), nil, after(t, 30, func() {
					o.Bus.Close()
					close(died)
				}))
			}()
			<-died
			if late {
				for range 3 {
					<-c.over
				}
			}
			second := options(t, s, 3)
			left, err := control.Orphans(t.Context(), second.Bus)
			if err != nil || len(left) != 1 {
				t.Fatalf("%d runs left, %v", len(left), err)
			}
			result, err := control.Resume(t.Context(), second, left[0], deps())
			if err != nil {
				t.Fatal(err)
			}
			if f := result.Trace.Run.Fleet; result.Summary.Requests.OK != 200 || !f.Resumed || result.Trace.Run.ID != left[0].Run.ID {
				t.Errorf("%d answers of run %s, fleet %+v", result.Summary.Requests.OK, result.Trace.Run.ID, f)
			}
			if left, err := control.Orphans(t.Context(), second.Bus); err != nil || len(left) != 0 {
				t.Errorf("%d runs left in the end, %v", len(left), err)
			}
		})
	}
}

// A run that is stopped ends with what it has.
func TestStopped(t *testing.T) {
	t.Parallel()
	_, url := fleettest.Truth(t, truth.Config{})
	s := fleettest.Embedded(t, fleettest.Options{})
	hire(t, s, 2, nil)
	d := deps()
	d.Fleet = control.New(options(t, s, 2))
	const all = 10_000 // a minute
	p, err := run.Prepare(t.Context(), spec(t, url, strings.Replace(lasting, "requests: 200", fmt.Sprint("requests: ", all), 1)), d)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	stop := make(chan struct{})
	result, err := p.Execute(t.Context(), stop, after(t, 30, func() { close(stop) }))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(result.Trace.Records); result.Trace.Run.Status != trace.Interrupted || n < 30 || n >= all || result.Summary.Requests.OK != n {
		t.Errorf("%s with %d records, %d of them answers", result.Trace.Run.Status, n, result.Summary.Requests.OK)
	}
}

// A controller whose server does not come back ends with what it has. Its workers go on, and another
// controller collects the rest once the server is there.
func TestTheServerStaysAway(t *testing.T) {
	t.Parallel()
	server, url := fleettest.Truth(t, truth.Config{TTFT: 10 * time.Millisecond, Step: 5 * time.Millisecond})
	s := fleettest.Embedded(t, fleettest.Options{})
	hire(t, s, 2, nil)
	o := options(t, s, 2)
	o.Away, o.Grace = time.Second, time.Second
	result, err := execute(t, spec(t, url, lasting), control.New(o), after(t, 30, s.Kill))
	if err == nil || !strings.Contains(err.Error(), "pitot fleet resume") || result == nil || result.Trace.Run.Status != trace.Interrupted {
		t.Errorf("%v, status %s", err, result.Trace.Run.Status)
	}
	s.Restart()
	second := options(t, s, 2)
	left, err := control.Orphans(t.Context(), second.Bus)
	if err != nil || len(left) != 1 {
		t.Fatalf("%d runs left, %v", len(left), err)
	}
	if result, err = control.Resume(t.Context(), second, left[0], deps()); err != nil || result.Summary.Requests.OK != 200 || len(server.Log().Requests) != 200 {
		t.Errorf("%v, %+v", err, result)
	}
}
