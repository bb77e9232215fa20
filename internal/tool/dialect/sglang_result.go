package dialect

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Result is the line of the result file: one JSON object and a newline. info is what
// the server said of itself, nil if it said nothing.
func (r *SGLangReport) Result(info json.RawMessage) []byte {
	o := new(jsonObjectWriter)
	r.setup(o, info)
	r.totals(o)
	e2el, ttft, itl := r.percentiles()
	if e2el == nil {
		e2el = ttft // the file has one that the table has not
	}
	f := r.Figures
	statistics(o, "e2e_latency", r.e2el(), e2el)
	statistics(o, "ttft", f.TTFT, ttft)
	statistics(o, "tpot", f.TPOT, ttft)
	statistics(o, "itl", f.ITL, itl)
	o.float("concurrency", f.Concurrency)
	if r.acceptKnown() {
		o.float("accept_length", f.AcceptLength)
	} else {
		o.null("accept_length")
	}
	o.float("max_output_tokens_per_s", f.MaxOutputPerSecond)
	o.int("max_concurrent_requests", f.MaxConcurrent)
	newGoodput(r.Goodput, f.Requests).result(o, f.Duration)
	if r.Cache != nil {
		r.Cache.result(o)
	}
	if r.Args.OutputDetails {
		r.details(o)
	}
	return append(o.bytes(), '\n')
}

// acceptKnown: a server that drafts no tokens tells no accept length.
func (r *SGLangReport) acceptKnown() bool { return r.Figures.AcceptLength > 0 }

func (r *SGLangReport) setup(o *jsonObjectWriter, info json.RawMessage) {
	a := r.Args
	o.optStr("tag", a.Tag)
	o.str("backend", a.Backend)
	o.str("dataset_name", a.DatasetName)
	if a.UseTraceTimestamps {
		o.str("request_rate", "trace")
	} else {
		o.float("request_rate", a.RequestRate)
	}
	o.optInt("max_concurrency", a.MaxConcurrency)
	o.optInt("sharegpt_output_len", a.ShareGPTOutputLen)
	o.int("random_input_len", a.RandomInputLen)
	o.int("random_output_len", a.RandomOutputLen)
	o.float("random_range_ratio", a.RandomRangeRatio)
	o.raw("server_info", dumped(info))
}

func (r *SGLangReport) totals(o *jsonObjectWriter) {
	f := r.Figures
	o.float("duration", f.Duration)
	o.int("completed", f.Completed)
	o.int("total_input_tokens", f.TotalInput)
	o.int("total_input_text_tokens", f.TotalInputText)
	o.int("total_input_vision_tokens", f.TotalInputVision)
	o.int("total_output_tokens", f.TotalOutput)
	o.int("total_output_tokens_retokenized", f.TotalRetokenized)
	o.float("request_throughput", f.RequestThroughput)
	o.float("input_throughput", f.InputThroughput)
	o.float("output_throughput", f.OutputThroughput)
	o.float("total_throughput", f.TotalTokenThroughput)
}

// statistics writes those of a metric in seconds.
func statistics(o *jsonObjectWriter, metric string, d metrics.Distribution, percentiles []float64) {
	o.float("mean_"+metric+"_ms", d.Mean*1000)
	o.float("median_"+metric+"_ms", d.Median*1000)
	o.float("std_"+metric+"_ms", d.Std*1000)
	for _, p := range percentiles {
		o.float("p"+percentileName(p)+"_"+metric+"_ms", d.At(p)*1000)
	}
}

func (g goodput) result(o *jsonObjectWriter, duration float64) {
	if len(g.limits) == 0 {
		return
	}
	slos, shares := new(jsonObjectWriter), new(jsonObjectWriter)
	for i, l := range g.limits {
		slos.float(l.Name, l.MS)
		shares.float(l.Name, g.share(g.met[i]))
	}
	o.raw("goodput_slos_ms", slos.bytes())
	o.float("request_goodput", g.perSecond(duration))
	o.float("slo_attainment", g.share(g.good))
	o.raw("slo_attainment_by_metric", shares.bytes())
}

