package verify

import "github.com/pitot-bench/pitot/internal/proof/conform"

// isVLLM knows a result by its figures in milliseconds, or by the counts that
// every result has.
func isVLLM(o object) bool {
	return o.has("completed", "duration", "total_output_tokens") && !isSGLang(o)
}

// readVLLM reads a result.
func readVLLM(o object) (claim, error) { return readColumns(o, "e2el") }

// isSGLang knows a line by the spelling of its end-to-end latency.
func isSGLang(o object) bool { return o.has("completed", "mean_e2e_latency_ms") }

// readSGLang reads a line. Its count of tokens is often what was asked for.
func readSGLang(o object) (claim, error) { return readColumns(o, "e2e_latency") }

// readColumns reads a result of the two tools; they have their own name for the
// end-to-end latency. The detailed form has the samples too, from which statistics come
// that the summary was not asked for. SGLang counts no failures: only the details have an
// error for each request.
func readColumns(o object, e2el string) (claim, error) {
	var r struct {
		Completed *float64    `json:"completed"`
		Failed    *float64    `json:"failed"`
		Output    *float64    `json:"total_output_tokens"`
		TTFTs     []float64   `json:"ttfts"`
		ITLs      [][]float64 `json:"itls"`
		Latencies []float64   `json:"latencies"`
		Lengths   []float64   `json:"output_lens"`
		Errors    []string    `json:"errors"`
	}
	if err := o.into(&r); err != nil {
		return claim{}, err
	}
	c := newClaim()
	c.OK, c.Failed, c.Output = count(r.Completed), count(r.Failed), count(r.Output)
	if err := c.flat(o, map[conform.Metric]string{conform.TTFT: "ttft", conform.ITL: "itl", conform.TPOT: "tpot", conform.E2EL: e2el}); err != nil {
		return c, err
	}
	if r.Failed == nil && len(r.Errors) > 0 && c.OK >= 0 {
		c.Failed = len(r.Errors) - c.OK
	}
	ok := func(i int) bool { return i >= len(r.Errors) || r.Errors[i] == "" }
	samples := map[conform.Metric][]float64{}
	add := func(m conform.Metric, values ...float64) { samples[m] = append(samples[m], values...) }
	for i, v := range r.TTFTs {
		if !ok(i) {
			continue
		}
		add(conform.TTFT, v)
		if i < len(r.ITLs) {
			add(conform.ITL, r.ITLs[i]...)
		}
		if i < len(r.Lengths) && i < len(r.Latencies) && r.Lengths[i] > 1 {
			add(conform.TPOT, (r.Latencies[i]-v)/(r.Lengths[i]-1))
		}
	}
	// Without the errors nobody knows whose latencies are those of failures.
	for i, v := range r.Latencies {
		if i < len(r.Errors) && ok(i) || len(r.Errors) == 0 && c.Failed == 0 {
			add(conform.E2EL, v)
		}
	}
	for m, values := range samples {
		c.fill(m, values)
	}
	return c, nil
}

// flat takes the members mean_NAME_ms, median_NAME_ms, p90_NAME_ms and so on.
func (c *claim) flat(o object, names map[conform.Metric]string) error {
	var all map[string]any
	if err := o.into(&all); err != nil {
		return err
	}
	for m, name := range names {
		for _, s := range conform.Statistics() {
			if v, ok := all[string(s)+"_"+name+"_ms"].(float64); ok {
				c.put(m, s, &v, milliseconds)
			}
		}
	}
	return nil
}
