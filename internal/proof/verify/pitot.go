package verify

import (
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/proof/conform"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// isPitot knows a summary and an exported run.
func isPitot(o object) bool {
	return o.has("run", "service", "health") || o.has("run", "records")
}

// readPitot reads Pitot's figures, or sums up an exported run.
func readPitot(o object) (claim, error) {
	var s metrics.Summary
	if o.has("records") {
		var t trace.Trace
		if err := o.into(&t); err != nil {
			return claim{}, err
		}
		s = metrics.Summarize(&t, metrics.Options{Percentiles: []float64{90, 99}})
	} else if err := o.into(&s); err != nil {
		return claim{}, err
	}
	c := newClaim()
	c.OK, c.Failed, c.Output = s.Requests.OK, s.Requests.Failed, s.Tokens.Output
	for m, d := range map[conform.Metric]metrics.Distribution{conform.TTFT: s.Service.TTFT, conform.ITL: s.Service.ITL, conform.TPOT: s.Service.TPOT, conform.E2EL: s.Service.E2EL} {
		if d.N > 0 {
			c.distribution(m, d)
		}
	}
	if s.Chunks.Output > 0 {
		c.Merged = &s.Chunks.MergedShare
	}
	c.Verdict, c.Reasons = string(s.Health.Verdict.Validity), s.Health.Verdict.Reasons
	return c, nil
}

// distribution takes what Pitot says of a metric, with the bounds of what it does
// not know exactly.
func (c *claim) distribution(m conform.Metric, d metrics.Distribution) {
	c.put(m, conform.Mean, &d.Mean, 1)
	c.put(m, conform.Median, &d.Median, 1)
	bounds := map[conform.Statistic]conform.Bound{}
	if b := d.Bounds; b != nil {
		bounds[conform.Median] = conform.Bound{Low: b.Low.Median, High: b.High.Median}
	}
	for i, p := range d.Percentiles {
		s, ok := map[float64]conform.Statistic{90: conform.P90, 99: conform.P99}[p.P]
		if !ok {
			continue
		}
		c.put(m, s, &p.Value, 1)
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
