package conform

// A Metric is a latency reported by tools, under its common name.
type Metric string

// The metrics. ICL is AIPerf's name for the gaps that other tools call ITL, since
// its ITL is a mean.
const (
	TTFT Metric = "ttft"
	ITL  Metric = "itl"
	ICL  Metric = "icl"
	TPOT Metric = "tpot"
	E2EL Metric = "e2el"
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
