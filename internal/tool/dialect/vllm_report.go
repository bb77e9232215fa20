package dialect

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
)

// A VLLMReport is everything the tool prints or saves of a run.
type VLLMReport struct {
	Args        *VLLMArgs
	Figures     metrics.VLLM
	SpecDecode  *SpecDecode // nil unless the server drafted tokens
	Diffusion   *Diffusion  // nil unless the server is a diffusion model
	ModelID     string
	TokenizerID string
	Date        string // of its end, local time, 20060102-150405
	RPSChanges  []RPSChange

	goodput bool // known, though the limits are not
}

// version is the form of the report.
func (r *VLLMReport) version() metrics.VLLMVersion { return metrics.VLLMVersion(r.Args.DialectVersion) }

// hasGoodput reports whether there are limits, or were when an imported run was
// made.
func (r *VLLMReport) hasGoodput() bool { return len(r.Args.Goodput) > 0 || r.goodput }

// counted reports whether token figures are printed.
func (r *VLLMReport) counted() bool {
	return !r.Args.SkipTokenizerInit || !r.version().Since(metrics.VLLM2608)
}

// WriteErrors writes the first ten failures, as the tool does ahead of its
// table.
func (r *VLLMReport) WriteErrors(w io.Writer) error {
	if r.Figures.Failed == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("Failed requests (the first 10):\n")
	n := 0
	for _, q := range r.Figures.Requests {
		if !q.OK && n < 10 {
			fmt.Fprintf(&b, "Error %d: %s\n", n, q.ErrorText)
			n++
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteTable writes the "Serving Benchmark Result", byte for byte.
func (r *VLLMReport) WriteTable(w io.Writer) error {
	var e entries
	r.requests(&e)
	r.throughput(&e)
	r.probes(&e)
	for _, s := range r.printed() {
		e.section(s.metric, s.values)
	}
	r.decoding(&e)
	return vllmLayout(r.version()).write(w, e)
}

func (r *VLLMReport) requests(e *entries) {
	v := r.Figures
	e.add("requests.ok", float64(v.Completed))
	if r.version().Since(metrics.VLLM2512) {
		e.add("requests.failed", float64(v.Failed))
	}
	if r.Args.MaxConcurrency != nil {
		e.say("Maximum request concurrency:", itoa(*r.Args.MaxConcurrency))
	}
	if !math.IsInf(r.Args.RequestRate, 1) {
		e.say("Request rate configured (RPS):", strconv.FormatFloat(r.Args.RequestRate, 'f', 2, 64))
	}
	e.add("duration", v.Duration)
	e.add("tokens.input", float64(v.TotalInput))
	if r.counted() && !v.Pooling {
		e.add("tokens.output", float64(v.TotalOutput))
	}
}

func (r *VLLMReport) throughput(e *entries) {
	v := r.Figures
	e.add("throughput.requests", v.RequestThroughput)
	if v.Pooling {
		e.add("throughput.inputs", v.InputThroughput)
		if r.counted() {
			e.add("throughput.total", v.TotalTokenThroughput)
		}
		return
	}
	if r.hasGoodput() {
		e.add("goodput", v.RequestGoodput)
	}
	if r.counted() {
		e.add("throughput.output", v.OutputThroughput)
		e.add("throughput.total", v.TotalTokenThroughput)
	}
	if !r.version().Since(metrics.VLLM2512) {
		return
	}
	if r.counted() {
		e.add("peak.output", v.MaxOutputPerSecond)
	}
	e.add("peak.concurrency", float64(v.MaxConcurrent))
	if v.RTFx > 0 && r.version().Since(metrics.VLLM2608) {
		e.add("rtfx", v.RTFx)
	}
}

func (r *VLLMReport) probes(e *entries) {
	p := r.Figures.Probe
	if p == nil || !r.version().Since(metrics.VLLM2608) {
		return
	}
	e.add("probe.requests.ok", float64(p.Completed))
	e.add("probe.requests.failed", float64(p.Failed))
	e.add("probe.median", p.Median)
	e.add("probe.p99", p.P99)
	e.add("probe.max", p.Max)
}

// A vllmMetric is a metric that can be selected by its key.
type vllmMetric struct {
	key    string // on the command line
	metric string // of the figures
	values metrics.VLLMSection
}

// printed are the metrics that are both selected and present.
func (r *VLLMReport) printed() []vllmMetric {
	v := r.Figures
	var all []vllmMetric
	if r.counted() && !v.Pooling {
		all = append(all, vllmMetric{"ttft", "ttft", v.TTFT}, vllmMetric{"tpot", "tpot", v.TPOT}, vllmMetric{"itl", "itl", v.ITL})
	}
	all = append(all, vllmMetric{"e2el", "e2el", v.E2EL})
	if r.version().Since(metrics.VLLM2608) && r.Args.MaxConcurrency != nil {
		all = append(all, vllmMetric{"client_queue_time", "queue", v.QueueTime})
		if !math.IsInf(r.Args.RequestRate, 1) {
			all = append(all, vllmMetric{"e2el_including_client_queue", "e2el_queue", v.E2ELWithQueue})
		}
	}
	selected := r.Args.sections()
	return slices.DeleteFunc(all, func(m vllmMetric) bool { return !slices.Contains(selected, m.key) })
}

// section adds the statistics of a metric in milliseconds.
func (e *entries) section(metric string, s metrics.VLLMSection) {
	e.add(metric+".mean", s.Mean)
	e.add(metric+".median", s.Median)
	for _, p := range s.Percentiles {
		e.add(metric+".p"+percentileName(p.P), p.Value)
	}
}

func (r *VLLMReport) decoding(e *entries) {
	switch {
	case !r.version().Since(metrics.VLLM2608):
	case r.Diffusion != nil:
		d := r.Diffusion
		e.add("diffusion.throughput", d.CommittedThroughput)
		e.add("diffusion.steps_per_canvas", d.StepsPerCanvas)
		e.add("diffusion.committed_per_step", d.CommittedPerStep)
		e.add("diffusion.committed_tokens", float64(d.CommittedTokens))
		e.add("diffusion.denoising_steps", math.Trunc(d.DenoisingSteps))
		e.add("diffusion.canvas_positions", float64(d.CanvasPositions))
	case r.SpecDecode != nil:
		s := r.SpecDecode
		e.add("spec_decode.acceptance_rate", s.AcceptanceRate)
		e.add("accept_length", s.AcceptanceLength)
		e.add("spec_decode.drafts", float64(s.Drafts))
		e.add("spec_decode.draft_tokens", float64(s.DraftTokens))
		e.add("spec_decode.accepted_tokens", float64(s.AcceptedTokens))
		for i, rate := range s.PerPosition {
			e.add("spec_decode.position."+itoa(i), 100*rate)
		}
	}
}
