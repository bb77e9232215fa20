package metrics

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Quantity is what a figure is of, whatever tool it comes from. Its name is
// METRIC.STATISTIC.
type Quantity struct {
	Name   string    `json:"name"`
	Unit   Unit      `json:"unit"`
	Better Direction `json:"better"`
}

// A Unit is that of a value in memory.
type Unit string

// The units.
const (
	Seconds         Unit = "s"
	PerSecond       Unit = "/s" // requests
	TokensPerSecond Unit = "tok/s"
	TokenCount      Unit = "tok"
	Joules          Unit = "J"
	Watts           Unit = "W"
	Celsius         Unit = "°C"
	Count           Unit = ""
)

// A Direction says which way a figure should go.
type Direction string

// The directions.
const (
	Lower   Direction = "lower"
	Higher  Direction = "higher"
	Neither Direction = "neither" // it describes the load, or is no matter of good and bad
)

// QuantityOf is what a figure of that name is of. A name that is not known is a
// number of no unit that should go neither way.
func QuantityOf(name string) Quantity {
	q, _ := quantity(name)
	return q
}

// Known reports whether a figure can have that name.
func Known(name string) bool {
	_, known := quantity(name)
	return known
}

func quantity(name string) (q Quantity, known bool) {
	all := Quantities()
	if i := slices.IndexFunc(all, func(q Quantity) bool { return q.Name == name }); i >= 0 {
		return all[i], true
	}
	metric, statistic, _ := strings.Cut(name, ".")
	if slices.Contains(latencyMetrics, metric) && isStatistic(statistic) {
		return Quantity{name, Seconds, Lower}, true
	}
	return Quantity{name, Count, Neither}, false
}

// Title is what the quantity is called: by its name, or by the statistic and the metric
// of a latency.
func (q Quantity) Title() plan.Message {
	metric, statistic, _ := strings.Cut(q.Name, ".")
	p, percentile := strings.CutPrefix(statistic, "p")
	switch {
	case !Known(q.Name):
		return plan.Text(q.Name)
	case !slices.Contains(latencyMetrics, metric):
		return plan.Say(plan.Code("figure." + q.Name))
	case percentile:
		return plan.Say("statistic.percentile", "p", p, "metric", MetricTitle(metric))
	}
	return plan.Say(plan.Code("statistic."+statistic), "metric", MetricTitle(metric))
}

// MetricTitle is what the metric of a figure is called: a latency, or a figure without statistics.
func MetricTitle(name string) plan.Message {
	if m := metric(name); slices.Contains(latencyMetrics, m) {
		return plan.Say(plan.Code("latency." + m))
	}
	return QuantityOf(name).Title()
}

// Titles are those of several quantities.
func Titles(all []Quantity) []plan.Message {
	titles := make([]plan.Message, len(all))
	for i, q := range all {
		titles[i] = q.Title()
	}
	return titles
}

// Quantities are those that are not statistics of a latency, in the order of
// reports.
func Quantities() []Quantity {
	return []Quantity{
		{"requests.ok", Count, Neither},
		{"requests.failed", Count, Lower},
		{"duration", Seconds, Lower},
		{"tokens.input", TokenCount, Neither},
		{"tokens.input_text", TokenCount, Neither},
		{"tokens.input_vision", TokenCount, Neither},
		{"tokens.output", TokenCount, Neither},
		{"tokens.output_retokenized", TokenCount, Neither},
		{"throughput.requests", PerSecond, Higher},
		{"goodput", PerSecond, Higher},
		{"slo.attainment", Count, Higher},
		{"throughput.inputs", PerSecond, Higher},
		{"throughput.input", TokensPerSecond, Higher},
		{"throughput.output", TokensPerSecond, Higher},
		{"throughput.total", TokensPerSecond, Higher},
		{"peak.output", TokensPerSecond, Higher},
		{"peak.concurrency", Count, Neither},
		{"concurrency", Count, Neither},
		{"accept_length", Count, Higher},
		{"spec_decode.acceptance_rate", Count, Higher},
		{"diffusion.throughput", TokensPerSecond, Higher},
		{"diffusion.committed_per_step", Count, Higher},
		{"diffusion.steps_per_canvas", Count, Lower},
		{"cache.hit_rate", Count, Higher},
		{"rtfx", Count, Higher},
		{"kv_use.max", Count, Neither},
		{"waiting.max", Count, Neither},
		{"preemptions", Count, Lower},
		{"device.utilization", Count, Neither},
		{"device.power", Watts, Neither},
		{"device.temperature", Celsius, Neither},
		{"energy", Joules, Neither},
		{"energy.per_token", Joules, Lower},
		{"energy.net_per_token", Joules, Lower},
		{"energy.per_request", Joules, Lower},
	}
}

// latencyMetrics have statistics. ICL is AIPerf's name for the gaps, since its ITL is a
// mean.
var latencyMetrics = []string{"ttft", "tpot", "itl", "icl", "e2el", "queue", "e2el_queue", "probe"}

// isStatistic: mean, median, std, min, max, or pN.
func isStatistic(s string) bool {
	if slices.Contains([]string{"mean", "median", "std", "min", "max"}, s) {
		return true
	}
	p, ok := strings.CutPrefix(s, "p")
	v, err := strconv.ParseFloat(p, 64)
	return ok && err == nil && v >= 0 && v <= 100
}
