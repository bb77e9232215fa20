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
	Rate   float64 `json:"rate"`   // that succeeded, per second of the whole run
	Output float64 `json:"output"` // their output tokens, per second of the whole run
	Prompt float64 `json:"prompt"` // mean tokens of their prompts, with all that a turn remembers
	// Cached is the share of these tokens that the server had in its prefix cache, as
	// far as it says.
	Cached  float64   `json:"cached"`
	Service Latencies `json:"service"`
}

// tenants are the parts of a run by whose the requests are; nil if nobody's.
func tenants(records []*trace.Record, s Summary, stream bool, percentiles []float64) []Part {
	by := map[string][]*trace.Record{}
	for _, r := range records {
		by[r.Tenant] = append(by[r.Tenant], r)
	}
	if len(by) == 1 && by[""] != nil {
		return nil
	}
	var parts []Part
	for _, name := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, newPart(name, by[name], s, stream, percentiles))
	}
	return parts
}

// turns are the parts of a run by place in a conversation: the first four by
// themselves, then as many together as there were before. nil if there are no
// conversations.
func turns(records []*trace.Record, s Summary, stream bool, percentiles []float64) []Part {
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
	var parts []Part
	for _, first := range slices.Sorted(maps.Keys(by)) {
		name := fmt.Sprint(first + 1)
		if _, last := group(first); last > first {
			name = fmt.Sprintf("%d–%d", first+1, last+1)
		}
		parts = append(parts, newPart(name, by[first], s, stream, percentiles))
	}
	return parts
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

func newPart(name string, records []*trace.Record, s Summary, stream bool, percentiles []float64) Part {
	p := Part{Name: name, Sent: len(records), Service: latencies(records, stream, percentiles, sent)}
	prompts, cached, output, counted := 0, 0, 0, 0
	for _, r := range records {
		if !r.OK() {
			p.Failed++
			continue
		}
		p.OK++
		prompts += cmp.Or(r.Usage.Prompt, r.PromptTokens)
		counted += r.Usage.Prompt
		cached += r.Usage.Cached
		output += r.OutputTokens
	}
	if s.Duration > 0 {
		p.Rate, p.Output = float64(p.OK)/s.Duration, float64(output)/s.Duration
	}
	if p.OK > 0 {
		p.Prompt = float64(prompts) / float64(p.OK)
	}
	if counted > 0 {
		p.Cached = float64(cached) / float64(counted)
	}
	return p
}
