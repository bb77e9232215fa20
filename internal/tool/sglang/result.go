package sglang

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// Result is the line of the result file: one JSON object and a newline. info is the server's
// information about itself, nil if it gave none.
func (r *Report) Result(info json.RawMessage) []byte {
	o := new(python.Object)
	r.setup(o, info)
	r.sums(o)
	for _, l := range r.latencies() {
		l.Members(o)
	}
	f := r.Figures
	o.Set("concurrency", f.Concurrency)
	o.Known("accept_length", f.AcceptLength, f.AcceptLength > 0) // a server that drafts no tokens tells none
	o.Set("max_output_tokens_per_s", f.MaxOutputPerSecond)
	o.Set("max_concurrent_requests", f.MaxConcurrent)
	newGoodput(r.limits(), f.Requests).result(o, f.Duration)
	if r.Cache != nil {
		r.Cache.result(o)
	}
	if r.OutputDetails {
		r.details(o)
	}
	return append(o.Bytes(), '\n')
}

func (r *Report) setup(o *python.Object, info json.RawMessage) {
	o.Set("tag", r.Tag)
	o.Set("backend", r.Backend)
	o.Set("dataset_name", r.DatasetName)
	if r.UseTraceTimestamps {
		o.Set("request_rate", "trace")
	} else {
		o.Set("request_rate", r.rate)
	}
	o.Set("max_concurrency", r.MaxConcurrency)
	o.Set("sharegpt_output_len", r.ShareGPTOutputLen)
	o.Set("random_input_len", r.RandomInputLen)
	o.Set("random_output_len", r.RandomOutputLen)
	o.Set("random_range_ratio", r.RandomRangeRatio)
	o.Raw("server_info", python.Dumped(info))
}

func (r *Report) sums(o *python.Object) {
	f := r.Figures
	o.Set("duration", f.Duration)
	o.Set("completed", f.Completed)
	o.Set("total_input_tokens", f.TotalInput)
	o.Set("total_input_text_tokens", f.TotalInputText)
	o.Set("total_input_vision_tokens", f.TotalInputVision)
	o.Set("total_output_tokens", f.TotalOutput)
	o.Set("total_output_tokens_retokenized", f.TotalRetokenized)
	o.Set("request_throughput", f.RequestThroughput)
	o.Set("input_throughput", f.InputThroughput)
	o.Set("output_throughput", f.OutputThroughput)
	o.Set("total_throughput", f.TotalTokenThroughput)
}

func (g goodput) result(o *python.Object, duration float64) {
	if len(g.limits) == 0 {
		return
	}
	slos, shares := new(python.Object), new(python.Object)
	for i, l := range g.limits {
		slos.Set(l.Name, l.MS)
		shares.Set(l.Name, g.share(g.met[i]))
	}
	o.Raw("goodput_slos_ms", slos.Bytes())
	o.Set("request_goodput", g.perSecond(duration))
	o.Set("slo_attainment", g.share(g.good))
	o.Raw("slo_attainment_by_metric", shares.Bytes())
}

func (c *cacheHits) result(o *python.Object) {
	w := new(python.Object)
	w.Set("total_prompt_tokens", c.Prompt)
	w.Set("total_cached_tokens", c.Cached)
	w.Set("cache_hit_rate_pct", math.RoundToEven(c.rate()*1e4)/100)
	w.Known("device_cached_tokens", c.Device, c.Detailed)
	w.Known("host_cached_tokens", c.Host, c.Detailed)
	w.Known("storage_cached_tokens", c.Storage, c.Storage > 0)
	w.Known("storage_backend", c.Backend, c.Backend != "")
	o.Raw("cache_report", w.Bytes())
}

// details writes a list a field, with an item a request in the order of the workload.
func (r *Report) details(o *python.Object) {
	all := make([]*result.Request, len(r.Figures.Requests))
	for i, q := range r.Figures.Requests {
		all[i] = &q.Request
		all[i].Input = q.Prompt
	}
	result.WriteColumns(o, all, func(name string) bool {
		return !slices.Contains([]string{"latencies", "start_times", "queue_times", "server_queue_times", "server_ttfts"}, name) && (name != "cached_tokens" || r.Cache != nil)
	})
	if r.Cache != nil {
		o.Raw("cached_tokens_details", python.JSONList(len(all), func(b []byte, i int) []byte { return append(b, tiers(r.Figures.Requests[i].Tiers)...) }))
	}
}

func tiers(t *trace.CacheTiers) []byte {
	if t == nil {
		return []byte("null")
	}
	w := new(python.Object)
	w.Set("device", t.Device)
	w.Set("host", t.Host)
	if t.Storage > 0 || t.Backend != "" {
		w.Set("storage", t.Storage)
		w.Set("storage_backend", t.Backend)
	}
	return w.Bytes()
}
