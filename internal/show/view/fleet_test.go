package view

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
)

func TestAFleet(t *testing.T) {
	k := measured()
	if f := NewRun(k, words.In("en")).Fleet; f != nil {
		t.Errorf("a run of one machine has %+v", f)
	}
	fit := trace.Verdict{Validity: trace.Valid}
	late := trace.Verdict{Validity: trace.Invalid, Reasons: []plan.Message{plan.Msg("verdict.sent-late", "p99", 0.02, "limit", 0.01)}}
	k.Run.Fleet = &trace.Fleet{MaxOffset: 300 * time.Microsecond, Workers: []trace.FleetWorker{
		{
			Name: "a\x1b[2J", Zone: "eu", Host: "h1", CPUs: 4, Requests: 20, Records: 20, Late: time.Millisecond, Verdict: &fit,
			Client: trace.Client{CPU: 10 * time.Second, Procs: 4, Lag: trace.Lag{Reads: 9, P99: 2 * time.Millisecond}},
			Clock:  trace.FleetClock{Bound: 100 * time.Microsecond, Drift: -5e-6, Exchanges: 8, WallSteps: 1},
		},
		{Name: "b", Host: "h2", Requests: 20, Records: 20, Verdict: &late, Clock: trace.FleetClock{Bound: 1, Exchanges: 8, Steps: 1}},
		{Name: "c", Host: "h3", Requests: 10, Records: 4, LostWhy: plan.Text("silent, token sk-123456789abcdef")},
	}}
	k.Figures = append(k.Figures, trace.ReportedFigure{Name: "peak.concurrency", Value: 7})
	r := NewRun(k, words.In("en"))
	value := func(v float64) *float64 { return &v }
	want := []Worker{
		{Name: "c", Host: "h3", Requests: 10, Records: 4, Validity: "lost", Verdict: "LOST", Why: "silent, token sk-***"},
		{
			Name: "b", Host: "h2", Requests: 20, Records: 20, Late: value(0), CPU: value(0), Drift: value(0), Validity: "invalid", Verdict: "INVALID",
			Why: "its clock changed suddenly, as after the machine was suspended; requests were sent late: P99 20.0 ms, the limit is 10.0 ms",
		},
		{
			Name: "a [2J", Zone: "eu", Host: "h1", Requests: 20, Records: 20, Late: value(0.001), CPU: value(0.5), Lag: value(0.002), Clock: value(0.0001), Drift: value(-5),
			Validity: "valid", Verdict: "VALID",
		},
	}
	if diff := cmp.Diff(want, r.Fleet.Workers); diff != "" {
		t.Error(diff)
	}
	const apart = "instants of workers agree within 0.300 ms, but for clocks that changed suddenly"
	if r.Fleet.Summary != "3 workers, 50 requests" || r.Fleet.MaxOffset != apart {
		t.Errorf("%q, %q", r.Fleet.Summary, r.Fleet.MaxOffset)
	}
	if f := figureOf(t, r, "peak.concurrency"); !strings.HasSuffix(f.Definition, "; "+apart) {
		t.Errorf("the peak is defined as %q", f.Definition)
	}
	if f := figureOf(t, r, "ttft.p99"); strings.Contains(f.Definition, apart) {
		t.Errorf("a latency is defined as %q", f.Definition)
	}
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "the wall clock of a") {
		t.Errorf("the notes are %q", r.Notes)
	}
}
