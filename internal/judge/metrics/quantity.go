package metrics

import (
	"slices"
	"strconv"
	"strings"
)

// A Quantity is what a figure is of, whatever tool it comes from. Its name is
// METRIC.STATISTIC.
type Quantity struct {
	Name   string    `json:"name"`
	Title  string    `json:"title"` // for people: "mean TTFT"
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

// latencyTitles are the metrics that have statistics, in the order of reports.
var latencyTitles = []struct{ metric, title string }{
	{"ttft", "TTFT"},
	{"tpot", "TPOT"},
	{"itl", "ITL"},
	{"icl", "ICL"}, // AIPerf's name for the gaps, since its ITL is a mean
	{"e2el", "E2EL"},
	{"queue", "client queue time"},
	{"e2el_queue", "E2EL with client queue"},
	{"probe", "probe E2EL"},
}

// Quantities are those that are not statistics of a latency, in the order of
// reports.
func Quantities() []Quantity {
	return []Quantity{
		{"requests.ok", "successful requests", Count, Neither},
		{"requests.failed", "failed requests", Count, Lower},
		{"duration", "benchmark duration", Seconds, Lower},
		{"tokens.input", "input tokens", TokenCount, Neither},
		{"tokens.input_text", "input tokens of text", TokenCount, Neither},
		{"tokens.input_vision", "input tokens of images", TokenCount, Neither},
		{"tokens.output", "output tokens", TokenCount, Neither},
		{"tokens.output_retokenized", "output tokens, counted again", TokenCount, Neither},
		{"throughput.requests", "request throughput", PerSecond, Higher},
		{"goodput", "request goodput", PerSecond, Higher},
		{"slo.attainment", "share of requests within all objectives", Count, Higher},
		{"throughput.inputs", "throughput of inputs to pool", PerSecond, Higher},
		{"throughput.input", "input throughput", TokensPerSecond, Higher},
		{"throughput.output", "output throughput", TokensPerSecond, Higher},
		{"throughput.total", "total throughput", TokensPerSecond, Higher},
		{"peak.output", "peak output throughput", TokensPerSecond, Higher},
		{"peak.concurrency", "peak concurrency", Count, Neither},
		{"concurrency", "mean concurrency", Count, Neither},
		{"accept_length", "accept length", Count, Higher},
		{"spec_decode.acceptance_rate", "share of draft tokens accepted", Count, Higher},
		{"diffusion.throughput", "committed tokens", TokensPerSecond, Higher},
		{"diffusion.committed_per_step", "tokens committed a denoising step", Count, Higher},
		{"diffusion.steps_per_canvas", "denoising steps a canvas", Count, Lower},
		{"cache.hit_rate", "share of prompt tokens from the cache", Count, Higher},
		{"rtfx", "inverse real-time factor", Count, Higher},
	}
}

// QuantityOf is what a figure of that name is of. A name that is not known is a
// number of no unit that should go neither way.
func QuantityOf(name string) Quantity {
	all := Quantities()
	if i := slices.IndexFunc(all, func(q Quantity) bool { return q.Name == name }); i >= 0 {
		return all[i]
	}
	metric, statistic, _ := strings.Cut(name, ".")
	for _, l := range latencyTitles {
		if l.metric == metric && isStatistic(statistic) {
			return Quantity{name, statisticTitle(statistic) + " " + l.title, Seconds, Lower}
		}
	}
	return Quantity{name, name, Count, Neither}
}

// Known reports whether a figure can have that name.
func Known(name string) bool { return QuantityOf(name).Title != name }

// isStatistic: mean, median, std, min, max, or pN.
func isStatistic(s string) bool {
	if slices.Contains([]string{"mean", "median", "std", "min", "max"}, s) {
		return true
	}
	p, ok := strings.CutPrefix(s, "p")
	v, err := strconv.ParseFloat(p, 64)
	return ok && err == nil && v >= 0 && v <= 100
}

func statisticTitle(s string) string {
	if p, ok := strings.CutPrefix(s, "p"); ok {
		return "P" + p
	}
	return s
}
