package conform

import (
	"errors"
	"fmt"
)

func isGuideLLM(o object) bool { return o.has("benchmarks") }

// A guideDistribution is one of GuideLLM's, over the requests that succeeded.
type guideDistribution struct {
	Successful struct {
		Mean        *float64            `json:"mean"`
		Median      *float64            `json:"median"`
		Count       *float64            `json:"count"`
		Sum         *float64            `json:"total_sum"`
		Percentiles map[string]*float64 `json:"percentiles"`
	} `json:"successful"`
}

// readGuideLLM reads benchmarks.json, which must hold one benchmark: a sweep has
// many loads, and a cell has one.
func readGuideLLM(o object) (Claim, error) {
	var r struct {
		Benchmarks []struct {
			Metrics struct {
				Totals struct {
					Successful *float64 `json:"successful"`
					Errored    *float64 `json:"errored"`
					Incomplete *float64 `json:"incomplete"`
				} `json:"request_totals"`
				Latency guideDistribution `json:"request_latency"`
				TTFT    guideDistribution `json:"time_to_first_token_ms"`
				TPOT    guideDistribution `json:"time_per_output_token_ms"`
				ITL     guideDistribution `json:"inter_token_latency_ms"`
				Output  guideDistribution `json:"output_token_count"`
			} `json:"metrics"`
		} `json:"benchmarks"`
	}
	if err := o.into(&r); err != nil {
		return Claim{}, err
	}
	if len(r.Benchmarks) == 0 {
		return Claim{}, errors.New("it holds no benchmark: the client measured nothing")
	}
	if n := len(r.Benchmarks); n > 1 {
		return Claim{}, fmt.Errorf("it holds %d benchmarks: a cell is one load, so the client must run one", n)
	}
	m := r.Benchmarks[0].Metrics
	c := newClaim()
	c.OK = count(m.Totals.Successful)
	if m.Totals.Errored != nil {
		c.Failed = count(m.Totals.Errored) + max(0, count(m.Totals.Incomplete))
	}
	c.Output = count(m.Output.Successful.Sum)
	for _, d := range []struct {
		metric Metric
		of     guideDistribution
		unit   float64
	}{{TTFT, m.TTFT, milliseconds}, {TPOT, m.TPOT, milliseconds}, {ITL, m.ITL, milliseconds}, {E2EL, m.Latency, 1}} {
		s := d.of.Successful
		if count(s.Count) == 0 {
			continue
		}
		c.put(d.metric, Mean, s.Mean, d.unit)
		c.put(d.metric, Median, s.Median, d.unit)
		c.put(d.metric, P90, s.Percentiles["p90"], d.unit)
		c.put(d.metric, P99, s.Percentiles["p99"], d.unit)
	}
	return c, nil
}
