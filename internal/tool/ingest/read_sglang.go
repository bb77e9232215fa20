package ingest

import (
	"cmp"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
)

// isSGLang knows a line of sglang.bench_serving by the spelling of its end-to-end
// latency.
func isSGLang(o *object) bool {
	return hasName(o, "mean_e2e_latency_ms") && o.has("completed", "duration")
}

var sglangNames = []naming{
	{"duration", "duration"},
	{"completed", "requests.ok"},
	{"total_input_tokens", "tokens.input"},
	{"total_input_text_tokens", "tokens.input_text"},
	{"total_input_vision_tokens", "tokens.input_vision"},
	{"total_output_tokens", "tokens.output"},
	{"total_output_tokens_retokenized", "tokens.output_retokenized"},
	{"request_throughput", "throughput.requests"},
	{"input_throughput", "throughput.input"},
	{"output_throughput", "throughput.output"},
	{"total_throughput", "throughput.total"},
	{"concurrency", "concurrency"},
	{"accept_length", "accept_length"},
	{"max_output_tokens_per_s", "peak.output"},
	{"max_concurrent_requests", "peak.concurrency"},
}

// readSGLang reads a line, plain or with --output-details.
func readSGLang(r *reading) {
	f, o := r.draft("sglang"), r.object
	used := f.flat(o, sglangNames)
	f.cacheReport(o.object("cache_report"))
	f.settings("", o, func(name string) bool {
		return used[name] || isColumn(name) || name == "cache_report" || strings.HasPrefix(name, "server_info.internal_states")
	})
	f.origin.Form = string(sglangForm(o))
	if d, ok := o.float("duration"); ok && d >= 0 && d < maxRun {
		f.Run.End = instant(d)
	}
	f.sglangPlan(o, o.int("completed"))
	r.sglangRecords(f)
}

// sglangForm: today's writes the 90th percentile too.
func sglangForm(o *object) sglang.Version {
	if hasName(o, "p90_e2e_latency_ms") {
		return sglang.Main
	}
	return sglang.V2601
}

// cacheReport adds the counts of --cache-report. The storage has a name.
func (f *draft) cacheReport(o *object) {
	storage := "cache.storage"
	if name := o.text("storage_backend"); name != "" {
		storage += "." + name
	}
	for _, n := range []naming{
		{"total_prompt_tokens", "cache.prompt_tokens"},
		{"total_cached_tokens", "cache.cached_tokens"},
		{"device_cached_tokens", "cache.device"},
		{"host_cached_tokens", "cache.host"},
		{"storage_cached_tokens", storage},
	} {
		if v, ok := o.float(n.member); ok {
			f.figure(n.figure, v)
		}
	}
	if v, ok := o.float("cache_hit_rate_pct"); ok {
		f.figure("cache.hit_rate", v/100)
	}
}

func (f *draft) sglangPlan(o *object, requests int) {
	f.plan(requests)
	info := o.object("server_info")
	for _, name := range []string{"served_model_name", "model_path"} {
		f.Run.Plan.Model = cmp.Or(f.Run.Plan.Model, info.text(name))
	}
	f.Run.Env.Server = info.text("version")
}

// sglangRecords makes records of the details. That tool does not keep when a
// request started or ended, so each has its own clock and ends with its last
// chunk.
func (r *reading) sglangRecords(f *draft) {
	c := r.columnsOf(f)
	if c == nil {
		return
	}
	delete(c.lists, "start_times")
	delete(c.lists, "latencies")
	s, err := c.survey()
	if err != nil {
		r.problem(err)
		return
	}
	f.sglangPlan(r.object, c.n)
	f.origin.Detail = trace.Undated
	f.Records = c.records(recorder{counted: c.has("output_lens")})
	f.figure("requests.failed", float64(c.n-s.ok)) // the summary does not count them
	f.check(r.object, s.ok)
}
