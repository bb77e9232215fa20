// Package figure is the registry of figures: each that a run can have is listed once, with its unit, its direction,
// its rank and how it is shown.
//
// A figure is named METRIC.STATISTIC, whatever tool reports it. The names without statistics are constants, in the
// order of reports; those of a latency are made by its Metric:
//
//	figure.OutputThroughput   throughput.output
//	figure.TTFT.P(99)         ttft.p99
//	figure.Of(name)           its unit, direction, rank and scale
//
// A new figure is a constant and a row of All here, its title in the catalogues of show/words, and the place where it
// is computed. Nothing else needs to know it to store, compare or export it.
package figure

import (
	"slices"
	"strings"
	"sync"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Figure describes a number of a run.
type Figure struct {
	Name   string    `json:"name"`
	Unit   Unit      `json:"unit"`
	Better Direction `json:"better"`
}

// A Unit is the unit of a value in memory.
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
	Share           Unit = "share" // from 0 to 1
	Count           Unit = ""
)

// IsCount reports whether values of the unit are integers, or shares of such.
func (u Unit) IsCount() bool { return u == Count || u == TokenCount || u == Share }

// A Direction says which way a figure should go.
type Direction string

// The directions.
const (
	Lower   Direction = "lower"
	Higher  Direction = "higher"
	Neither Direction = "neither" // it describes the load, or neither way is better
)

// A Scale is how values are shown: multiplied by Factor, in Unit.
type Scale struct {
	Unit   string
	Factor float64
}

// The figures that are not statistics of a latency.
const (
	RequestsOK          = "requests.ok"
	RequestsFailed      = "requests.failed"
	Duration            = "duration"
	InputTokens         = "tokens.input"
	InputTextTokens     = "tokens.input_text"
	InputVisionTokens   = "tokens.input_vision"
	OutputTokens        = "tokens.output"
	RetokenizedTokens   = "tokens.output_retokenized"
	RequestThroughput   = "throughput.requests"
	Goodput             = "goodput"
	SLOAttainment       = "slo.attainment"
	TextThroughput      = "throughput.inputs" // texts that are embedded or scored
	InputThroughput     = "throughput.input"
	OutputThroughput    = "throughput.output"
	TotalThroughput     = "throughput.total"
	PeakOutput          = "peak.output"
	PeakConcurrency     = "peak.concurrency"
	Concurrency         = "concurrency"
	AnswersDefects      = "answers.defects" // shares of the answers that were inspected
	AnswersEmpty        = "answers.empty"
	AnswersLoop         = "answers.loop"
	AnswersGarbage      = "answers.garbage"
	AnswersLeaked       = "answers.leaked"
	AnswersCut          = "answers.cut"
	Accuracy            = "accuracy" // shares of the answers that were graded
	GradedCut           = "graded.cut"
	GradedUnparsed      = "graded.unparsed"
	AcceptLength        = "accept_length"
	AcceptanceRate      = "spec_decode.acceptance_rate"
	DiffusionThroughput = "diffusion.throughput"
	DiffusionPerStep    = "diffusion.committed_per_step"
	DiffusionSteps      = "diffusion.steps_per_canvas"
	CacheHitRate        = "cache.hit_rate"
	RTFx                = "rtfx"
	KVUse               = "kv_use.max"
	Waiting             = "waiting.max"
	Preemptions         = "preemptions"
	DeviceUtilization   = "device.utilization"
	DevicePower         = "device.power"
	DeviceTemperature   = "device.temperature"
	Energy              = "energy"
	EnergyPerToken      = "energy.per_token"
	NetEnergyPerToken   = "energy.net_per_token"
	EnergyPerRequest    = "energy.per_request"
)

// All are these figures, in the order of reports.
var All = []Figure{
	{Name: RequestsOK, Unit: Count, Better: Neither},
	{Name: RequestsFailed, Unit: Count, Better: Lower},
	{Name: Duration, Unit: Seconds, Better: Lower},
	{Name: InputTokens, Unit: TokenCount, Better: Neither},
	{Name: InputTextTokens, Unit: TokenCount, Better: Neither},
	{Name: InputVisionTokens, Unit: TokenCount, Better: Neither},
	{Name: OutputTokens, Unit: TokenCount, Better: Neither},
	{Name: RetokenizedTokens, Unit: TokenCount, Better: Neither},
	{Name: RequestThroughput, Unit: PerSecond, Better: Higher},
	{Name: Goodput, Unit: PerSecond, Better: Higher},
	{Name: SLOAttainment, Unit: Share, Better: Higher},
	{Name: TextThroughput, Unit: PerSecond, Better: Higher},
	{Name: InputThroughput, Unit: TokensPerSecond, Better: Higher},
	{Name: OutputThroughput, Unit: TokensPerSecond, Better: Higher},
	{Name: TotalThroughput, Unit: TokensPerSecond, Better: Higher},
	{Name: PeakOutput, Unit: TokensPerSecond, Better: Higher},
	{Name: PeakConcurrency, Unit: Count, Better: Neither},
	{Name: Concurrency, Unit: Count, Better: Neither},
	{Name: AnswersDefects, Unit: Share, Better: Neither},
	{Name: AnswersEmpty, Unit: Share, Better: Neither},
	{Name: AnswersLoop, Unit: Share, Better: Neither},
	{Name: AnswersGarbage, Unit: Share, Better: Neither},
	{Name: AnswersLeaked, Unit: Share, Better: Neither},
	{Name: AnswersCut, Unit: Share, Better: Neither},
	{Name: Accuracy, Unit: Share, Better: Neither},
	{Name: GradedCut, Unit: Share, Better: Neither},
	{Name: GradedUnparsed, Unit: Share, Better: Neither},
	{Name: AcceptLength, Unit: Count, Better: Higher},
	{Name: AcceptanceRate, Unit: Share, Better: Higher},
	{Name: DiffusionThroughput, Unit: TokensPerSecond, Better: Higher},
	{Name: DiffusionPerStep, Unit: Count, Better: Higher},
	{Name: DiffusionSteps, Unit: Count, Better: Lower},
	{Name: CacheHitRate, Unit: Share, Better: Higher},
	{Name: RTFx, Unit: Count, Better: Higher},
	{Name: KVUse, Unit: Share, Better: Neither},
	{Name: Waiting, Unit: Count, Better: Neither},
	{Name: Preemptions, Unit: Count, Better: Lower},
	{Name: DeviceUtilization, Unit: Share, Better: Neither},
	{Name: DevicePower, Unit: Watts, Better: Neither},
	{Name: DeviceTemperature, Unit: Celsius, Better: Neither},
	{Name: Energy, Unit: Joules, Better: Neither},
	{Name: EnergyPerToken, Unit: Joules, Better: Lower},
	{Name: NetEnergyPerToken, Unit: Joules, Better: Lower},
	{Name: EnergyPerRequest, Unit: Joules, Better: Lower},
}

