package view

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// calibrated is a profile that says how far off it is in the mean TTFT.
const calibrated = `
title: an engine
source: made up
error: illustrative
scheduler: {max_sequences: 64}
kv: {tokens: 60000}
cost: {step: 7ms, sequence: 30us, context_token: 40ns, prefill: 2ms, prefill_token: 18us, prefill_pair: 1ns, jitter: 0.02}
calibration:
  runs: 6
  steps: 41000
  seen: {sequences: 64, context: 34000, step_tokens: 8192, prompt: 2300, limit: true}
  misfit: {ttft.mean: 3%}
`

// besides is a store with runs of one load: measured, simulated by two profiles, and others.
func besides(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	add := func(id string, kind trace.RunKind, rate float64, validity trace.Validity, profile *trace.Profile, ttft, output float64) {
		run := trace.Run{
			ID: id, Name: "<i>" + id, Kind: kind, Status: trace.Complete, Started: time.Unix(1, 0), Verdict: &trace.Verdict{Validity: validity},
			Plan: trace.Load{Rate: rate, Requests: 100, Arrival: plan.Msg("arrival.poisson", "rate", rate)}, Env: trace.Environment{Profile: profile},
		}
		if _, err := s.Import(run, nil, nil); err != nil {
			t.Fatal(err)
		}
		figures := []trace.ReportedFigure{{Name: "requests.ok", Value: 100}, {Name: "throughput.output", Value: output}, {Name: "ttft.mean", Value: ttft}, {Name: "itl.p99", Value: math.NaN()}}
		if err := s.StoreFigures(&trace.Trace{Run: run}, "pitot", metrics.Version, figures); err != nil {
			t.Fatal(err)
		}
	}
	near := &trace.Profile{Name: "near", Text: calibrated, Error: plan.Msg(trace.Illustrative)}
	add("m1", trace.Measured, 5, trace.Valid, nil, 0.10, 1000)
	add("m2", trace.Measured, 5, trace.Valid, nil, 0.12, 1000)
	add("bad", trace.Measured, 5, trace.Invalid, nil, 9, 1)
	add("s1", trace.Simulated, 5, trace.Valid, near, 0.11, 1100)
	add("s2", trace.Simulated, 5, trace.Valid, near, 0.13, 1100)
	add("far", trace.Simulated, 5, trace.Valid, &trace.Profile{Name: "far"}, 0.5, 500)
	add("other", trace.Simulated, 6, trace.Valid, near, 1, 1)
	return s
}

func TestPredictedBesideMeasured(t *testing.T) {
	s := besides(t)
	for _, id := range []string{"m1", "s1"} {
		p, err := NewPredicted(s, id, words.In("en"))
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Measured) != 2 || len(p.Predictions) != 2 || p.Predictions[0].Profile != "near" || len(p.Predictions[0].Runs) != 2 || p.Predictions[1].Profile != "far" {
			t.Fatalf("%s: %+v", id, p)
		}
		figures := p.Predictions[0].Figures
		if len(figures) != 2 || figures[0].Name != "throughput.output" || figures[1].Name != "ttft.mean" {
			t.Fatalf("%+v", figures)
		}
		if d := figures[0]; math.Abs(d.Share-0.1) > 1e-12 || d.Known != nil || d.Unit != "tok/s" {
			t.Errorf("%+v", d)
		}
		d := figures[1]
		if math.Abs(d.Share-0.12/0.11+1) > 1e-12 || *d.Known != 0.03 || d.Measured.Low != 0.10 || d.Measured.High != 0.12 || d.Predicted.N != 2 {
			t.Errorf("%+v", d)
		}
		if p.Predictions[0].Error == "" || p.Predictions[1].Error != "" {
			t.Errorf("%q, %q", p.Predictions[0].Error, p.Predictions[1].Error)
		}
	}
}

// An invalid run is not held against predictions, and its page says so.
func TestAnInvalidRunIsNotHeldAgainstPredictions(t *testing.T) {
	p, err := NewPredicted(besides(t), "bad", words.In("en"))
	if err != nil || len(p.Measured) != 2 || !strings.Contains(p.LeftOut, "invalid") {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = NewPredicted(besides(t), "m1", words.In("en")); err != nil || p.LeftOut != "" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestNothingStandsBeside(t *testing.T) {
	s := besides(t)
	p, err := NewPredicted(s, "other", words.In("en"))
	if err != nil || len(p.Measured)+len(p.Predictions) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := NewPredicted(s, "none", words.In("en")); !errors.Is(err, store.ErrNoRun) {
		t.Error(err)
	}
}
