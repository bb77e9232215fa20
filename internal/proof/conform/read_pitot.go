package conform

import (
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// isPitot knows a summary and an exported run.
func isPitot(o object) bool {
	return o.has("run", "service", "health") || o.has("run", "records")
}

// readPitot reads Pitot's figures, or sums up an exported run.
func readPitot(o object) (Claim, error) {
	var s metrics.Summary
	if o.has("records") {
		var t trace.Trace
		if err := o.into(&t); err != nil {
			return Claim{}, err
		}
		s = metrics.Summarize(&t, metrics.Options{Percentiles: []float64{90, 99}})
	} else if err := o.into(&s); err != nil {
		return Claim{}, err
	}
	c := newClaim()
	c.OK, c.Failed, c.Output = s.Requests.OK, s.Requests.Failed, s.Tokens.Output
	for m, d := range map[Metric]metrics.Distribution{TTFT: s.Service.TTFT, ITL: s.Service.ITL, TPOT: s.Service.TPOT, E2EL: s.Service.E2EL} {
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
func (c *Claim) distribution(m Metric, d metrics.Distribution) {
	c.put(m, Mean, &d.Mean, 1)
	c.put(m, Median, &d.Median, 1)
	bounds := map[Statistic]Bound{}
	if b := d.Bounds; b != nil {
		bounds[Median] = Bound{b.Low.Median, b.High.Median}
	}
	for i, p := range d.Percentiles {
		s, ok := map[float64]Statistic{90: P90, 99: P99}[p.P]
		if !ok {
			continue
		}
		c.put(m, s, &p.Value, 1)
		if b := d.Bounds; b != nil && i < min(len(b.Low.Percentiles), len(b.High.Percentiles)) {
			bounds[s] = Bound{b.Low.Percentiles[i], b.High.Percentiles[i]}
		}
	}
	if len(bounds) > 0 {
		if c.Bounds == nil {
			c.Bounds = map[Metric]map[Statistic]Bound{}
		}
		c.Bounds[m] = bounds
	}
	if d.Invalid {
		c.Void = append(c.Void, m)
	}
}
