package dialect

import (
	"io"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// An SGLangReport is everything sglang.bench_serving prints of a run.
type SGLangReport struct {
	Args    *SGLangArgs // of the run, if its command line was that tool's
	Version metrics.SGLangVersion
	Backend string // in that tool's names: sglang, sglang-oai, sglang-oai-chat ...
	// Rate is a number of requests/s as Python prints it, inf for all at once, or
	// trace for send times that no one rate describes.
	Rate           string
	MaxConcurrency int        // 0 = not set
	Images         bool       // the prompts are of its datasets with images
	Embedding      bool       // answers have no text
	Goodput        []Limit    // to count requests against; nil = none
	Cache          *cacheHits // nil unless asked for
	Figures        metrics.SGLang
}

// sglangBackend is the name that tool has for a protocol.
func sglangBackend(protocol string) string {
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
	newGoodput(r.Goodput, r.Figures.Requests).entries(&e, r.Figures.Duration)
	e2el, ttft, itl := r.percentiles()
	f := r.Figures
	e.latency("e2el", r.e2el(), e2el)
	if !r.Embedding {
		e.latency("ttft", f.TTFT, ttft)
		e.latency("tpot", f.TPOT, ttft)
		e.latency("itl", f.ITL, itl)
		e.add("itl.max", f.ITL.Max*1000)
	}
	if r.Cache != nil {
		r.Cache.entries(&e)
	}
	return sglangLayout().write(w, e)
}

// percentiles are those that the form has, of E2E latencies, of TTFT and TPOT, and of
// ITL.
func (r *SGLangReport) percentiles() (e2el, ttft, itl []float64) {
	if r.Version.Since(metrics.SGLangMain) {
		all := metrics.DefaultPercentiles()
		return all, all, all
	}
	return nil, []float64{99}, []float64{95, 99}
}

// e2el are the latencies; of no success at all they are no numbers to that tool,
// while it has zeros for the others.
func (r *SGLangReport) e2el() metrics.Distribution {
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
	if r.Embedding {
		return
	}
	e.add("tokens.output", float64(f.TotalOutput))
	e.add("tokens.output_retokenized", float64(f.TotalRetokenized))
}

func (r *SGLangReport) throughput(e *entries) {
	f := r.Figures
	e.add("throughput.requests", f.RequestThroughput)
	e.add("throughput.input", f.InputThroughput)
	if !r.Embedding {
		e.add("throughput.output", f.OutputThroughput)
		e.add("peak.output", f.MaxOutputPerSecond)
		e.add("throughput.total", f.TotalTokenThroughput)
	}
	e.add("peak.concurrency", float64(f.MaxConcurrent))
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
