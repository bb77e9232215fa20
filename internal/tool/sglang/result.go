package sglang

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/result"
	"github.com/pitot-bench/pitot/internal/tool/serving"
)

// Result is the line of the result file: one JSON object and a newline. info is what
// the server said of itself, nil if it said nothing.
func (r *Report) Result(info json.RawMessage) []byte {
	o := new(python.Object)
	r.setup(o, info)
	r.sums(o)
	for _, l := range r.latencies() {
		l.Members(o)
	}
	f := r.Figures
	o.Float("concurrency", f.Concurrency)
	if r.acceptKnown() {
		o.Float("accept_length", f.AcceptLength)
	} else {
		o.Null("accept_length")
	}
	o.Float("max_output_tokens_per_s", f.MaxOutputPerSecond)
	o.Int("max_concurrent_requests", f.MaxConcurrent)
	newGoodput(r.limits(), f.Requests).result(o, f.Duration)
	if r.Cache != nil {
		r.Cache.result(o)
	}
	if r.OutputDetails {
		r.details(o)
	}
	return append(o.Bytes(), '\n')
}

// acceptKnown: a server that drafts no tokens tells no accept length.
func (r *Report) acceptKnown() bool { return r.Figures.AcceptLength > 0 }

func (r *Report) setup(o *python.Object, info json.RawMessage) {
	o.OptText("tag", r.Tag)
	o.Text("backend", r.Backend)
	o.Text("dataset_name", r.DatasetName)
	if r.UseTraceTimestamps {
		o.Text("request_rate", "trace")
	} else {
		o.Float("request_rate", r.rate)
	}
	o.OptInt("max_concurrency", r.MaxConcurrency)
	o.OptInt("sharegpt_output_len", r.ShareGPTOutputLen)
	o.Int("random_input_len", r.RandomInputLen)
	o.Int("random_output_len", r.RandomOutputLen)
	o.Float("random_range_ratio", r.RandomRangeRatio)
	o.Raw("server_info", python.Dumped(info))
}

func (r *Report) sums(o *python.Object) {
	f := r.Figures
	o.Float("duration", f.Duration)
	o.Int("completed", f.Completed)
	o.Int("total_input_tokens", f.TotalInput)
	o.Int("total_input_text_tokens", f.TotalInputText)
	o.Int("total_input_vision_tokens", f.TotalInputVision)
	o.Int("total_output_tokens", f.TotalOutput)
	o.Int("total_output_tokens_retokenized", f.TotalRetokenized)
	o.Float("request_throughput", f.RequestThroughput)
	o.Float("input_throughput", f.InputThroughput)
	o.Float("output_throughput", f.OutputThroughput)
	o.Float("total_throughput", f.TotalTokenThroughput)
}

func (g goodput) result(o *python.Object, duration float64) {
	if len(g.limits) == 0 {
		return
	}
	slos, shares := new(python.Object), new(python.Object)
	for i, l := range g.limits {
		slos.Float(l.Name, l.MS)
		shares.Float(l.Name, g.share(g.met[i]))
	}
	o.Raw("goodput_slos_ms", slos.Bytes())
	o.Float("request_goodput", g.perSecond(duration))
	o.Float("slo_attainment", g.share(g.good))
	o.Raw("slo_attainment_by_metric", shares.Bytes())
}

func (c *cacheHits) result(o *python.Object) {
	w := new(python.Object)
	w.Int("total_prompt_tokens", c.Prompt)
	w.Int("total_cached_tokens", c.Cached)
	w.Float("cache_hit_rate_pct", math.RoundToEven(c.rate()*1e4)/100)
	known := func(name string, tokens int, ok bool) {
		if ok {
			w.Int(name, tokens)
			return
		}
		w.Null(name)
	}
	known("device_cached_tokens", c.Device, c.Detailed)
	known("host_cached_tokens", c.Host, c.Detailed)
	known("storage_cached_tokens", c.Storage, c.Storage > 0)
	if c.Backend != "" {
		w.Text("storage_backend", c.Backend)
	} else {
		w.Null("storage_backend")
	}
	o.Raw("cache_report", w.Bytes())
}

// details writes a list a field, with an item a request in the order of the workload.
func (r *Report) details(o *python.Object) {
	all := make([]*serving.Request, len(r.Figures.Requests))
	for i, q := range r.Figures.Requests {
		all[i] = &q.Request
		all[i].Input = q.Prompt
	}
	result.WriteColumns(o, all, func(name string) bool {
		return !slices.Contains([]string{"latencies", "start_times", "queue_times"}, name) && (name != "cached_tokens" || r.Cache != nil)
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
	w.Int("device", t.Device)
	w.Int("host", t.Host)
	if t.Storage > 0 || t.Backend != "" {
		w.Int("storage", t.Storage)
		w.Text("storage_backend", t.Backend)
	}
	return w.Bytes()
}
