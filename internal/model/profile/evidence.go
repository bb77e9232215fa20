package profile

import (
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/model/engine"
)

// DefaultDialect is the tool that most evidence was measured with.
const DefaultDialect = "vllm"

// Evidence is a measured run of the deployment that a profile describes: its load,
// as far as it is known, and its figures. The profile can be checked against it.
type Evidence struct {
	Name string `yaml:"name"` // of the run, unique in the profile
	Log  string `yaml:"log"`  // the note and the heading

	// Dialect is the tool that defines the figures, DefaultDialect if empty.
	Dialect string `yaml:"dialect"`
	// DialectVersion is the form of that tool, such as 2025-12; "" is its newest.
	DialectVersion string `yaml:"dialect_version"`

	Requests int `yaml:"requests"`
	// Rate is that of Poisson arrivals in requests per second, with gaps scaled so
	// that the last one is at Requests/Rate; 0 sends all at once.
	Rate float64 `yaml:"rate"`
	// Concurrency is the maximum number of requests in flight; 0 means no limit.
	// Without a Rate it makes a closed loop.
	Concurrency int `yaml:"concurrency"`

	// Chat means that the requests were chats: their streams begin with a role
	// chunk, which some tools count as a token.
	Chat bool `yaml:"chat"`

	// Warm means that the server had answered before, so the run did not include
	// its cold start.
	Warm bool `yaml:"warm"`

	Workload Workload `yaml:"workload"`
	Fitted   bool     `yaml:"fitted"` // the profile's numbers were fitted to this run
	Measured Measured `yaml:"measured"`
}

// A Workload describes the requests of a run by its totals and plausible
// distributions. Every prompt has a text, and one image if Image is set.
type Workload struct {
	InputTokens  int     `yaml:"input_tokens"`  // text tokens of all prompts together, exact
	OutputTokens int     `yaml:"output_tokens"` // of all answers together, exact
	Text         Lengths `yaml:"text"`          // the distribution of InputTokens over the prompts
	Output       Lengths `yaml:"output"`        // the distribution of OutputTokens over the answers
	Image        *Images `yaml:"image"`
}

// Lengths describe the distribution of a total over the requests. Every length is
// at least 1, and the lengths add up to the total: a law gives the shape, the total
// the scale.
//
//	fixed      all have the same length
//	lognormal  exp of a normal of standard deviation Sigma, none above Max
//	capped     a share AtCap of them is Max long; the others are Max·U^a, U uniform
//	           in [0,1) and a chosen to match the total
type Lengths struct {
	Law   string  `yaml:"law"`    // fixed, lognormal or capped
	Sigma float64 `yaml:"sigma"`  // of lognormal
	Max   int     `yaml:"max"`    // of lognormal, 0 for no limit, and of capped
	AtCap float64 `yaml:"at_cap"` // of capped
}

// The laws of Lengths.
const (
	Fixed     = "fixed"
	Lognormal = "lognormal"
	Capped    = "capped"
)

// Images are in tokens of the model: lognormal, except for a few giants, such as
// images in full resolution.
type Images struct {
	Mean  float64 `yaml:"mean"`
	Sigma float64 `yaml:"sigma"` // standard deviation of the logarithm; 0 makes all equal
	// GiantShare of the requests, randomly rounded to an integer, have an image of GiantTokens.
	GiantShare  float64 `yaml:"giant_share"`
	GiantTokens int     `yaml:"giant_tokens"`
}

// Measured holds the figures of a run. 0 means not measured.
type Measured struct {
	Duration   engine.Seconds `yaml:"duration"`
	Throughput Throughput     `yaml:"throughput"`
	Peak       Peak           `yaml:"peak"`
	TTFT       Times          `yaml:"ttft"`
	TPOT       Times          `yaml:"tpot"`
	ITL        Times          `yaml:"itl"`
	E2EL       Times          `yaml:"e2el"`
}

// Throughput is that of the run, per second.
type Throughput struct {
	Requests float64 `yaml:"requests"`
	Output   float64 `yaml:"output"` // tokens
}

// Peak is the most that was seen at any time.
type Peak struct {
	Output      float64 `yaml:"output"` // tokens per second
	Concurrency float64 `yaml:"concurrency"`
}

// Times are the statistics of a latency.
type Times struct {
	Mean   engine.Seconds `yaml:"mean"`
	Median engine.Seconds `yaml:"median"`
	P95    engine.Seconds `yaml:"p95"`
	P99    engine.Seconds `yaml:"p99"`
}

// A MeasuredFigure is one number of a run, under the name that it has everywhere:
// duration, throughput.output, ttft.p99. Times are in seconds.
type MeasuredFigure struct {
	Name  string
	Value float64
}

// Figures returns the measured figures, in report order.
func (m Measured) Figures() []MeasuredFigure {
	var out []MeasuredFigure
	for _, f := range m.all() {
		if f.Value != 0 {
			out = append(out, f)
		}
	}
	return out
}

func (m Measured) all() []MeasuredFigure {
	out := []MeasuredFigure{
		{figure.Duration, float64(m.Duration)},
		{figure.RequestThroughput, m.Throughput.Requests},
		{figure.OutputThroughput, m.Throughput.Output},
		{figure.PeakOutput, m.Peak.Output},
		{figure.PeakConcurrency, m.Peak.Concurrency},
	}
	for _, l := range []struct {
		figure.Metric
		Times
	}{{figure.TTFT, m.TTFT}, {figure.TPOT, m.TPOT}, {figure.ITL, m.ITL}, {figure.E2EL, m.E2EL}} {
		out = append(out,
			MeasuredFigure{l.Metric.Mean(), float64(l.Times.Mean)},
			MeasuredFigure{l.Metric.Median(), float64(l.Times.Median)},
			MeasuredFigure{l.P(95), float64(l.P95)},
			MeasuredFigure{l.P(99), float64(l.P99)},
		)
	}
	return out
}
