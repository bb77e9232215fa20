package figure

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Metric is the part of a figure's name before the statistic.
type Metric string

// The latencies, and the metrics of other figures. ICL is AIPerf's name for the gaps between chunks, since its ITL is a
// mean per request.
const (
	TTFT      Metric = "ttft"
	TPOT      Metric = "tpot"
	ITL       Metric = "itl"
	ICL       Metric = "icl"
	E2EL      Metric = "e2el"
	Queue     Metric = "queue"
	E2ELQueue Metric = "e2el_queue"
	Probe     Metric = "probe"

	Requests   Metric = "requests"
	Tokens     Metric = "tokens"
	Throughput Metric = "throughput"
	Peak       Metric = "peak"
	SLO        Metric = "slo"
)

var latencies = []Metric{TTFT, TPOT, ITL, ICL, E2EL, Queue, E2ELQueue, Probe}

// IsLatency reports whether the metric has statistics.
func (m Metric) IsLatency() bool { return slices.Contains(latencies, m) }

// P is the name of a percentile: ttft.p99 for 99, ttft.p99.9 for 99.9.
func (m Metric) P(p float64) string { return m.Of(Percentile(p)) }

// Mean is the name of the mean.
func (m Metric) Mean() string { return m.Of("mean") }

// Median is the name of the median.
func (m Metric) Median() string { return m.Of("median") }

// Max is the name of the largest value.
func (m Metric) Max() string { return m.Of("max") }

// Of is the name of a statistic.
func (m Metric) Of(statistic string) string { return string(m) + "." + statistic }

// Percentile names a percentile as a statistic: p99 for 99 and p99.9 for 99.9.
func Percentile(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

// Split separates the metric of a figure's name from its statistic.
func Split(name string) (m Metric, statistic string) {
	metric, statistic, _ := strings.Cut(name, ".")
	return Metric(metric), statistic
}

// MetricOf is the metric of a figure's name.
func MetricOf(name string) Metric {
	m, _ := Split(name)
	return m
}

// MetricTitle names the latency that a figure is a statistic of, or the figure.
func MetricTitle(name string) plan.Message {
	if m := MetricOf(name); m.IsLatency() {
		return plan.Msg(plan.Code("latency." + m))
	}
	return Lookup(name).Title()
}

// ParsePercentile reads p99 and p99.9.
func ParsePercentile(statistic string) (p float64, ok bool) {
	digits, ok := strings.CutPrefix(statistic, "p")
	if !ok || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	p, err := strconv.ParseFloat(digits, 64)
	return p, err == nil && p <= 100
}

// IsStatistic reports whether latencies have the statistic: mean, median, std, min, max, or pN.
func IsStatistic(s string) bool {
	_, percentile := ParsePercentile(s)
	return percentile || slices.Contains([]string{"mean", "median", "std", "min", "max"}, s)
}
