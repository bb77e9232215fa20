package conform

import "github.com/pitot-bench/pitot/internal/judge/figure"

// A Metric is a latency reported by tools.
type Metric = figure.Metric

// The metrics.
const (
	TTFT = figure.TTFT
	ITL  = figure.ITL
	ICL  = figure.ICL
	TPOT = figure.TPOT
	E2EL = figure.E2EL
)

// Metrics lists them.
func Metrics() []Metric { return []Metric{TTFT, ITL, ICL, TPOT, E2EL} }

// A Statistic is one number of a distribution.
type Statistic string

// The compared statistics.
const (
	Mean   Statistic = "mean"
	Median Statistic = "median"
	P90    Statistic = "p90"
	P99    Statistic = "p99"
)

// Statistics lists them.
func Statistics() []Statistic { return []Statistic{Mean, Median, P90, P99} }
