package conform

import (
	"fmt"
	"math"
)

func isInferencePerf(o object) bool { return o.has("load_summary", "successes", "failures") }

// readInferencePerf reads a summary or a stage; both have the same form.
func readInferencePerf(o object) (Claim, error) {
	var r struct {
		Seconds   float64 `json:"benchmark_time_seconds"`
		Successes struct {
			Count      *float64                       `json:"count"`
			Latency    map[string]map[string]*float64 `json:"latency"`
			Mismatches float64                        `json:"token_count_mismatches"`
			Output     struct {
				Total *float64 `json:"total"`
			} `json:"output_tokens"`
			Throughput struct {
				Output *float64 `json:"output_tokens_per_sec"`
			} `json:"throughput"`
		} `json:"successes"`
		Failures struct {
			Count *float64 `json:"count"`
		} `json:"failures"`
	}
	if err := o.into(&r); err != nil {
		return Claim{}, err
	}
	c := newClaim()
	c.OK, c.Failed, c.Output = count(r.Successes.Count), count(r.Failures.Count), count(r.Successes.Output.Total)
	if t := r.Successes.Throughput.Output; c.Output < 0 && t != nil {
		c.Output = int(math.Round(*t * r.Seconds))
	}
	for m, name := range map[Metric]string{TTFT: "time_to_first_token", ITL: "inter_token_latency", TPOT: "time_per_output_token", E2EL: "request_latency"} {
		for _, s := range Statistics() {
			c.put(m, s, r.Successes.Latency[name][string(s)], 1)
		}
	}
	if n := r.Successes.Mismatches; n > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("its tokenizer counts other tokens than the server in %.0f answers, and its ITL is by its own count", n))
	}
	return c, nil
}
