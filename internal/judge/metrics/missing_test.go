package metrics

import (
	"slices"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A run with a steady load of which records are missing says nothing of the server that needs all of them: it is in
// doubt, with the reason.
func TestARunThatLacksRecords(t *testing.T) {
	steady := func(kind trace.RunKind, end trace.Instant, from, to int, notes ...plan.Message) *trace.Trace {
		one := open(10, 2000, func(int, trace.Instant) trace.Instant { return 40 })
		one.Run.Kind, one.Run.End, one.Run.Plan.Rate, one.Run.Notes = kind, end, 100, notes
		one.Records = slices.Delete(one.Records, from, to)
		return one
	}
	end := steady(trace.Measured, 0, 0, 0).Records[1999].Done
	damaged := plan.Msg(trace.Damaged, "run", "a", "records", 700, "why", "x")
	for name, tt := range map[string]struct {
		t       *trace.Trace
		missing int
		steady  bool
		rates   bool
	}{
		"complete":              {steady(trace.Simulated, end, 0, 0), 0, true, true},
		"early blocks":          {steady(trace.Measured, end, 100, 800, damaged), 700, false, false},
		"late blocks":           {steady(trace.Simulated, end, 1200, 1900, damaged), 700, false, false},
		"one record":            {steady(trace.Simulated, end, 900, 901, plan.Msg(trace.Damaged, "records", 1)), 1, true, true},
		"in flight at the kill": {steady(trace.Measured, trace.Never, 1900, 2000, plan.Msg(trace.Unended, "records", 100)), 100, false, true},
		"without a snapshot":    {steady(trace.Simulated, trace.Never, 1900, 1990), 90, false, true},
	} {
		s := Summarize(tt.t, Options{})
		if s.Requests.Missing != tt.missing || s.Steady.Found() != tt.steady || !tt.steady && s.Steady.Why.Code != steadyIncomplete {
			t.Errorf("%s: %d missing, steady %+v", name, s.Requests.Missing, s.Steady.Why)
		}
		if len(s.Stalls)+len(s.Standstills) > 0 || QueueGrows(Unsettled(tt.t)) {
			t.Errorf("%s: %+v %+v %v", name, s.Stalls, s.Standstills, Unsettled(tt.t))
		}
		if v := s.Health.Verdict; reasoned(v, trace.Incomplete) != (tt.missing > 0) || tt.missing > 0 && v.Validity == trace.Valid {
			t.Errorf("%s: %+v", name, v)
		}
		for _, by := range []func() []trace.ReportedFigure{s.Figures, func() []trace.ReportedFigure { return Rules(nil).Figures(tt.t, Pitot, "") }} {
			known := func(f string) bool {
				return slices.ContainsFunc(by(), func(r trace.ReportedFigure) bool { return r.Name == f })
			}
			if known(figure.RequestThroughput) != tt.rates || known(figure.PeakConcurrency) != tt.rates || !known(figure.TTFT.Mean()) {
				t.Errorf("%s: %+v", name, by())
			}
		}
	}
}

// The records that are missing are no requests of others that the server counted.
func TestCountersOfARunThatLacksRecords(t *testing.T) {
	one := counted(50, 0, map[string]float64{"vllm:num_preemptions": 0, "vllm:request_success": 100}, "")
	if s := Summarize(one, Options{}); s.Server == nil || s.Server.Dropped.Code != "counters.more" {
		t.Fatalf("%+v", s.Server)
	}
	one.Run.Notes = []plan.Message{plan.Msg(trace.Damaged, "records", 50)}
	if s := Summarize(one, Options{}); s.Server == nil || !s.Server.Dropped.IsZero() {
		t.Errorf("%+v", s.Server)
	}
}
