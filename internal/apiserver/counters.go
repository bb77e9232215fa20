package apiserver

import (
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/engine"
)

// Counters are what /metrics would have counted of an engine in the end: by name,
// with the labels that tell series apart. Queued is how long its requests waited
// for a place, in all.
func Counters(l engine.Load, queued time.Duration, requests int) map[string]float64 {
	c := map[string]float64{
		"vllm:num_preemptions_total":            float64(l.Preemptions),
		"vllm:prefix_cache_queries_total":       float64(l.PrefixQueried),
		"vllm:prefix_cache_hits_total":          float64(l.PrefixHit),
		"vllm:request_queue_time_seconds_sum":   queued.Seconds(),
		"vllm:request_queue_time_seconds_count": float64(requests),
	}
	if l.Drafts == 0 {
		return c
	}
	c["vllm:spec_decode_num_drafts_total"] = float64(l.Drafts)
	c["vllm:spec_decode_num_draft_tokens_total"] = float64(l.Drafted)
	c["vllm:spec_decode_num_accepted_tokens_total"] = float64(l.Accepted)
	for i, n := range l.AcceptedAt {
		if n > 0 {
			c[fmt.Sprintf("vllm:spec_decode_num_accepted_tokens_per_pos_total{position=%q}", fmt.Sprint(i))] = float64(n)
		}
	}
	return c
}
