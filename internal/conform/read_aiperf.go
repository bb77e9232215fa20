package conform

import (
	"encoding/json"
	"fmt"
	"math"
)

// isAIPerf knows a profile by the shape of its latencies: statistics with a
// unit.
func isAIPerf(o object) bool {
	var d aiperfMetric
	return json.Unmarshal(o.members["request_latency"], &d) == nil && d.Unit != "" && !isGuideLLM(o)
}

// An aiperfMetric is a distribution, or a single number in Average.
type aiperfMetric struct {
	Unit    string   `json:"unit"`
	Average *float64 `json:"avg"`
	P50     *float64 `json:"p50"`
	P90     *float64 `json:"p90"`
	P99     *float64 `json:"p99"`
}

// aiperfUnits are the seconds in a unit.
var aiperfUnits = map[string]float64{"ns": 1e-9, "us": 1e-6, "ms": milliseconds, "s": 1, "sec": 1}

// readAIPerf reads a profile of AIPerf, or of GenAI-Perf, whose names it kept.
func readAIPerf(o object) (Claim, error) {
	c := newClaim()
	get := func(name string) (d aiperfMetric, err error) {
		if o.members[name] == nil {
			return d, nil
		}
		if err := json.Unmarshal(o.members[name], &d); err != nil {
			return d, fmt.Errorf("%s: %w", name, err)
		}
		return d, nil
	}
	for m, name := range map[Metric]string{TTFT: "time_to_first_token", ITL: "inter_token_latency", ICL: "inter_chunk_latency", E2EL: "request_latency"} {
		d, err := get(name)
		if err != nil {
			return c, err
		}
		unit, known := aiperfUnits[d.Unit]
		if !known && d.Unit != "" {
			return c, fmt.Errorf("%s: its unit %q is not known", name, d.Unit)
		}
		c.put(m, Mean, d.Average, unit)
		c.put(m, Median, d.P50, unit)
		c.put(m, P90, d.P90, unit)
		c.put(m, P99, d.P99, unit)
	}
	for name, to := range map[string]*int{"request_count": &c.OK, "error_request_count": &c.Failed, "total_output_tokens": &c.Output} {
		d, err := get(name)
		if err != nil {
			return c, err
		}
		*to = count(d.Average)
	}
	if c.OK >= 0 && c.Failed < 0 {
		c.Failed = 0 // it has no count of none
	}
	if d, err := get("output_sequence_length"); err == nil && d.Average != nil && c.OK >= 0 && c.Output < 0 {
		c.Output = int(math.Round(*d.Average * float64(c.OK)))
	}
	return c, nil
}
