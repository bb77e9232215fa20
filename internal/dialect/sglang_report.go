package dialect

import (
	"fmt"
	"io"
	"slices"

	"github.com/pitot-bench/pitot/internal/metrics"
	"github.com/pitot-bench/pitot/internal/trace"
)

// An SGLangReport is everything sglang.bench_serving prints of a run.
type SGLangReport struct {
	Version metrics.SGLangVersion
	Backend string // sglang, sglang-oai or sglang-oai-chat
	// Rate is a number of requests/s as Python prints it, inf for all at once, or
	// trace for send times that no one rate describes.
	Rate           string
	MaxConcurrency int  // 0 = not set
	Images         bool // the prompts are of its datasets with images
	Figures        metrics.SGLang
}

// NewSGLangReport computes the report of a run; version is one of
// metrics.SGLangVersions, or "" for the newest.
func NewSGLangReport(t *trace.Trace, version string) (*SGLangReport, error) {
	v := metrics.SGLangVersion(version)
	if v == "" {
		v = metrics.SGLangMain
	}
	if !slices.Contains(metrics.SGLangVersions(), v) {
		return nil, fmt.Errorf("sglang.bench_serving has no form %s here: there are %v", v, metrics.SGLangVersions())
	}
	o := metrics.SGLangOptions{Version: v}
	if s := NewSpecDecode(t.Run.ServerCounters); s != nil {
		o.AcceptLength = s.AcceptanceLength
	}
	return &SGLangReport{
		Version:        v,
		Backend:        sglangBackend(t.Run.Plan.Protocol),
		Rate:           sglangRate(t),
		MaxConcurrency: t.Run.Plan.Concurrency,
		Figures:        metrics.NewSGLang(t, o),
	}, nil
}

// sglangBackend is the name that tool has for a protocol.
func sglangBackend(protocol string) string {
	switch protocol {
	case "completions":
		return "sglang-oai"
	case "chat":
		return "sglang-oai-chat"
	}
	return "sglang"
}

func sglangRate(t *trace.Trace) string {
	switch {
	case t.Run.Plan.Rate > 0:
		return reprFloat(t.Run.Plan.Rate)
	case t.Run.Origin != nil && t.Run.Origin.Setup["request_rate"] == "inf": // it took its time even so
		return "inf"
	case slices.ContainsFunc(t.Records, func(r *trace.Record) bool { return r.Due > 0 }):
		return "trace"
	}
	return "inf"
}

// WriteTable writes the "Serving Benchmark Result", byte for byte. That tool has
// an empty line ahead of it.
func (r *SGLangReport) WriteTable(w io.Writer) error {
	var e entries
	r.requests(&e)
	r.throughput(&e)
	e2el, ttft, itl := []float64(nil), []float64{99}, []float64{95, 99}
	if r.Version.Since(metrics.SGLangMain) {
		e2el = metrics.DefaultPercentiles()
		ttft, itl = e2el, e2el
	}
	f := r.Figures
	e.latency("e2el", f.E2EL, e2el)
	e.latency("ttft", f.TTFT, ttft)
	e.latency("tpot", f.TPOT, ttft)
	e.latency("itl", f.ITL, itl)
	e.add("itl.max", f.ITL.Max*1000)
	return sglangLayout().write(w, e)
}

func (r *SGLangReport) requests(e *entries) {
	f := r.Figures
	e.say("Backend:", r.Backend)
	e.say("Traffic request rate:", r.Rate)
	limit := "not set"
	if r.MaxConcurrency > 0 {
		limit = itoa(r.MaxConcurrency)
	}
	e.say("Max request concurrency:", limit)
	e.add("requests.ok", float64(f.Completed))
	e.add("duration", f.Duration)
	e.add("tokens.input", float64(f.TotalInput))
	e.add("tokens.input_text", float64(f.TotalInputText))
	if r.Images || !r.Version.Since(metrics.SGLangMain) {
		e.add("tokens.input_vision", float64(f.TotalInputVision))
	}
	e.add("tokens.output", float64(f.TotalOutput))
	e.add("tokens.output_retokenized", float64(f.TotalRetokenized))
}

func (r *SGLangReport) throughput(e *entries) {
	f := r.Figures
	e.add("throughput.requests", f.RequestThroughput)
	e.add("throughput.input", f.InputThroughput)
	e.add("throughput.output", f.OutputThroughput)
	e.add("peak.output", f.MaxOutputPerSecond)
	e.add("peak.concurrency", float64(f.MaxConcurrent))
	e.add("throughput.total", f.TotalTokenThroughput)
	e.add("concurrency", f.Concurrency)
	if f.AcceptLength != 0 {
		e.add("accept_length", f.AcceptLength)
	}
}

// latency adds the statistics of a metric in seconds.
func (e *entries) latency(metric string, d metrics.Distribution, percentiles []float64) {
	e.add(metric+".mean", d.Mean*1000)
	e.add(metric+".median", d.Median*1000)
	for _, p := range percentiles {
		e.add(metric+".p"+percentileName(p), d.At(p)*1000)
	}
}

// Notes say where a figure is far from what its label promises, a sentence each.
func (r *SGLangReport) Notes() []string {
	var notes []string
	note := func(cond bool, format string, a ...any) {
		if cond {
			notes = append(notes, fmt.Sprintf(format, a...))
		}
	}
	f := r.Figures
	note(f.Failed > 0, "%d of %d requests failed: the sglang report has no line for them", f.Failed, len(f.Requests))
	note(f.Silent > 0, "%d answers without text are successes to sglang, with a TTFT of 0", f.Silent)
	note(f.Assumed > 0 && f.TotalOutput != f.TotalRetokenized,
		"sglang takes the length asked for as that of %d answers: %d generated tokens in all, where %d were counted", f.Assumed, f.TotalOutput, f.TotalRetokenized)
	note(f.MaxConcurrent > f.InFlight, "sglang's peak counts the requests that touch one second: at most %d were in flight", f.InFlight)
	note(f.MaxOutputPerSecond < f.OutputThroughput && f.TotalOutput == f.TotalRetokenized, "the peak counts chunks within seconds of the clock: where chunks carry several tokens, or the run is no longer than a few seconds, it is below the mean, which counts tokens")
	return notes
}
