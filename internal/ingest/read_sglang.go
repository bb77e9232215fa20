package ingest

import (
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/metrics"
	"github.com/pitot-bench/pitot/internal/trace"
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
	f.sglangPlan(o)
	r.sglangRecords(f)
}

// sglangForm: today's writes the 90th percentile too.
func sglangForm(o *object) metrics.SGLangVersion {
	if hasName(o, "p90_e2e_latency_ms") {
		return metrics.SGLangMain
	}
	return metrics.SGLang2601
}

// cacheReport adds the counts of --cache-report. The storage has a name.
func (f *draft) cacheReport(o *object) {
	storage := "cache.storage"
	if name := o.text("storage_backend"); name != "" {
		storage += "." + name
	}
	for _, n := range []naming{
		{"total_prompt_tokens", "cache.prompt_tokens"}, {"total_cached_tokens", "cache.cached_tokens"},
		{"device_cached_tokens", "cache.device"}, {"host_cached_tokens", "cache.host"}, {"storage_cached_tokens", storage},
	} {
		if v, ok := o.float(n.member); ok {
			f.figure(n.figure, v)
		}
	}
	if v, ok := o.float("cache_hit_rate_pct"); ok {
		f.figure("cache.hit_rate", v/100)
	}
}

func (f *draft) sglangPlan(o *object) {
	p := &f.Run.Plan
	info := o.object("server_info")
	for _, name := range []string{"served_model_name", "model_path"} {
		if p.Model == "" {
			p.Model = info.text(name)
		}
	}
	p.Protocol = sglangProtocol(o.text("backend"))
	p.Stream = true
	p.Requests = o.int("completed")
	p.Concurrency = max(0, o.int("max_concurrency"))
	p.Rate = rate(o)
	p.Workload = sglangWorkload(o, p.Requests)
	p.Percentiles = f.percentiles()
	switch {
	case p.Rate > 0:
		p.Arrival = fmt.Sprintf("Poisson %g req/s", p.Rate)
	case o.text("request_rate") == "trace":
		p.Arrival = "as recorded"
	default:
		p.Arrival = "all at once"
	}
	f.Run.Env.Server = info.text("version")
}

// sglangProtocol is that of a backend; SGLang's own, /generate, has no name
// among ours.
func sglangProtocol(backend string) string {
	switch {
	case strings.HasSuffix(backend, "-chat"):
		return "chat"
	case backend == "sglang-oai" || backend == "vllm" || backend == "lmdeploy":
		return "completions"
	}
	return ""
}

// sglangWorkload says in words what was sent, with the lengths that belong to the
// dataset.
func sglangWorkload(o *object, n int) string {
	name := o.text("dataset_name")
	if name == "" {
		name = "unnamed"
	}
	if strings.HasPrefix(name, "random") || name == "image" {
		return fmt.Sprintf("%s %d→%d tokens, %d requests", name, o.int("random_input_len"), o.int("random_output_len"), n)
	}
	return fmt.Sprintf("%s, %d requests", name, n)
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
	p := &f.Run.Plan
	p.Requests, p.Workload = c.n, sglangWorkload(r.object, c.n)
	f.origin.Detail = trace.Undated
	f.Records = c.records(recorder{counted: c.has("output_lens")})
	f.figure("requests.failed", float64(c.n-s.ok)) // the summary does not count them
	f.check(r.object, s.ok)
}
