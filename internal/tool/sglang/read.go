package sglang

import (
	"cmp"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// isResult knows a line of sglang.bench_serving by the spelling of its end-to-end
// latency.
func isResult(o *result.Object) bool {
	return o.Wrote("mean_e2e_latency_ms") && o.Has("completed", "duration")
}

var resultNames = result.Names{
	{"duration", figure.Duration},
	{"completed", figure.RequestsOK},
	{"total_input_tokens", figure.InputTokens},
	{"total_input_text_tokens", figure.InputTextTokens},
	{"total_input_vision_tokens", figure.InputVisionTokens},
	{"total_output_tokens", figure.OutputTokens},
	{"total_output_tokens_retokenized", figure.RetokenizedTokens},
	{"request_throughput", figure.RequestThroughput},
	{"input_throughput", figure.InputThroughput},
	{"output_throughput", figure.OutputThroughput},
	{"total_throughput", figure.TotalThroughput},
	{"concurrency", figure.Concurrency},
	{"accept_length", figure.AcceptLength},
	{"max_output_tokens_per_s", figure.PeakOutput},
	{"max_concurrent_requests", figure.PeakConcurrency},
}

// readResult reads a line, plain or with --output-details.
func readResult(r *result.Reading) {
	f, o := r.Draft("sglang"), r.Object
	used := f.Flat(o, resultNames)
	readCache(f, o.Object("cache_report"))
	f.Settings("", o, func(name string) bool {
		return used[name] || result.IsColumn(name) || name == "cache_report" || strings.HasPrefix(name, "server_info.internal_states")
	})
	f.Origin.Form = string(oldestForm(o))
	f.Lasted(o.Float("duration"))
	readPlan(f, o, o.Int("completed"))
	readRecords(r, f)
}

// oldestForm: today's writes the 90th percentile too.
func oldestForm(o *result.Object) Version {
	if o.Wrote("p90_e2e_latency_ms") {
		return Main
	}
	return V2601
}

// readCache adds the counts of --cache-report. The storage has a name.
func readCache(f *result.PartialRun, o *result.Object) {
	storage := "cache.storage"
	if name := o.Text("storage_backend"); name != "" {
		storage += "." + name
	}
	for _, n := range [][2]string{
		{"total_prompt_tokens", "cache.prompt_tokens"},
		{"total_cached_tokens", "cache.cached_tokens"},
		{"device_cached_tokens", "cache.device"},
		{"host_cached_tokens", "cache.host"},
		{"storage_cached_tokens", storage},
	} {
		f.Add(n[1], o, n[0])
	}
	if v, ok := o.Float("cache_hit_rate_pct"); ok {
		f.Figure(figure.CacheHitRate, v/100)
	}
}

// reportedArgs are the arguments that a result tells.
func reportedArgs(f *result.PartialRun, requests int) tool.ReportedArgs {
	s := f.Args(requests)
	if s["request_rate"] == "trace" {
		s["use_trace_timestamps"] = "True"
	}
	return s
}

func readPlan(f *result.PartialRun, o *result.Object, requests int) {
	f.Run.Plan = planOf(reportedArgs(f, requests))
	f.Run.Plan.Requests = requests
	f.Run.Plan.Percentiles = f.Percentiles()
	info := o.Object("server_info")
	for _, name := range []string{"served_model_name", "model_path"} {
		f.Run.Plan.Model = cmp.Or(f.Run.Plan.Model, info.Text(name))
	}
	f.Run.Env.Server = info.Text("version")
}

// readRecords makes records of the details. That tool does not keep when a
// request started or ended, so each has its own clock and ends with its last
// chunk.
func readRecords(r *result.Reading, f *result.PartialRun) {
	c := r.Columns(f, "start_times", "latencies")
	if c == nil {
		return
	}
	readPlan(f, r.Object, c.N)
	f.Origin.Detail = trace.Undated
	f.Records = c.Records(result.Recorder{Counted: c.Has("output_lens")})
	f.Figure(figure.RequestsFailed, float64(c.N-c.OK)) // the summary does not count them
	f.Check(r.Object, c.OK)
	accepted, _ := r.Object.Float("accept_length")
	// Divided gaps depend on token counts that the file lacks.
	divides := accepted > 0 && strings.HasPrefix(r.Object.Text("backend"), "sglang-oai")
	if gap := c.LongestGap(); gap > 0 && !divides {
		f.Figure(figure.ITL.Max(), gap) // of the table, though not of the summary
	}
}
