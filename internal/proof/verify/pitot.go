package verify

import (
	"encoding/json"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// readPitot reads Pitot's figures, or sums up an exported run; is reports whether the data is one of them.
func readPitot(data []byte) (c conform.Claim, is bool, err error) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(data, &members) // anything but one object is not Pitot's
	var s metrics.Summary
	switch {
	case members["run"] == nil:
		return c, false, nil
	case members["records"] != nil:
		var t trace.Trace
		if err := json.Unmarshal(data, &t); err != nil {
			return c, true, err
		}
		s = metrics.Summarize(&t, metrics.Options{Percentiles: []float64{90, 99}})
	case members["service"] == nil || members["health"] == nil:
		return c, false, nil
	default:
		if err := json.Unmarshal(data, &s); err != nil {
			return c, true, err
		}
	}
	c = newClaim(metrics.Pitot)
	c.OK, c.Failed, c.Output = s.Requests.OK, s.Requests.Failed, s.Tokens.Output
	for m, d := range map[conform.Metric]metrics.Distribution{conform.TTFT: s.Service.TTFT, conform.ITL: s.Service.ITL, conform.TPOT: s.Service.TPOT, conform.E2EL: s.Service.E2EL} {
		if d.N > 0 {
			distribution(&c, m, d)
		}
	}
	if s.Chunks.Output > 0 {
		c.Merged = &s.Chunks.MergedShare
	}
	c.Verdict, c.Reasons = string(s.Health.Verdict.Validity), s.Health.Verdict.Reasons
	return c, true, nil
}

// distribution takes Pitot's figures of a metric, with bounds for those that it does not know
// exactly.
func distribution(c *conform.Claim, m conform.Metric, d metrics.Distribution) {
	put(c, m, conform.Mean, d.Mean)
	put(c, m, conform.Median, d.Median)
	bounds := map[conform.Statistic]conform.Bound{}
	if b := d.Bounds; b != nil {
		bounds[conform.Median] = conform.Bound{Low: b.Low.Median, High: b.High.Median}
	}
	for i, p := range d.Percentiles {
		s, ok := map[float64]conform.Statistic{90: conform.P90, 99: conform.P99}[p.P]
		if !ok {
			continue
		}
		put(c, m, s, p.Value)
		if b := d.Bounds; b != nil && i < min(len(b.Low.Percentiles), len(b.High.Percentiles)) {
			bounds[s] = conform.Bound{Low: b.Low.Percentiles[i], High: b.High.Percentiles[i]}
		}
	}
	if len(bounds) > 0 {
		if c.Bounds == nil {
			c.Bounds = map[conform.Metric]map[conform.Statistic]conform.Bound{}
		}
		c.Bounds[m] = bounds
	}
	if d.Invalid || d.Void {
		c.Void = append(c.Void, m)
	}
}
