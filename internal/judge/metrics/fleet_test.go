package metrics

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	catalogue "github.com/pitot-bench/pitot/internal/show/words"
)

// spreadOver deals a healthy run of 200 requests over workers w0, w1 ... by their index, each on a machine
// of two processors of which it uses 0.2 s.
func spreadOver(n int) *trace.Trace {
	tr := healthy()
	f := &trace.Fleet{MaxOffset: 200 * time.Microsecond}
	for i := range n {
		w := trace.FleetWorker{Name: "w" + string(rune('0'+i)), CPUs: 2, Client: trace.Client{CPU: 200 * time.Millisecond, Lag: tr.Run.Client.Lag}}
		w.Clock = trace.FleetClock{Bound: 100 * time.Microsecond, Exchanges: 12}
		w.Requests = len(ofWorker(tr, i, n))
		w.Records = w.Requests
		f.Workers = append(f.Workers, w)
	}
	tr.Run.Fleet = f
	tr.Run.Env.CPUs = 1 // of the controller
	return tr
}

// ofWorker are the records of a worker among n.
func ofWorker(tr *trace.Trace, i, n int) (of []*trace.Record) {
	for _, r := range tr.Records {
		if r.Index%n == i {
			of = append(of, r)
		}
	}
	return of
}

// judged is the summary of the run once each worker that was not lost was judged by its own records,
// as a controller does it.
func judged(tr *trace.Trace) Summary {
	f := tr.Run.Fleet
	var clients []trace.Client
	for i := range f.Workers {
		if w := &f.Workers[i]; !w.IsLost() {
			JudgeWorker(tr, ofWorker(tr, i, len(f.Workers)), w)
			clients = append(clients, w.Client)
		}
	}
	tr.Run.Client = MergeClients(clients)
	return Summarize(tr, Options{})
}

// lose loses a worker: its requests from the n-th on have no record of their own.
func lose(worker, n int) spoiler {
	return func(tr *trace.Trace) {
		w := &tr.Run.Fleet.Workers[worker]
		w.LostWhy, w.Records, w.Client = plan.Text("silent for 5 s"), n, trace.Client{}
		for _, r := range ofWorker(tr, worker, len(tr.Run.Fleet.Workers))[n:] {
			due := r.Due
			*r = *trace.NewRecord(r.Index)
			r.Due, r.Class = due, trace.WorkerLost
		}
	}
}

// ofEach changes the requests of a worker.
func ofEach(worker int, change func(*trace.Record)) spoiler {
	return func(tr *trace.Trace) {
		for _, r := range ofWorker(tr, worker, len(tr.Run.Fleet.Workers)) {
			change(r)
		}
	}
}

// workerIs changes what is known of a worker.
func workerIs(worker int, change func(*trace.FleetWorker)) spoiler {
	return func(tr *trace.Trace) { change(&tr.Run.Fleet.Workers[worker]) }
}

func tolerate(tr *trace.Trace) { tr.Run.Fleet.Tolerate = true }