func (c *cacheHits) result(o *jsonObjectWriter) {
	w := new(jsonObjectWriter)
	w.int("total_prompt_tokens", c.Prompt)
	w.int("total_cached_tokens", c.Cached)
	w.float("cache_hit_rate_pct", math.RoundToEven(c.rate()*1e4)/100)
	known := func(name string, tokens int, ok bool) {
		if ok {
			w.int(name, tokens)
			return
		}
		w.null(name)
	}
	known("device_cached_tokens", c.Device, c.Detailed)
	known("host_cached_tokens", c.Host, c.Detailed)
	known("storage_cached_tokens", c.Storage, c.Storage > 0)
	if c.Backend != "" {
		w.str("storage_backend", c.Backend)
	} else {
		w.null("storage_backend")
	}
	o.raw("cache_report", w.bytes())
}

// details writes a list a field, with an item a request in the order of the workload.
func (r *SGLangReport) details(o *jsonObjectWriter) {
	q := r.Figures.Requests
	list := func(name string, item func(b []byte, q *metrics.SGLangRequest) []byte) {
		o.raw(name, jsonList(len(q), func(b []byte, i int) []byte { return item(b, &q[i]) }))
	}
	list("input_lens", func(b []byte, q *metrics.SGLangRequest) []byte { return append(b, itoa(q.Prompt)...) })
	list("output_lens", func(b []byte, q *metrics.SGLangRequest) []byte { return append(b, itoa(q.Output)...) })
	list("ttfts", func(b []byte, q *metrics.SGLangRequest) []byte { return jsonFloat(b, q.TTFT) })
	list("itls", func(b []byte, q *metrics.SGLangRequest) []byte { return jsonFloats(b, q.ITL) })
	list("generated_texts", func(b []byte, q *metrics.SGLangRequest) []byte { return jsonString(b, q.Text) })
	list("errors", func(b []byte, q *metrics.SGLangRequest) []byte { return jsonString(b, q.ErrorText) })
	if r.Cache == nil {
		return
	}
	list("cached_tokens", func(b []byte, q *metrics.SGLangRequest) []byte { return append(b, itoa(q.Cached)...) })
	list("cached_tokens_details", func(b []byte, q *metrics.SGLangRequest) []byte { return append(b, tiers(q.Tiers)...) })
}

func tiers(t *trace.CacheTiers) []byte {
	if t == nil {
		return []byte("null")
	}
	w := new(jsonObjectWriter)
	w.int("device", t.Device)
	w.int("host", t.Host)
	if t.Storage > 0 || t.Backend != "" {
		w.int("storage", t.Storage)
		w.str("storage_backend", t.Backend)
	}
	return w.bytes()
}

// dumped is JSON as json.dumps writes what json.loads read of it; null for none.
func dumped(data json.RawMessage) []byte {
	if len(data) == 0 {
		return []byte("null")
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	return dumpNext(nil, dec)
}

// dumpNext appends the next value of dec.
func dumpNext(b []byte, dec *json.Decoder) []byte {
	token, err := dec.Token()
	if err != nil {
		return append(b, "null"...)
	}
	switch v := token.(type) {
	case json.Delim:
		b = append(b, byte(v))
		for i := 0; dec.More(); i++ {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = dumpNext(b, dec)
			if v == '{' {
				b = dumpNext(append(b, ": "...), dec)
			}
		}
		closing, _ := dec.Token()
		return append(b, fmt.Sprint(closing)...)
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return jsonFloat(b, f)
		}
		return append(b, v.String()...)
	case string:
		return jsonString(b, v)
	case bool:
		return fmt.Append(b, v)
	}
	return append(b, "null"...)
}

// ResultFile is the path of the result file, which every run has: with a name of its
// own it holds the runs of one setting on one day.
func (a *SGLangArgs) ResultFile(now time.Time) string {
	if a.OutputFile != nil && *a.OutputFile != "" {
		return *a.OutputFile
	}
	name := fmt.Sprintf("%s_%s_%d_", a.Backend, now.Local().Format("0102"), a.NumPrompts)
	switch {
	case a.DatasetName == "image":
		name += fmt.Sprintf("%d_%d_%dimgs_%s", a.RandomInputLen, a.RandomOutputLen, a.ImageCount, a.ImageResolution)
	case strings.HasPrefix(a.DatasetName, "random"):
		name += fmt.Sprintf("%d_%d", a.RandomInputLen, a.RandomOutputLen)
	default:
		name += a.DatasetName
	}
	return name + ".jsonl"
}
