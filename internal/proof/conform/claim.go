package conform

import "github.com/pitot-bench/pitot/internal/plan"

// A Claim is a client's report of a run.
type Claim struct {
	Format string `json:"format"`
	// OK and Failed count requests, Output the tokens of the successful ones; -1 if
	// unreported.
	OK     int `json:"ok"`
	Failed int `json:"failed"`
	Output int `json:"output_tokens"`
	// Latencies are in seconds. Unreported ones are absent.
	Latencies map[Metric]Latency `json:"latencies"`
	// Merged is the share of tokens that the client read too late to separate, nil
	// if unreported. Bounds enclose figures by the client's own account, and for a
	// metric in Void the client says that only the mean can be trusted.
	Merged *float64                       `json:"merged,omitempty"`
	Bounds map[Metric]map[Statistic]Bound `json:"bounds,omitempty"`
	Void   []Metric                       `json:"void,omitempty"`
	// Verdict is the client's verdict on its own run: valid, doubtful or invalid;
	// empty if it has none.
	Verdict string         `json:"verdict,omitempty"`
	Reasons []plan.Message `json:"reasons,omitempty"`
	Notes   []plan.Message `json:"notes,omitempty"` // the report's own reservations about its figures
}

// A Bound encloses a figure, in seconds.
type Bound struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Latency is a distribution by its reported statistics.
type Latency map[Statistic]float64

// Sent is the number of requests that the client reports, -1 if unreported.
func (c Claim) Sent() int {
	if c.OK < 0 {
		return -1
	}
	return c.OK + max(0, c.Failed)
}
