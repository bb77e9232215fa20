package ingest

import (
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

func isInferencePerf(o *object) bool {
	return o.object("load_summary") != nil && o.object("successes") != nil && o.object("failures") != nil
}

var inferenceTerms = []naming{{"mean", "mean"}, {"median", "median"}, {"std", "std"}, {"min", "min"}, {"max", "max"}}

var inferenceLatencies = []naming{
	{"time_to_first_token", "ttft"},
	{"time_per_output_token", "tpot"},
	{"inter_token_latency", "itl"},
	{"request_latency", "e2el"},
}

// readInferencePerf reads a summary or a stage; both have the same form.
func readInferencePerf(r *reading) {
	f, o := r.draft("inference-perf"), r.object
	f.inferenceFigures(o)
	f.settings("load.", o.object("load_summary"), func(name string) bool {
		return strings.HasPrefix(name, "load.schedule_delay") || name == "load.count" || strings.HasSuffix(name, "send_duration") || strings.HasSuffix(name, "achieved_rate")
	})
	p, load := &f.Run.Plan, o.object("load_summary")
	p.Stream = o.object("successes", "latency").has("time_to_first_token")
	p.Requests = f.requests()
	p.Percentiles = f.percentiles()
	p.Workload = plan.Text(fmt.Sprintf("%d requests", p.Requests))
	if p.Concurrency = max(0, load.int("concurrency")); p.Concurrency > 0 {
		p.Arrival = plan.Text("all at once")
	} else if rate, ok := load.float("requested_rate"); ok && rate > 0 {
		p.Rate, p.Arrival = rate, plan.Text(fmt.Sprintf("%g req/s", rate))
	}
	if d, ok := o.float("benchmark_time_seconds"); ok && d >= 0 && d < maxRun {
		f.Run.End = instant(d)
	}
	if n, ok := o.object("successes").float("token_count_mismatches"); ok && n > 0 {
		f.Run.Notes = append(f.Run.Notes, plan.Text(fmt.Sprintf("its tokenizer counts other tokens than the server in %.0f answers, and its ITL is by its own count", n)))
	}
}

func (f *draft) inferenceFigures(o *object) {
	ok := o.object("successes")
	add := func(figure string, o *object, member string) {
		if v, has := o.float(member); has {
			f.figure(figure, v)
		}
	}
	add("requests.ok", ok, "count")
	add("requests.failed", o.object("failures"), "count")
	add("duration", o, "benchmark_time_seconds")
	add("tokens.input", ok.object("prompt_tokens"), "total")
	add("tokens.output", ok.object("output_tokens"), "total")
	rates := ok.object("throughput")
	add("throughput.requests", rates, "requests_per_sec")
	add("throughput.input", rates, "input_tokens_per_sec")
	add("throughput.output", rates, "output_tokens_per_sec")
	add("throughput.total", rates, "total_tokens_per_sec")
	latency := ok.object("latency")
	for _, l := range inferenceLatencies {
		f.distribution(l.figure, latency.object(l.member), inferenceTerms, 1)
	}
	add("normalized_time_per_output_token.mean", latency.object("normalized_time_per_output_token"), "mean")
	add("schedule_delay.mean", o.object("load_summary", "schedule_delay"), "mean")
	add("send_duration", o.object("load_summary"), "send_duration")
	add("achieved_rate", o.object("load_summary"), "achieved_rate")
	add("token_count_mismatches", ok, "token_count_mismatches")
	add("cache.cached_tokens", ok.object("prompt_tokens"), "cached")
}
