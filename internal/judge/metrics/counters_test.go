package metrics

import (
	"testing"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestServerCounters(t *testing.T) {
	s := Summarize(&trace.Trace{Run: trace.Run{ServerCounters: map[string]float64{
		`vllm:num_preemptions_total`: 3, `vllm:prefix_cache_queries_total`: 1000, `vllm:prefix_cache_hits_total`: 250,
		`vllm:spec_decode_num_draft_tokens_total`: 40, `vllm:spec_decode_num_accepted_tokens_total`: 30,
		`vllm:spec_decode_num_accepted_tokens_per_pos_total{position="0"}`: 30,
		`vllm:request_queue_time_seconds_sum`:                              6, `vllm:request_queue_time_seconds_count`: 4,
	}}}, Options{})
	if want := (Server{Queued: 1.5, Preemptions: 3, PrefixQueried: 1000, PrefixHit: 250, Drafted: 40, Accepted: 30}); s.Server == nil || *s.Server != want {
		t.Errorf("%+v, want %+v", s.Server, want)
	}
	if s := Summarize(&trace.Trace{Run: trace.Run{ServerCounters: map[string]float64{"other_total": 3}}}, Options{}); s.Server != nil {
		t.Errorf("%+v of a server without these counters", s.Server)
	}
}

func TestCountersOfLlamaCpp(t *testing.T) {
	counters := map[string]float64{
		"llamacpp:prompt_tokens_total": 900, "llamacpp:prompt_seconds_total": 2, "llamacpp:tokens_predicted_total": 300, "llamacpp:n_decode_total": 120,
	}
	if got, want := *llamaCpp(counters), (Server{Computed: 900, PerDecode: 2.5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	counters["llamacpp:prompt_tokens_cached_total"] = 100
	if got := llamaCpp(counters); got.PrefixQueried != 1000 || got.PrefixHit != 100 {
		t.Errorf("%d of %d prompt tokens from the cache, want 100 of 1000", got.PrefixHit, got.PrefixQueried)
	}
	if s := NewSpecDecode(map[string]float64{"llamacpp:spec_decode_num_draft_tokens_total": 3}); s != nil {
		t.Error("a table of vLLM's would have a row that its client does not print")
	}
}
