package metrics

import (
	"math"
	"strings"
)

// Server is what the server itself counted during a run, where it shows
// counters under vLLM's names: all that they say of the requests, warm-up left
// out, whoever sent them.
type Server struct {
	Queued        float64 `json:"queued"`         // mean wait of a request for its first step, in seconds
	Preemptions   int     `json:"preemptions"`    // requests that lost their memory and began anew
	PrefixQueried int     `json:"prefix_queried"` // prompt tokens looked up in the prefix cache
	PrefixHit     int     `json:"prefix_hit"`     // of them, found
	Drafted       int     `json:"drafted"`        // tokens that speculative decoding drafted
	Accepted      int     `json:"accepted"`       // of them, accepted
}

// server reads counter differences, keyed by name{labels}; nil without any of
// those it knows.
func server(counters map[string]float64) *Server {
	sum := map[string]float64{}
	for series, v := range counters {
		name, _, _ := strings.Cut(series, "{")
		sum[strings.TrimPrefix(name, "vllm:")] += v
	}
	if _, ok := sum["num_preemptions_total"]; !ok {
		return nil
	}
	s := &Server{
		Preemptions:   int(sum["num_preemptions_total"]),
		PrefixQueried: int(sum["prefix_cache_queries_total"]),
		PrefixHit:     int(sum["prefix_cache_hits_total"]),
		Drafted:       int(sum["spec_decode_num_draft_tokens_total"]),
		Accepted:      int(sum["spec_decode_num_accepted_tokens_total"]),
	}
	if n := sum["request_queue_time_seconds_count"]; n > 0 { // a server adds up in binary fractions: beyond nanoseconds is noise
		s.Queued = math.Round(sum["request_queue_time_seconds_sum"]/n*1e9) / 1e9
	}
	return s
}
