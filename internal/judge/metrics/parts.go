package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Part is what the requests of one tenant, of one part of a mix, or of one place in
// conversations got.
type Part struct {
	Name   string  `json:"name"`
	Sent   int     `json:"sent"`
	OK     int     `json:"ok"`
	Failed int     `json:"failed"`
	Rate   float64 `json:"rate"`   // that succeeded, per second of the run
	Output float64 `json:"output"` // their output tokens, per second of the run
	Prompt float64 `json:"prompt"` // mean tokens of their prompts, with all that a turn remembers
	// Cached is the share of these tokens that the server had in its prefix cache, as
	// far as it says.
	Cached  float64   `json:"cached"`
	Service Latencies `json:"service"`
}

// tenants are the parts of a run by tenant; nil if requests have none.
func tenants(records []*trace.Record, s Summary, percentiles []float64) []Part {
	by := map[string][]*trace.Record{}
	for _, r := range records {
		by[r.Tenant] = append(by[r.Tenant], r)
	}
	if len(by) == 1 && by[""] != nil {
		return nil
	}
	return parts(by, func(name string) string { return name }, s, percentiles)
}

// turns are the parts of a run by place in a conversation: the first four by
// themselves, then as many together as there were before. nil if there are no
// conversations.
func turns(records []*trace.Record, s Summary, percentiles []float64) []Part {
	by := map[int][]*trace.Record{}
	for _, r := range records {
		if r.Session != "" {
			first, _ := group(r.Turn)
			by[first] = append(by[first], r)
		}
	}
	if _, only := by[0]; len(by) == 0 || len(by) == 1 && only {
		return nil
	}
	return parts(by, func(turn int) string {
		if first, last := group(turn); last > first {
			return fmt.Sprintf("%d–%d", first+1, last+1)
		}
		return fmt.Sprint(turn + 1)
	}, s, percentiles)
}

// group is the first and the last of the turns that are counted together with turn n;
// all count from 0.
func group(n int) (first, last int) {
	if n < 4 {
		return n, n
	}
	first, last = 4, 7
	for n > last {
		first, last = last+1, 2*last+1
	}
	return first, last
}

// parts are the groups of a run's requests, in the order of what they are grouped by.
func parts[K cmp.Ordered](by map[K][]*trace.Record, name func(K) string, s Summary, percentiles []float64) (out []Part) {
	for _, key := range slices.Sorted(maps.Keys(by)) {
		records := by[key]
		requests, tokens := countRequests(0, records), countTokens(records)
		p := Part{Name: name(key), Sent: requests.Sent, OK: requests.OK, Failed: requests.Failed}
		p.Rate, p.Output = over(requests.OK, s.Duration), over(tokens.Output, s.Duration)
		p.Prompt = over(tokens.Input, float64(requests.OK))
		cached, counted := 0, 0
		for _, r := range records {
			if r.OK() {
				u := r.Credible()
				cached, counted = cached+u.Cached, counted+u.Prompt
			}
		}
		p.Cached = over(cached, float64(counted))
		p.Service = latencies(records, s.Run.Plan.Stream, percentiles, sent, nil)
		out = append(out, p)
	}
	return out
}

// over is a number by something, 0 by nothing.
func over[T int | float64](n T, by float64) float64 {
	if by <= 0 {
		return 0
	}
	return float64(n) / by
}
