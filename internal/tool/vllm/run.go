package vllm

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// stored is what a run keeps of the command line, enough to write the report
// and the result file again. It holds no header values.
type stored struct {
	Args        []string `json:"args"`
	IDPrefix    string   `json:"request_id_prefix"`
	ModelID     string   `json:"model_id"`
	TokenizerID string   `json:"tokenizer_id"`
}

// Mask returns args with the values of headers hidden. The name of a flag may be
// cut short, and what follows up to the next flag belongs to it.
func (a *Args) Mask(args []string) []string {
	masked := slices.Clone(args)
	header := false
	for i, arg := range masked {
		flag, value, joined := strings.Cut(arg, "=")
		if strings.HasPrefix(flag, "--") {
			header = strings.HasPrefix("--header", flag)
			if header && joined {
				masked[i] = flag + "=" + argparse.MaskPair(value)
			}
		} else if header {
			masked[i] = argparse.MaskPair(arg)
		}
	}
	return masked
}

// Foreign is what a run of args keeps for its reports.
func (a *Args) Foreign(args []string, modelID, tokenizerID string) (json.RawMessage, error) {
	return json.Marshal(stored{a.Mask(args), a.RequestIDPrefix, modelID, tokenizerID})
}

// NewReport computes the report of a run. The command line is the run's own
// if it had one, else the plain one that its plan amounts to; a version other
// than "" replaces that of the command line.
func NewReport(t *trace.Trace, version string) (*Report, error) {
	kept := stored{ModelID: t.Run.Plan.Model, TokenizerID: t.Run.Plan.Model}
	if t.Run.Plan.Dialect == "vllm" {
		if err := json.Unmarshal(t.Run.Plan.Foreign, &kept); err != nil {
			return nil, fmt.Errorf("read the command line of run %s: %w", t.Run.ID, err)
		}
	}
	a, err := Parse(kept.Args, kept.IDPrefix)
	if err != nil {
		return nil, fmt.Errorf("read the command line of run %s: %w", t.Run.ID, err)
	}
	if t.Run.Plan.Dialect != "vllm" {
		a.adopt(t.Run.Plan)
	}
	if version != "" {
		a.DialectVersion = version
	}
	return a.report(t, kept), nil
}

// adopt takes over what a plan of another dialect says.
func (a *Args) adopt(p trace.Plan) {
	a.NumPrompts = p.Requests
	a.Seed = int(p.Seed)
	if p.Rate > 0 {
		a.RequestRate = p.Rate
	}
	if p.Concurrency > 0 {
		a.MaxConcurrency = &p.Concurrency
	}
	if len(p.Percentiles) > 0 {
		a.MetricPercentiles = joinFloats(p.Percentiles)
	}
	a.Backend = backendOf(p.Protocol)
	for _, o := range p.Objectives {
		if o.Metric != "itl" {
			a.Goodput = append(a.Goodput, o.Metric+":"+python.Float(o.Limit.Seconds()*1000))
		}
	}
}

func joinFloats(values []float64) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = python.Float(v)
	}
	return strings.Join(texts, ",")
}

func (a *Args) report(t *trace.Trace, kept stored) *Report {
	r := &Report{
		Args:        a,
		Figures:     NewFigures(t, a.figures()),
		SpecDecode:  metrics.NewSpecDecode(t.Run.ServerCounters),
		ModelID:     kept.ModelID,
		TokenizerID: kept.TokenizerID,
		Date:        t.Run.Started.Add(time.Duration(max(t.Run.End, 0))).Local().Format("20060102-150405"),
	}
	r.Diffusion = metrics.NewDiffusion(t.Run.ServerCounters, r.Figures.Duration)
	if t.Run.Origin != nil {
		r.adopt(t.Run.Origin)
	}
	due := make([]trace.Instant, len(t.Records))
	for _, rec := range t.Records {
		if rec.Index < len(due) {
			due[rec.Index] = max(rec.Due, 0)
		}
	}
	r.RPSChanges = a.RPSChanges(len(due), t.Run.Started, func(i int) time.Time {
		return t.Run.Started.Add(time.Duration(due[i]))
	})
	return r
}

