package dialect

import (
	"fmt"
	"io"
	"slices"
	"strings"

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
	case slices.ContainsFunc(t.Records, func(r *trace.Record) bool { return r.Due > 0 }):
		return "trace"
	}
	return "inf"
}

// WriteTable writes the "Serving Benchmark Result", byte for byte. That tool has
// an empty line ahead of it.
func (r *SGLangReport) WriteTable(w io.Writer) error {
	var t table
	t.heading(" Serving Benchmark Result ", "=")
	r.requests(&t)
	r.throughput(&t)
	e2el, ttft, itl := []float64(nil), []float64{99}, []float64{95, 99}
	if r.Version.Since(metrics.SGLangMain) {
		e2el = metrics.DefaultPercentiles()
		ttft, itl = e2el, e2el
	}
	f := r.Figures
	t.latency("End-to-End Latency", "E2E Latency", f.E2EL, e2el)
	t.latency("Time to First Token", "TTFT", f.TTFT, ttft)
	t.latency("Time per Output Token (excl. 1st token)", "TPOT", f.TPOT, ttft)
	t.latency("Inter-Token Latency", "ITL", f.ITL, itl)
	t.float("Max ITL (ms):", f.ITL.Max*1000)
	t.WriteString(strings.Repeat("=", tableWidth) + "\n")
	_, err := io.WriteString(w, t.String())
	return err
}

func (r *SGLangReport) requests(t *table) {
	f := r.Figures
	t.text("Backend:", r.Backend)
	t.text("Traffic request rate:", r.Rate)
	limit := "not set"
	if r.MaxConcurrency > 0 {
		limit = itoa(r.MaxConcurrency)
	}
	t.text("Max request concurrency:", limit)
	t.int("Successful requests:", f.Completed)
	t.float("Benchmark duration (s):", f.Duration)
	t.int("Total input tokens:", f.TotalInput)
	t.int("Total input text tokens:", f.TotalInputText)
	if r.Images || !r.Version.Since(metrics.SGLangMain) {
		t.int("Total input vision tokens:", f.TotalInputVision)
	}
	t.int("Total generated tokens:", f.TotalOutput)
	t.int("Total generated tokens (retokenized):", f.TotalRetokenized)
}

func (r *SGLangReport) throughput(t *table) {
	f := r.Figures
	t.float("Request throughput (req/s):", f.RequestThroughput)
	t.float("Input token throughput (tok/s):", f.InputThroughput)
	t.float("Output token throughput (tok/s):", f.OutputThroughput)
	t.float("Peak output token throughput (tok/s):", f.MaxOutputPerSecond)
	t.int("Peak concurrent requests:", f.MaxConcurrent)
	t.float("Total token throughput (tok/s):", f.TotalTokenThroughput)
	t.float("Concurrency:", f.Concurrency)
	if f.AcceptLength != 0 {
		t.float("Accept length:", f.AcceptLength)
	}
}

func (t *table) latency(title, name string, d metrics.Distribution, percentiles []float64) {
	t.heading(title, "-")
	t.float("Mean "+name+" (ms):", d.Mean*1000)
	t.float("Median "+name+" (ms):", d.Median*1000)
	for _, p := range percentiles {
		t.float("P"+percentileName(p)+" "+name+" (ms):", d.At(p)*1000)
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
	note(f.MaxOutputPerSecond < f.OutputThroughput && f.TotalOutput == f.TotalRetokenized, "the peak counts chunks, some of which carry several tokens: it is below the mean, which counts tokens")
	return notes
}
