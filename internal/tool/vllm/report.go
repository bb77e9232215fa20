package vllm

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A Report is everything the tool prints or saves of a run.
type Report struct {
	requestedRun
	Figures    Figures
	SpecDecode *metrics.SpecDecode // nil unless the server drafted tokens
	Diffusion  *metrics.Diffusion  // nil unless the server is a diffusion model
	Date       string              // of its end, local time, 20060102-150405
	RPSChanges []RPSChange

	goodput bool // known, though the limits are not
	flight  int  // requests in flight at once, at most
}

// NewReport computes the report of a run; a version other than "" replaces that of the
// run.
func NewReport(t *trace.Trace, version string) (*Report, error) {
	q, err := requestedRunOf(&t.Run)
	if err != nil {
		return nil, fmt.Errorf("read what was asked for in run %s: %w", t.Run.ID, err)
	}
	if version != "" {
		q.version = Version(version)
	}
	r := &Report{
		requestedRun: q, Figures: NewFigures(t, q.figures()), SpecDecode: metrics.NewSpecDecode(t.Run.ServerCounters),
		flight: metrics.CountConcurrency(t.Records).Peak,
		Date:   t.Run.Started.Add(time.Duration(max(t.Run.End, 0))).Local().Format("20060102-150405"),
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
	r.RPSChanges = q.arrival.changes(len(due), t.Run.Started, func(i int) time.Time {
		return t.Run.Started.Add(time.Duration(due[i]))
	})
	return r, nil
}

// adopt takes over what an imported result reports and does not have the records of: the
// goodput of limits that it does not name, and probes.
func (r *Report) adopt(o *trace.Origin) {
	value := func(name string) float64 {
		f, _ := o.Figure(name)
		return f.Value
	}
	if _, ok := o.Figure(figure.Goodput); ok && len(r.Goodput) == 0 {
		r.Figures.RequestGoodput, r.goodput = value(figure.Goodput), true
	}
	if n := int(value("probe.requests.ok")); n > 0 && r.Figures.Probe == nil {
		r.Figures.Probe = &Probe{
			Completed: n, Failed: int(value("probe.requests.failed")),
			Median: value(figure.Probe.Median()), P99: value(figure.Probe.P(99)), Max: value(figure.Probe.Max()),
		}
	}
}

// reportPeak is where a figure is far from its label, in the words of show/words.
const reportPeak plan.Code = "vllm.report-peak"

// manyTokens is how many a chunk has in the mean where some have several.
const manyTokens = 1.005

// Notes say where a figure is far from what its label promises.
func (r *Report) Notes() []plan.Message {
	f, chunks := r.Figures, 0
	for _, q := range f.Requests {
		if q.OK {
			chunks += 1 + len(q.ITL)
		}
	}
	all := f.Notes("vllm")
	if f.MaxConcurrent > r.flight && r.version.Since(V2512) && !f.Pooling {
		all = append(all, plan.Msg(result.ReportSeconds, "tool", "vllm", "peak", f.MaxConcurrent, "flight", r.flight))
	}
	if f.MaxOutputPerSecond < f.OutputThroughput && f.Completed > 0 && len(f.Requests) > 1 && float64(f.TotalOutput) > manyTokens*float64(chunks) {
		all = append(all, plan.Msg(reportPeak))
	}
	return all
}

// hasGoodput reports whether there are limits, or were when an imported run was
// made.
func (r *Report) hasGoodput() bool { return len(r.Goodput) > 0 || r.goodput }

// counted reports whether token figures are printed.
func (r *Report) counted() bool { return !r.SkipTokenizerInit || !r.version.Since(V2608) }

// WriteErrors writes the first ten failures, as the tool does ahead of its
// table.
func (r *Report) WriteErrors(w io.Writer) error {
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
func (r *Report) WriteTable(w io.Writer) error {
	var e result.Entries
	for _, f := range r.Figures.totals() {
		if r.prints(f) {
			e.Add(f.Name, f.Value)
		}
	}
	if r.concurrency > 0 {
		e.AddText("Maximum request concurrency:", strconv.Itoa(r.concurrency))
	}
	if r.arrival.Rate > 0 {
		e.AddText("Request rate configured (RPS):", strconv.FormatFloat(r.arrival.Rate, 'f', 2, 64))
	}
	r.probes(&e)
	for _, m := range r.printed() {
		m.Rows(&e)
	}
	r.decoding(&e)
	return reportLayout(string(r.version)).Write(w, e)
}

func (r *Report) prints(f trace.ReportedFigure) bool {
	switch f.Name {
	case figure.RequestsFailed, figure.PeakConcurrency:
		return r.version.Since(V2512)
	case figure.OutputTokens, figure.OutputThroughput, figure.TotalThroughput:
		return r.counted()
	case figure.PeakOutput:
		return r.counted() && r.version.Since(V2512)
	case figure.Goodput:
		return r.hasGoodput()
	case figure.RTFx:
		return f.Value > 0 && r.version.Since(V2608)
	}
	return true
}

func (r *Report) probes(e *result.Entries) {
	p := r.Figures.Probe
	if p == nil || !r.version.Since(V2608) {
		return
	}
	e.Add("probe.requests.ok", float64(p.Completed))
	e.Add("probe.requests.failed", float64(p.Failed))
	e.Add(figure.Probe.Median(), p.Median)
	e.Add(figure.Probe.P(99), p.P99)
	e.Add(figure.Probe.Max(), p.Max)
}

// printed are the latencies that are both selected and present.
func (r *Report) printed() []result.MetricLatency {
	all := r.Figures.latencies()
	if !r.counted() {
		all = all[len(all)-1:]
	}
	if r.version.Since(V2608) && r.concurrency > 0 {
		all = append(all, result.MetricLatency{Key: "client_queue_time", Metric: figure.Queue, Distribution: r.Figures.QueueTime})
		if r.arrival.Rate > 0 {
			all = append(all, result.MetricLatency{Key: "e2el_including_client_queue", Metric: figure.E2ELQueue, Distribution: r.Figures.E2ELWithQueue})
		}
	}
	selected := r.sections()
	return slices.DeleteFunc(all, func(m result.MetricLatency) bool { return !slices.Contains(selected, m.Key) })
}

func (r *Report) decoding(e *result.Entries) {
	switch {
	case !r.version.Since(V2608):
	case r.Diffusion != nil:
		d := r.Diffusion
		e.Add(figure.DiffusionThroughput, d.CommittedThroughput)
		e.Add(figure.DiffusionSteps, d.StepsPerCanvas)
		e.Add(figure.DiffusionPerStep, d.CommittedPerStep)
		e.Add("diffusion.committed_tokens", float64(d.CommittedTokens))
		e.Add("diffusion.denoising_steps", math.Trunc(d.DenoisingSteps))
		e.Add("diffusion.canvas_positions", float64(d.CanvasPositions))
	case r.SpecDecode != nil:
		s := r.SpecDecode
		e.Add(figure.AcceptanceRate, s.AcceptanceRate)
		e.Add(figure.AcceptLength, s.AcceptanceLength)
		e.Add("spec_decode.drafts", float64(s.Drafts))
		e.Add("spec_decode.draft_tokens", float64(s.DraftTokens))
		e.Add("spec_decode.accepted_tokens", float64(s.AcceptedTokens))
		for i, rate := range s.PerPosition {
			e.Add("spec_decode.position."+strconv.Itoa(i), rate)
		}
	}
}