// adopt takes over what an imported result reports and does not have the records
// of: the goodput of limits that it does not name, and probes.
func (r *Report) adopt(o *trace.Origin) {
	value := func(name string) float64 {
		f, _ := o.Figure(name)
		return f.Value
	}
	if _, ok := o.Figure("goodput"); ok && len(r.Args.Goodput) == 0 {
		r.Figures.RequestGoodput, r.goodput = value("goodput"), true
	}
	if n := int(value("probe.requests.ok")); n > 0 && r.Figures.Probe == nil {
		r.Figures.Probe = &Probe{
			Completed: n, Failed: int(value("probe.requests.failed")),
			Median: 1000 * value("probe.median"), P99: 1000 * value("probe.p99"), Max: 1000 * value("probe.max"),
		}
	}
}

// Traffic are the lines that tell the load, ahead of the run.
func (a *Args) Traffic() string {
	if a.OwnTimes() {
		return "Self timing is set: requests are sent at the times of the trace\n"
	}
	var b strings.Builder
	if a.RampUpStrategy != nil {
		fmt.Fprintf(&b, "Traffic ramp-up strategy: %s (%d to %d RPS)\n", *a.RampUpStrategy, *a.RampUpStartRPS, *a.RampUpEndRPS)
	} else {
		fmt.Fprintf(&b, "Traffic request rate: %s\n", python.Float(a.RequestRate))
	}
	process := "Gamma distribution"
	if a.Burstiness == 1 {
		process = "Poisson process"
	}
	fmt.Fprintf(&b, "Burstiness factor: %s (%s)\n", python.Float(a.Burstiness), process)
	limit := "None"
	if a.MaxConcurrency != nil {
		limit = strconv.Itoa(*a.MaxConcurrency)
	}
	fmt.Fprintf(&b, "Maximum request concurrency: %s\n", limit)
	return b.String()
}

// ConstantRate is the finite request rate, else 0.
func (a *Args) ConstantRate() float64 {
	if math.IsInf(a.RequestRate, 1) || a.OwnTimes() {
		return 0
	}
	return a.RequestRate
}

// Describe says in words what n requests are sent, and when.
func (a *Args) Describe(n int) (what, when string) {
	what = a.describe(n)
	process := fmt.Sprintf("gamma (burstiness %g)", a.Burstiness)
	switch {
	case a.Burstiness == 1:
		process = "Poisson"
	case math.IsInf(a.Burstiness, 1):
		process = "constant"
	}
	switch {
	case a.OwnTimes():
		when = "at the times of the trace"
	case a.RampUpStrategy != nil:
		when = fmt.Sprintf("%s, %s:%d..%d req/s by position", process, *a.RampUpStrategy, *a.RampUpStartRPS, *a.RampUpEndRPS)
	case math.IsInf(a.RequestRate, 1):
		when = "all at once"
	default:
		when = fmt.Sprintf("%s %g req/s, stretched to end at %g s", process, a.RequestRate, float64(n)/a.RequestRate)
	}
	return what, when
}

// describe says what n requests are.
func (a *Args) describe(n int) string {
	switch r, _ := a.Random(); { // checked
	case a.is("random") && a.Pooling():
		return fmt.Sprintf("random %d tokens, %d requests", r.Input, n)
	case a.is("random", "random-mm"):
		return fmt.Sprintf("%s %d→%d tokens, %d requests", a.DatasetName, r.Input, r.Output, n)
	case a.is("random-rerank"):
		return fmt.Sprintf("%s %d tokens, %d requests", a.DatasetName, r.Input, n)
	case a.is("prefix_repetition"):
		p := a.PrefixRepetition()
		return fmt.Sprintf("%s %d prefixes, %d+%d→%d tokens, %d requests", a.DatasetName, p.Prefixes, p.Prefix, p.Suffix, p.Output, n)
	case a.DatasetPath == nil:
		return fmt.Sprintf("%s %s, %d requests", a.DatasetName, *a.HFName, n)
	}
	return fmt.Sprintf("%s %s, %d requests", a.DatasetName, *a.DatasetPath, n)
}