func TestVerdictOfAFleet(t *testing.T) {
	const s = time.Second
	many := func(worker int) spoiler { // the share of a worker is large
		return func(tr *trace.Trace) { tr.Run.Fleet.Workers[worker].Requests *= 3 }
	}
	for _, tt := range []struct {
		name    string
		workers int
		spoil   spoiler
		want    trace.Validity
		why     string
	}{
		{"nothing", 4, spoil(), trace.Valid, ""},
		{"a lost worker", 4, lose(1, 20), trace.Invalid, "one worker was lost (w1: silent for 5 s): 30 requests have no record, 15 % of the load"},
		{"that is tolerated", 4, spoil(lose(1, 20), tolerate), trace.Doubtful, "one worker was lost (w1: silent for 5 s): 30 requests have no record, 15 % of the load"},
		{
			"of many", 8, spoil(lose(0, 23), lose(2, 25), lose(3, 24), lose(7, 0)), trace.Invalid,
			"4 workers were lost (w7: silent for 5 s, w0: silent for 5 s, w3: silent for 5 s, and 1 more): 28 requests have no record, 14 % of the load",
		},
		{"all of them", 2, spoil(lose(0, 0), lose(1, 0)), trace.Invalid, "all 200 requests failed: the worker was lost"},

		{
			"a late worker, in a hundredth", 4, ofEach(2, func(r *trace.Record) { r.Sent += 20 * ms }), trace.Invalid,
			"requests were sent late: P99 20.0 ms, the limit is 10.0 ms; one worker with 25 % of the requests is invalid (w2: requests were sent late: P99 20.0 ms",
		},
		{"with its clock set, and few requests", 8, func(tr *trace.Trace) {
			workerIs(3, func(w *trace.FleetWorker) { w.Client.ClockSteps, w.Client.ClockStep = 1, -s })(tr)
			for i := range tr.Run.Fleet.Workers {
				if i != 3 {
					many(i)(tr)
					many(i)(tr)
					many(i)(tr)
				}
			}
		}, trace.Doubtful, "one worker with 0.526 % of the requests is invalid (w3: the wall clock was set during the run, by up to 1000 ms"},
		{
			"with its clock set", 4, workerIs(3, func(w *trace.FleetWorker) { w.Client.ClockSteps, w.Client.ClockStep = 1, -s }), trace.Invalid,
			"the wall clock was set during the run, by up to 1000 ms: TTFT and E2EL are invalid; one worker with 25 % of the requests is invalid (w3: ",
		},
		{
			"a pause of a collector", 4, workerIs(0, func(w *trace.FleetWorker) { w.Client.GCMax = 11 * time.Millisecond }), trace.Doubtful,
			"one worker with 25 % of the requests is doubtful (w0: the garbage collector paused the client for 11.0 ms)",
		},
		{"of few requests", 4, spoil(workerIs(0, func(w *trace.FleetWorker) { w.Client.GCMax = 11 * time.Millisecond }), many(1), many(1), many(2), many(2), many(3), many(3)), trace.Valid, ""},
		{
			"processors of one", 4, spoil(ofEach(1, func(r *trace.Record) { r.Stamps = trace.UserStamps }), workerIs(1, func(w *trace.FleetWorker) { w.Client.CPU = 2 * s })), trace.Doubtful,
			"one worker with 25 % of the requests is invalid (w1: this process used 100 % of 2 processors)",
		},
		{
			"processors of all", 2, spoil(late(5, 20), workerIs(0, func(w *trace.FleetWorker) { w.Client.CPU = 2 * s }), workerIs(1, func(w *trace.FleetWorker) { w.Client.CPU = 2 * s })), trace.Invalid,
			"the workers used 100 % of their 4 processors; 2 workers with 100 % of the requests are invalid (w0: this process used 100 % of 2 processors, ",
		},
		{
			"a server that nobody else reaches", 4, ofEach(2, func(r *trace.Record) { r.Class, r.Chunks = trace.Unreachable, nil }), trace.Doubtful,
			"one worker with 25 % of the requests is invalid (w2: all 50 requests failed: no route to the host)",
		},
		{"a server that breaks", 4, ofEach(2, func(r *trace.Record) {
			if r.Index > 3 {
				r.Class = trace.Reset
			}
		}), trace.Valid, ""},

		{"a suspended machine", 4, workerIs(1, func(w *trace.FleetWorker) { w.Clock.Steps = 1 }), trace.Doubtful, "the clock of w1 changed suddenly during the run"},
		{"a wall clock", 4, workerIs(1, func(w *trace.FleetWorker) { w.Clock.WallSteps = 1 }), trace.Valid, ""},
		{"far apart", 4, func(tr *trace.Trace) { tr.Run.Fleet.MaxOffset = 6 * time.Millisecond }, trace.Doubtful, "instants of workers agree only within 6 ms"},
		{"unknown", 4, func(tr *trace.Trace) { tr.Run.Fleet.MaxOffset = -1 }, trace.Doubtful, "how far the clocks of the workers agree is not known"},
		{"not far", 4, func(tr *trace.Trace) { tr.Run.Fleet.MaxOffset = 5 * time.Millisecond }, trace.Valid, ""},
		{"far for its length", 4, func(tr *trace.Trace) { tr.Run.Fleet.MaxOffset, tr.Run.End = 5*time.Millisecond, 400*ms }, trace.Doubtful, "instants of workers agree only within 5 ms"},
	} {
		tr := spreadOver(tt.workers)
		tt.spoil(tr)
		v := judged(tr).Health.Verdict
		if why := catalogue.In("en").SayAll("stop", v.Reasons); v.Validity != tt.want || !strings.HasPrefix(why, tt.why) || (why == "") != (tt.why == "") {
			t.Errorf("%s: %s, %q; want %s, %q", tt.name, v.Validity, why, tt.want, tt.why)
		}
	}
}

// The verdict of a worker says nothing of the server.
func TestHealthOfAWorker(t *testing.T) {
	tr := spreadOver(4)
	tr.Run.WarmUp = &trace.WarmUp{Waves: make([]trace.Wave, 3)}
	tr.Run.Cache = &trace.Cache{Declared: plan.ColdCache, Reported: 1}
	for _, r := range tr.Records { // in one burst, as behind a proxy that buffers
		r.Usage.Prompt, r.Usage.Cached = 10, 10
		for i := range r.Chunks {
			r.Chunks[i].At, r.Chunks[i].Kind = r.Done-ms, trace.Text|trace.Bundled|trace.Packed
			if i > 0 {
				r.Chunks[i].Kind |= trace.Coalesced
			}
		}
	}
	if s := judged(tr); s.Health.Verdict.Validity != trace.Invalid || !s.Health.HeldBack {
		t.Fatalf("the run is %+v", s.Health.Verdict)
	}
	for _, w := range tr.Run.Fleet.Workers {
		if w.Verdict.Validity != trace.Valid {
			t.Errorf("%s is %+v", w.Name, *w.Verdict)
		}
	}
	w := tr.Run.Fleet.Workers[0]
	w.Client.Contention = &trace.Contention{Waited: time.Second, Others: 0.9}
	ofEach(0, func(r *trace.Record) { r.Sent += 20 * ms })(tr)
	JudgeWorker(tr, ofWorker(tr, 0, 4), &w)
	v := *w.Verdict
	codes := []plan.Code{}
	for _, r := range v.Reasons {
		codes = append(codes, r.Code)
	}
	if want := []plan.Code{"verdict.starved", "verdict.sent-late"}; v.Validity != trace.Invalid || !slices.Equal(codes, want) {
		t.Errorf("it is %s for %v, want %v", v.Validity, codes, want)
	}
}

