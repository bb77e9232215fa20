package sglang

import (
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/table"
)

// An Report is everything sglang.bench_serving prints of a run.
type Report struct {
	Args    *Args // of the run, if its command line was that tool's
	Version Version
	Backend string // in that tool's names: sglang, sglang-oai, sglang-oai-chat ...
	// Rate is a number of requests/s as Python prints it, inf for all at once, or
	// trace for send times that no one rate describes.
	Rate           string
	MaxConcurrency int        // 0 = not set
	Images         bool       // the prompts are of its datasets with images
	Embedding      bool       // answers have no text
	Goodput        []Limit    // to count requests against; nil = none
	Cache          *cacheHits // nil unless asked for
	Figures        Figures
}

// backendOf is the name that tool has for a protocol.
func backendOf(protocol string) string {
	switch protocol {
	case "completions":
		return "sglang-oai"
	case "chat":
		return "sglang-oai-chat"
	case "embeddings":
		return "sglang-embedding"
	case "trt", "truss":
		return protocol
	}
	return "sglang"
}

func rateOf(t *trace.Trace) string {
	switch {
	case t.Run.Plan.Rate > 0:
		return python.Float(t.Run.Plan.Rate)
	case t.Run.Origin != nil && t.Run.Origin.Setup["request_rate"] == "inf": // it took its time even so
		return "inf"
	case slices.ContainsFunc(t.Records, func(r *trace.Record) bool { return r.Due > 0 }):
		return "trace"
	}
	return "inf"
}

// WriteTable writes the "Serving Benchmark Result", byte for byte. That tool has
// an empty line ahead of it.
func (r *Report) WriteTable(w io.Writer) error {
	var e table.Entries
	r.requests(&e)
	r.throughput(&e)
	newGoodput(r.Goodput, r.Figures.Requests).entries(&e, r.Figures.Duration)
	e2el, ttft, itl := r.percentiles()
	f := r.Figures
	addLatency(&e, "e2el", r.e2el(), e2el)
	if !r.Embedding {
		addLatency(&e, "ttft", f.TTFT, ttft)
		addLatency(&e, "tpot", f.TPOT, ttft)
		addLatency(&e, "itl", f.ITL, itl)
		e.Add("itl.max", f.ITL.Max*1000)
	}
	if r.Cache != nil {
		r.Cache.entries(&e)
	}
	return layout(string(r.Version)).Write(w, e)
}

// percentiles are those that the form has, of E2E latencies, of TTFT and TPOT, and of
// ITL.
func (r *Report) percentiles() (e2el, ttft, itl []float64) {
	if r.Version.Since(Main) {
		all := metrics.DefaultPercentiles()
		return all, all, all
	}
	return nil, []float64{99}, []float64{95, 99}
}

// e2el are the latencies; of no success at all they are no numbers to that tool,
// while it has zeros for the others.
func (r *Report) e2el() metrics.Distribution {
	d := r.Figures.E2EL
	if d.N > 0 || r.Figures.Failed == 0 {
		return d
	}
	nan := math.NaN()
	d.Mean, d.Median, d.Std, d.Percentiles = nan, nan, nan, slices.Clone(d.Percentiles)
	for i := range d.Percentiles {
		d.Percentiles[i].Value = nan
	}
	return d
}

func (r *Report) requests(e *table.Entries) {
	f := r.Figures
	e.Say("Backend:", r.Backend)
	e.Say("Traffic request rate:", r.Rate)
	limit := "not set"
	if r.MaxConcurrency > 0 {
		limit = strconv.Itoa(r.MaxConcurrency)
	}
	e.Say("Max request concurrency:", limit)
	e.Add("requests.ok", float64(f.Completed))
	e.Add("duration", f.Duration)
	e.Add("tokens.input", float64(f.TotalInput))
	e.Add("tokens.input_text", float64(f.TotalInputText))
	if r.Images || !r.Version.Since(Main) {
		e.Add("tokens.input_vision", float64(f.TotalInputVision))
	}
	if r.Embedding {
		return
	}
	e.Add("tokens.output", float64(f.TotalOutput))
	e.Add("tokens.output_retokenized", float64(f.TotalRetokenized))
}

func (r *Report) throughput(e *table.Entries) {
	f := r.Figures
	e.Add("throughput.requests", f.RequestThroughput)
	e.Add("throughput.input", f.InputThroughput)
	if !r.Embedding {
		e.Add("throughput.output", f.OutputThroughput)
		e.Add("peak.output", f.MaxOutputPerSecond)
		e.Add("throughput.total", f.TotalTokenThroughput)
	}
	e.Add("peak.concurrency", float64(f.MaxConcurrent))
	e.Add("concurrency", f.Concurrency)
	if f.AcceptLength != 0 {
		e.Add("accept_length", f.AcceptLength)
	}
}

// latency adds the statistics of a metric in seconds.
func addLatency(e *table.Entries, metric string, d metrics.Distribution, percentiles []float64) {
	e.Add(metric+".mean", d.Mean*1000)
	e.Add(metric+".median", d.Median*1000)
	for _, p := range percentiles {
		e.Add(metric+".p"+table.Percentile(p), d.At(p)*1000)
	}
}
