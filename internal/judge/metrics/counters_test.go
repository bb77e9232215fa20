package metrics

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestServerCounters(t *testing.T) {
	s := Summarize(&trace.Trace{Run: trace.Run{ServerCounters: map[string]float64{
		`vllm:num_preemptions_total`: 3, `vllm:prefix_cache_queries_total`: 1000, `vllm:prefix_cache_hits_total`: 250,
		`vllm:spec_decode_num_draft_tokens_total`: 40, `vllm:spec_decode_num_accepted_tokens_total`: 30,
		`vllm:spec_decode_num_accepted_tokens_per_pos_total{position="0"}`: 30,
		`vllm:request_queue_time_seconds_sum`:                              6, `vllm:request_queue_time_seconds_count`: 4,
	}}}, Options{})
	want := &ServerCounts{Queued: 1.5, Preemptions: 3, PrefixQueried: 1000, PrefixHit: 250, Drafted: 40, Accepted: 30}
	if diff := cmp.Diff(want, s.Server); diff != "" {
		t.Error(diff)
	}
	if s := Summarize(&trace.Trace{Run: trace.Run{ServerCounters: map[string]float64{"other_total": 3}}}, Options{}); s.Server != nil {
		t.Errorf("%+v of a server without these counters", s.Server)
	}
}

func TestCountersOfLlamaCpp(t *testing.T) {
	counters := map[string]float64{
		"llamacpp:prompt_tokens_total": 900, "llamacpp:prompt_seconds_total": 2, "llamacpp:tokens_predicted_total": 300, "llamacpp:n_decode_total": 120,
	}
	if diff := cmp.Diff(&ServerCounts{Computed: 900, PerDecode: 2.5}, llamaCpp(counters)); diff != "" {
		t.Error(diff)
	}
	counters["llamacpp:prompt_tokens_cached_total"] = 100
	if got := llamaCpp(counters); got.PrefixQueried != 1000 || got.PrefixHit != 100 {
		t.Errorf("%d of %d prompt tokens from the cache, want 100 of 1000", got.PrefixHit, got.PrefixQueried)
	}
	if s := NewSpecDecode(map[string]float64{"llamacpp:spec_decode_num_draft_tokens_total": 3}); s != nil {
		t.Error("a table of vLLM's would have a row that its client does not print")
	}
}

// counted is a run of ok answers and failed requests, and what a server says to it.
func counted(ok, failed int, counters map[string]float64, body string) *trace.Trace {
	t := &trace.Trace{Run: trace.Run{Kind: trace.Measured, End: 1e9, ServerCounters: counters, Plan: trace.Load{Spec: &plan.Spec{Request: plan.Request{Body: json.RawMessage(body)}}}}}
	for i := range ok + failed {
		r := trace.NewRecord(i)
		r.Due, r.Sent, r.Done = 0, 1, 1e6
		if i >= ok {
			r.Class = trace.Reset
		}
		t.Records = append(t.Records, r)
	}
	return t
}

func TestCountersThatAreNotOfOneServerAreDropped(t *testing.T) {
	for _, tt := range []struct {
		name     string
		stop     float64
		length   float64
		other    float64
		body     string
		dropped  plan.Code
		ok, fail int
	}{
		{name: "as sent", stop: 60, length: 40, ok: 100},
		{name: "the failed ones may be counted, or not", stop: 100, ok: 100, fail: 20},
		{name: "a few are not counted yet", stop: 98, ok: 100},
		{name: "two answers each", stop: 200, ok: 100, body: `{"n": 2}`},
		{name: "one of two servers", stop: 51, ok: 100, dropped: "counters.fewer"},
		{name: "restarted", stop: 3, ok: 100, dropped: "counters.fewer"},
		{name: "others", stop: 130, ok: 100, dropped: "counters.more"},
		{name: "fell", stop: 100, ok: 100, other: -4, dropped: "counters.fell"},
		{name: "fell, of one label", stop: 140, length: -40, ok: 100, dropped: "counters.fell"},
	} {
		c := map[string]float64{
			"vllm:num_preemptions_total": 1, `vllm:request_success_total{finished_reason="stop"}`: tt.stop,
			`vllm:request_success_total{finished_reason="length"}`: tt.length, "process_cpu_seconds_total": tt.other,
		}
		s := Summarize(counted(tt.ok, tt.fail, c, tt.body), Options{}).Server
		if s == nil || s.Dropped.Code != tt.dropped || (s.Preemptions == 0) != (tt.dropped != "") {
			t.Errorf("%s: %+v", tt.name, s)
		}
	}
}