// The share of processors is that of the workers: the controller's do not count, nor those of a worker
// that was lost.
func TestProcessorsOfAFleet(t *testing.T) {
	tr := spreadOver(4)
	tr.Run.Fleet.Workers[1].Client.Procs = 1
	lose(3, 10)(tr)
	h := judged(tr).Health
	if h.CPUs != 5 || !cmp.Equal(h.CPU, 0.6/5, exact) {
		t.Errorf("%v of %d processors, want %v of 5", h.CPU, h.CPUs, 0.6/5)
	}
	for i := range 3 { // w0 and w1 on one machine of two processors
		tr.Run.Fleet.Workers[i].Host = []string{"a", "a", "b"}[i]
	}
	if h := judged(tr).Health; h.CPUs != 4 || !cmp.Equal(h.CPU, 0.6/4, exact) {
		t.Errorf("%v of %d processors, want %v of 4", h.CPU, h.CPUs, 0.6/4)
	}
}

func TestMergeClients(t *testing.T) {
	const s = time.Second
	lag := func(n int, p50, p99, most time.Duration) trace.Lag {
		return trace.Lag{Reads: n, P50: p50, P99: p99, Max: most}
	}
	got := MergeClients([]trace.Client{
		{
			Engine: "h1", CPU: s, Procs: 2, GCCycles: 3, GCPause: 5, GCMax: 4, Memory: 100, Lag: lag(10, 5, 9, 50), Unstamped: 1, ClockSteps: 1, ClockStep: -8 * s,
			Contention: &trace.Contention{Waited: -1, Others: 0.1, Steal: -1, Pressure: 0.2},
		},
		{Engine: "h1"},
		{
			Engine: "h1", CPU: 2 * s, Procs: 4, GCCycles: 1, GCPause: 7, GCMax: 7, Memory: 10, Lag: lag(30, 2, 20, 40), Unstamped: 2, ClockSteps: 2, ClockStep: 3 * s,
			Contention: &trace.Contention{Waited: s, Others: 0.3, Steal: -1, Pressure: 0.1},
		},
		{Contention: &trace.Contention{Waited: 2 * s, Others: -1, Steal: -1, Pressure: -1}},
	})
	want := trace.Client{
		Engine: "h1", CPU: 3 * s, Procs: 6, GCCycles: 4, GCPause: 12, GCMax: 7, Memory: 110, Lag: lag(40, 5, 20, 50), Unstamped: 3, ClockSteps: 3, ClockStep: -8 * s,
		Contention: &trace.Contention{Waited: 3 * s, Others: 0.3, Steal: -1, Pressure: 0.2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Requests of a lost worker are failed ones that are in no latency; the schedule wanted them.
func TestFiguresOfALostWorker(t *testing.T) {
	tr := spreadOver(4)
	tr.Run.Plan.Requests, tr.Run.Plan.Objectives = 200, []plan.Objective{{Metric: "e2el", Limit: plan.Duration(time.Second)}}
	lose(1, 20)(tr)
	s := judged(tr)
	want := Requests{Planned: 200, Sent: 200, OK: 170, Failed: 30, Classes: []Class{{Class: trace.WorkerLost, Count: 30}}}
	if diff := cmp.Diff(want, s.Requests); diff != "" {
		t.Error(diff)
	}
	if s.Requests.Lost() != 30 || s.Goodput.Met != 170 || !cmp.Equal(s.Goodput.Share, 0.85, exact) || !cmp.Equal(s.Rates.Requests, 170.0, exact) {
		t.Errorf("%d lost, goodput %+v, %v req/s", s.Requests.Lost(), *s.Goodput, s.Rates.Requests)
	}
	if s.Service.E2EL.N != 170 || !cmp.Equal(s.Rates.Offered, 1000.0, exact) {
		t.Errorf("%d latencies, %v req/s offered", s.Service.E2EL.N, s.Rates.Offered)
	}
	first := Workers(s.Run)[0]
	if first.Name != "w1" || first.Known() || !cmp.Equal(first.Share, 0.25, exact) || first.Missing() != 30 {
		t.Errorf("the worst worker is %+v", first)
	}
}
