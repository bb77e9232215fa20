package metrics

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// ServerCounts is what the server itself counted during a run, where it shows
// counters under the names of vLLM, llama.cpp or SGLang: all that they say of the requests, warm-up left
// out, whoever sent them.
type ServerCounts struct {
	Queued        float64 `json:"queued"`         // mean wait of a request for its first step, in seconds
	Preemptions   int     `json:"preemptions"`    // requests that lost their memory and began anew
	PrefixQueried int     `json:"prefix_queried"` // prompt tokens looked up in the prefix cache
	PrefixHit     int     `json:"prefix_hit"`     // of them, found
	Drafted       int     `json:"drafted"`        // tokens that speculative decoding drafted
	Accepted      int     `json:"accepted"`       // of them, accepted
	// Of llama.cpp: prompt tokens that it computed, and output tokens per call of the model.
	Computed  int     `json:"computed,omitempty"`
	PerDecode float64 `json:"per_decode,omitempty"`
	// Dropped says why there is none of the above: the counters are not those of one
	// server over this run.
	Dropped plan.Message `json:"dropped,omitzero"`
}

// server reads counter differences; nil without any of those it knows.
func server(run *trace.Run, records []*trace.Record) *ServerCounts {
	s := vLLM(run.ServerCounters)
	if s == nil {
		s = llamaCpp(run.ServerCounters)
	}
	if s == nil {
		s = sgLang(run.ServerCounters)
	}
	if s == nil {
		return nil
	}
	if why := doubtful(run, records); !why.IsZero() {
		return &ServerCounts{Dropped: why}
	}
	return s
}

// vLLM reads counters under its names, nil if there are none.
func vLLM(counters map[string]float64) *ServerCounts {
	sum := sums(counters)
	if _, ok := sum["num_preemptions"]; !ok {
		return nil
	}
	// A server adds up in binary fractions: beyond nanoseconds is noise.
	queued := over(sum["request_queue_time_seconds_sum"], sum["request_queue_time_seconds_count"])
	return &ServerCounts{
		Queued:        math.Round(queued*1e9) / 1e9,
		Preemptions:   int(sum["num_preemptions"]),
		PrefixQueried: int(sum["prefix_cache_queries"]),
		PrefixHit:     int(sum["prefix_cache_hits"]),
		Drafted:       int(sum["spec_decode_num_draft_tokens"]),
		Accepted:      int(sum["spec_decode_num_accepted_tokens"]),
	}
}

// A server counts a little later than it answers, and warm-up requests may be counted
// after the first look.
const (
	countSlack = 2    // requests
	countShare = 0.02 // of the requests
)

// roundOff is less than any counter falls by, and more than sums of seconds are off.
const roundOff = 1e-6

// briefly is the beginning of a server's name for something.
func briefly(name string) string {
	const most = 80
	if r := []rune(name); len(r) > most {
		return string(r[:most]) + "…"
	}
	return name
}

// doubtful says why the counters are not those of one server over this run: one fell,
// or they count requests that were not sent, or fewer than were answered.
func doubtful(run *trace.Run, records []*trace.Record) plan.Message {
	for _, series := range slices.Sorted(maps.Keys(run.ServerCounters)) {
		if v := run.ServerCounters[series]; v < -roundOff {
			return plan.Msg("counters.fell", "counter", briefly(series), "by", -v)
		}
	}
	counted, ok := finished(run.ServerCounters)
	if !ok || run.Kind != trace.Measured || !run.End.Happened() {
		return plan.Message{}
	}
	least, most := expected(run, records)
	slack := max(countSlack, countShare*most)
	switch {
	case counted > most+slack:
		return plan.Msg("counters.more", "counted", counted, "sent", most)
	case counted < least-slack:
		return plan.Msg("counters.fewer", "counted", counted, "answered", least)
	}
	return plan.Message{}
}

// finished is how many requests the server has finished; ok is false if it does not say.
func finished(counters map[string]float64) (n float64, ok bool) {
	for series, v := range counters {
		if name := base(series); name == "request_success" {
			n, ok = n+v, true
		}
	}
	return n, ok
}

// expected are the requests that a server must have finished, and those that it can
// have. A text to be embedded is one of its own, and so is each of n answers.
func expected(run *trace.Run, records []*trace.Record) (least, most float64) {
	each := answers(run.Plan.Spec)
	for _, r := range slices.Concat(records, run.Probes) {
		if r.OK() {
			least++
		}
		most += max(float64(r.Inputs), each)
		if r.Resent {
			most += each
		}
	}
	return least, most
}

// answers is how many a request asks for, by its field n.
func answers(spec *plan.Spec) float64 {
	var body struct {
		N float64 `json:"n"`
	}
	if spec != nil {
		_ = json.Unmarshal(spec.Request.Body, &body) // without it there is one
	}
	return max(1, body.N)
}
