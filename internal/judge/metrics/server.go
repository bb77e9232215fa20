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

// A finishedCount counts the requests that a server must have finished, and those that it can
// have. A text to be embedded is one of its own, and so is each of n answers.
type finishedCount struct {
	least, most float64
	each        float64 // answers that a request asks for
}

// newFinishedCount has the probes of a run.
func newFinishedCount(run *trace.Run) (c finishedCount) {
	c.each = answers(run.Plan.Spec)
	for _, r := range run.Probes {
		c.add(r)
	}
	return c
}

func (c *finishedCount) add(r *trace.Record) {
	if r.OK() {
		c.least++
	}
	c.most += max(float64(r.Inputs), c.each)
	if r.Resent {
		c.most += c.each
	}
}

func (x *observed) server() *ServerCounts { return x.finished.server(x.run) }

// server reads counter differences; nil without any of those it knows.
func (c finishedCount) server(run *trace.Run) *ServerCounts {
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
	if why := c.doubtful(run); !why.IsZero() {
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
func (c finishedCount) doubtful(run *trace.Run) plan.Message {
	for _, series := range slices.Sorted(maps.Keys(run.ServerCounters)) {
		if v := run.ServerCounters[series]; v < -roundOff {
			return plan.Msg("counters.fell", "counter", briefly(series), "by", -v)
		}
	}
	counted, ok := finished(run.ServerCounters)
	if !ok || run.Kind != trace.Measured || !run.End.Happened() {
		return plan.Message{}
	}
	slack := max(countSlack, countShare*c.most)
	switch {
	case counted > c.most+slack:
		return plan.Msg("counters.more", "counted", counted, "sent", c.most)
	case counted < c.least-slack:
		return plan.Msg("counters.fewer", "counted", counted, "answered", c.least)
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
