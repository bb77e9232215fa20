package sim_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A run that is replayed against the engine that made it is that run again: requests by a
// schedule behind a gate, and a conversation whose turns wait for answers.
func TestReplayIsTheRunAgain(t *testing.T) {
	job := func(prompt, output int) engine.Job {
		return engine.Job{PromptTokens: prompt, OutputTokens: output}
	}
	p := sim.SimulationPlan{
		Concurrency: 2, Stream: true, Schedule: slices.Values([]time.Duration{0, time.Millisecond, 40 * time.Millisecond, time.Second}),
		Requests: []sim.Request{
			{PromptTokens: 100, WantTokens: 5, Job: job(100, 5), Session: "a", Number: 0},
			{PromptTokens: 30, WantTokens: 2, Job: job(30, 2)},
			{PromptTokens: 300, WantTokens: 4, Job: job(300, 4), Session: "a", Number: 1, After: 1, Think: 70 * time.Millisecond},
			{PromptTokens: 10, WantTokens: 9, Job: job(10, 9)},
			{PromptTokens: 10, WantTokens: 1, Job: job(10, 1)},
		},
	}
	run := func(p sim.SimulationPlan) *trace.Trace {
		model, err := engine.New(engine.Config{Cost: engine.Costs{Step: 0.01, PrefillToken: 1e-4}})
		if err != nil {
			t.Fatal(err)
		}
		out := sim.Run(model, p)
		made := trace.Run{End: out.End}
		made.Plan.Stream, made.Plan.Concurrency = p.Stream, p.Concurrency
		return &trace.Trace{Run: made, Records: out.Records}
	}
	first := run(p)
	second := run(sim.Replay(first))
	if second.Run.End != first.Run.End || len(second.Records) != len(first.Records) {
		t.Fatalf("%v and %v, %d and %d records", first.Run.End, second.Run.End, len(first.Records), len(second.Records))
	}
	for i, r := range first.Records {
		if again := second.Records[i]; again.Due != r.Due || again.Sent != r.Sent || !reflect.DeepEqual(again.Chunks, r.Chunks) {
			t.Errorf("request %d: %+v, then %+v", r.Index, r, again)
		}
	}
}

// What failed is not sent again, and what a cache saved is not computed.
func TestReplayLeavesOut(t *testing.T) {
	failed := &trace.Record{Index: 0, Class: trace.HTTP, PromptTokens: 5}
	cached := &trace.Record{Index: 1, Status: 200, PromptTokens: 100, OutputTokens: 3, Due: -1, Usage: trace.Usage{Prompt: 100, Completion: 3, Cached: 64, CachedReported: true}}
	p := sim.Replay(&trace.Trace{Records: []*trace.Record{failed, cached}})
	if len(p.Requests) != 1 || p.Requests[0].PromptTokens != 100 || p.Requests[0].Job.PromptTokens != 100 || p.Requests[0].Job.Cached != 64 || p.Requests[0].Job.OutputTokens != 3 {
		t.Errorf("%+v", p.Requests)
	}
	if due := slices.Collect(p.Schedule); !slices.Equal(due, []time.Duration{0}) {
		t.Errorf("due %v", due)
	}
}