// ranked are the figures that people look at first, in that order. Much of what else differs repeats them.
var ranked = []string{
	RequestsFailed, SLOAttainment, Goodput, OutputThroughput, TTFT.Mean(), TPOT.Mean(), ITL.Mean(), E2EL.Mean(),
	TTFT.P(99), TPOT.P(99), ITL.P(99), ICL.P(99), E2EL.P(99),
	TTFT.Median(), TPOT.Median(), ITL.Median(), E2EL.Median(), RequestThroughput,
}

var byName = sync.OnceValue(func() map[string]Figure {
	all := map[string]Figure{}
	for _, f := range All {
		all[f.Name] = f
	}
	return all
})

// Lookup describes the figure of that name. An unknown one is a number without a unit or a direction.
func Lookup(name string) Figure {
	f, _ := find(name)
	return f
}

// Known reports whether a figure can have that name.
func Known(name string) bool {
	_, known := find(name)
	return known
}

// Like is a hint of a few figures whose names begin with a text, such as "; there are ttft.mean, ttft.p99"; empty:
// there are none.
func Like(name string) string {
	var names []string
	for _, f := range All {
		if strings.HasPrefix(f.Name, name) {
			names = append(names, f.Name)
		}
	}
	for _, statistic := range []string{"mean", "median", "p90", "p99"} {
		if own := name + "." + statistic; Known(own) && !slices.Contains(names, own) {
			names = append(names, own)
		}
	}
	if names == nil || name == "" {
		return ""
	}
	return "; there are " + strings.Join(names[:min(len(names), 5)], ", ")
}

func find(name string) (f Figure, known bool) {
	if f, known = byName()[name]; known {
		return f, true
	}
	m, statistic := Split(name)
	if m.IsLatency() && IsStatistic(statistic) {
		return Figure{Name: name, Unit: Seconds, Better: Lower}, true
	}
	switch { // of a table that does not say more
	case name == string(Throughput):
		return Figure{Name: name, Unit: TokensPerSecond, Better: Higher}, false
	case m.IsLatency() && statistic == "":
		return Figure{Name: name, Unit: Seconds, Better: Lower}, false
	}
	return Figure{Name: name, Unit: Count, Better: Neither}, false
}

// Rank is the figure's place among those that people look at first, from 1 on; 0 of others.
func (f Figure) Rank() int { return slices.Index(ranked, f.Name) + 1 }

// Show is the scale on which the figure is shown.
func (f Figure) Show() Scale {
	switch {
	case f.Unit == Share:
		return Scale{"%", 100}
	case f.Unit == Seconds && f.Name != Duration:
		return Scale{"ms", 1000}
	}
	return Scale{string(f.Unit), 1}
}

// Title names the figure: by itself, or by the statistic and the metric of a latency.
func (f Figure) Title() plan.Message {
	m, statistic := Split(f.Name)
	p, percentile := strings.CutPrefix(statistic, "p")
	switch {
	case f.Name == string(Throughput):
		return plan.Msg("figure.throughput")
	case m.IsLatency() && statistic == "":
		return MetricTitle(f.Name)
	case !Known(f.Name):
		return plan.Text(f.Name)
	case !m.IsLatency():
		return plan.Msg(plan.Code("figure." + f.Name))
	case percentile:
		return plan.Msg("statistic.percentile", "p", p, "metric", MetricTitle(f.Name))
	}
	return plan.Msg(plan.Code("statistic."+statistic), "metric", MetricTitle(f.Name))
}

// Titles are those of several figures.
func Titles(all []Figure) []plan.Message {
	titles := make([]plan.Message, len(all))
	for i, f := range all {
		titles[i] = f.Title()
	}
	return titles
}
