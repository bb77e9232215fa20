package conform

import "github.com/pitot-bench/pitot/internal/plan"

// A Claim is what a client reports of a run.
type Claim struct {
	Format string `json:"format"`
	// OK and Failed count requests, Output the tokens of those that succeeded; -1
	// where the report does not tell.
	OK     int `json:"ok"`
	Failed int `json:"failed"`
	Output int `json:"output_tokens"`
	// Latencies are in seconds. What the report does not have is not in them.
	Latencies map[Metric]Latency `json:"latencies"`
	// Merged is the share of tokens that were read too late to be told apart, nil
	// where the client does not tell. Bounds are what a figure lies within by the
	// client's own account, and of a metric in Void it says that only the mean is to
	// be believed.
	Merged *float64                       `json:"merged,omitempty"`
	Bounds map[Metric]map[Statistic]Bound `json:"bounds,omitempty"`
	Void   []Metric                       `json:"void,omitempty"`
	// Verdict is the client's on its own run: valid, doubtful or invalid; empty if
	// it has none.
	Verdict string         `json:"verdict,omitempty"`
	Reasons []plan.Message `json:"reasons,omitempty"`
	Notes   []plan.Message `json:"notes,omitempty"` // what the report itself says against its figures
}

// A Bound is what a figure lies within, in seconds.
type Bound struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Latency is a distribution in the statistics that a report has.
type Latency map[Statistic]float64

// Sent is how many requests the client says it made, -1 where it does not.
func (c Claim) Sent() int {
	if c.OK < 0 {
		return -1
	}
	return c.OK + max(0, c.Failed)
}
