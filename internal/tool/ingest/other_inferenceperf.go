package ingest

import (
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// isResult knows a summary or a stage of requests. That of the server's own metrics has the same
// members, and nothing in its load.
func inferenceperfIsResult(o *result.Object) bool {
	load := o.Object("load_summary")
	return load != nil && len(load.Names) > 0 && o.Object("successes") != nil && o.Object("failures") != nil
}

var inferenceperfTerms = result.Names{{"mean", "mean"}, {"median", "median"}, {"std", "std"}, {"min", "min"}, {"max", "max"}}

var inferenceperfLatencies = result.Names{
	{"time_to_first_token", "ttft"},
	{"time_per_output_token", "tpot"},
	{"inter_token_latency", "itl"},
	{"request_latency", "e2el"},
}

// otherTokens is noticed of a result.
const otherTokens plan.Code = "import.other-tokens" // answers

// read reads a summary or a stage; both have the same form.
func inferenceperfRead(r *result.Reading) {
	f, o := r.Draft("inference-perf"), r.Object
	inferenceperfFigures(f, o)
	f.Settings("load.", o.Object("load_summary"), func(name string) bool {
		return strings.HasPrefix(name, "load.schedule_delay") || name == "load.count" || strings.HasSuffix(name, "send_duration") || strings.HasSuffix(name, "achieved_rate")
	})
	p, load := &f.Run.Plan, o.Object("load_summary")
	p.Stream = o.Object("successes", "latency").Has("time_to_first_token")
	p.Requests = f.Requests()
	p.Percentiles = f.Percentiles()
	if p.Concurrency = max(0, load.Int("concurrency")); p.Concurrency > 0 {
		p.Arrival = result.At("", 0)
	} else if rate, ok := load.Float("requested_rate"); ok && rate > 0 {
		p.Rate, p.Arrival = rate, result.At("", rate)
	}
	f.Lasted(o.Float("benchmark_time_seconds"))
	if n, ok := o.Object("successes").Float("token_count_mismatches"); ok && n > 0 {
		f.Run.Notes = append(f.Run.Notes, plan.Msg(otherTokens, "answers", n))
	}
}

func inferenceperfFigures(f *result.PartialRun, o *result.Object) {
	ok := o.Object("successes")
	f.Add(figure.RequestsOK, ok, "count")
	f.Add(figure.RequestsFailed, o.Object("failures"), "count")
	f.Add(figure.Duration, o, "benchmark_time_seconds")
	f.Add(figure.InputTokens, ok.Object("prompt_tokens"), "total")
	f.Add(figure.OutputTokens, ok.Object("output_tokens"), "total")
	rates := ok.Object("throughput")
	f.Add(figure.RequestThroughput, rates, "requests_per_sec")
	f.Add(figure.InputThroughput, rates, "input_tokens_per_sec")
	f.Add(figure.OutputThroughput, rates, "output_tokens_per_sec")
	f.Add(figure.TotalThroughput, rates, "total_tokens_per_sec")
	latency := ok.Object("latency")
	for _, l := range inferenceperfLatencies {
		f.Distribution(l[1], latency.Object(l[0]), inferenceperfTerms, 1)
	}
	f.Add("normalized_time_per_output_token.mean", latency.Object("normalized_time_per_output_token"), "mean")
	f.Add("schedule_delay.mean", o.Object("load_summary", "schedule_delay"), "mean")
	f.Add("send_duration", o.Object("load_summary"), "send_duration")
	f.Add("achieved_rate", o.Object("load_summary"), "achieved_rate")
	f.Add("token_count_mismatches", ok, "token_count_mismatches")
	f.Add("cache.cached_tokens", ok.Object("prompt_tokens"), "cached")
}

func inferenceperfFormat() result.Format {
	return result.Format{
		Is: inferenceperfIsResult, Read: inferenceperfRead,
		Explain: func(o *result.Object) string {
			switch {
			case o.Object("load_summary") != nil && o.Object("successes").Has("queue_len"):
				return "it is inference-perf's summary of what Prometheus told of the server: read summary_lifecycle_metrics.json or stage_N_lifecycle_metrics.json beside it"
			case o.Has("info", "start_time", "end_time", "request"):
				return "it is inference-perf's file of single requests: read summary_lifecycle_metrics.json or stage_N_lifecycle_metrics.json beside it"
			}
			return ""
		},
		Beside: []result.Side{{Result: "s*_lifecycle_metrics.json", Files: []string{"per_request_lifecycle_metrics.json", "*_prometheus_metrics.json", "validation.json"}}},
		Twice: []result.Twice{
			{File: "summary_lifecycle_metrics.json", Beside: "stage_*_lifecycle_metrics.json", Reason: "the stages that it sums up are beside it, and are read one by one"},
		},
	}
}

// InferencePerf is inference-perf.
func InferencePerf() tool.Tool {
	return tool.Tool{Name: "inference-perf", Program: "inference-perf", Result: inferenceperfFormat(), Definitions: metrics.Definitions{
		Tool: "inference-perf",
		Descriptions: map[figure.Metric]plan.Code{
			figure.TTFT: "definition.request-to-token", figure.TPOT: "definition.gap-mean",
			figure.ITL:  "definition.own-token-gaps",
			figure.E2EL: "definition.request-to-end",
		},
		Truth: map[figure.Metric]plan.Code{
			figure.TTFT: metrics.ToFirstToken, figure.ITL: metrics.Gaps,
			figure.TPOT: metrics.BetweenTokens, figure.E2EL: metrics.ToEnd,
		},
	}}
}
