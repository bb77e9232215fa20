package verify

import "github.com/pitot-bench/pitot/internal/proof/conform"

// isSGLang knows a line by the spelling of its end-to-end latency.
func isSGLang(o object) bool { return o.has("completed", "mean_e2e_latency_ms") }

// readSGLang reads a line. It counts no failures: only the details, if there are
// any, have an error for each request. Its count of tokens is often what was
// asked for.
func readSGLang(o object) (claim, error) {
	var r struct {
		Completed *float64    `json:"completed"`
		Output    *float64    `json:"total_output_tokens"`
		TTFTs     []float64   `json:"ttfts"`
		ITLs      [][]float64 `json:"itls"`
		Errors    []string    `json:"errors"`
	}
	if err := o.into(&r); err != nil {
		return claim{}, err
	}
	c := newClaim()
	c.OK, c.Output = count(r.Completed), count(r.Output)
	if err := c.flat(o, map[conform.Metric]string{conform.TTFT: "ttft", conform.ITL: "itl", conform.TPOT: "tpot", conform.E2EL: "e2e_latency"}); err != nil {
		return c, err
	}
	if len(r.Errors) > 0 && c.OK >= 0 {
		c.Failed = len(r.Errors) - c.OK
	}
	var ttft, itl []float64
	for i, v := range r.TTFTs {
		if i < len(r.Errors) && r.Errors[i] != "" {
			continue
		}
		ttft = append(ttft, v)
		if i < len(r.ITLs) {
			itl = append(itl, r.ITLs[i]...)
		}
	}
	c.fill(conform.TTFT, ttft)
	c.fill(conform.ITL, itl)
	return c, nil
}
