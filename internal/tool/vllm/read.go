package vllm

import (
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// isResult knows a result of `vllm bench serve` by the counts that every one has. Those of
// sglang.bench_serving have them too, and spell the end-to-end latency another way.
func isResult(o *result.Object) bool {
	return o.Has("completed", "duration", "total_input_tokens") && !o.Wrote("mean_e2e_latency_ms")
}

// resultNames are the members that are figures, but for those with a statistic in
// their name.
var resultNames = result.Names{
	{"completed", figure.RequestsOK},
	{"failed", figure.RequestsFailed},
	{"duration", figure.Duration},
	{"total_input_tokens", figure.InputTokens},
	{"total_output_tokens", figure.OutputTokens},
	{"total_input_sequences", "sequences.input"},
	{"request_throughput", figure.RequestThroughput},
	{"request_goodput", figure.Goodput},
	{"request_goodput:", figure.Goodput}, // sic, in 2025
	{"input_throughput", figure.InputThroughput},
	{"input_sequence_throughput", figure.TextThroughput},
	{"output_throughput", figure.OutputThroughput},
	{"total_token_throughput", figure.TotalThroughput},
	{"max_output_tokens_per_s", figure.PeakOutput},
	{"max_concurrent_requests", figure.PeakConcurrency},
	{"rtfx", figure.RTFx},
	{"probe_completed", "probe.requests.ok"},
	{"probe_failed", "probe.requests.failed"},
	{"probe_median_e2el_ms", figure.Probe.Median()},
	{"probe_p99_e2el_ms", figure.Probe.P(99)},
	{"probe_max_e2el_ms", figure.Probe.Max()},
	{"spec_decode_acceptance_length", figure.AcceptLength},
	{"spec_decode_num_drafts", "spec_decode.drafts"},
	{"spec_decode_per_position_acceptance_rates", "spec_decode.position"},
	{"diffusion_committed_throughput", figure.DiffusionThroughput},
}

// readResult reads a result, plain or detailed.
func readResult(r *result.Reading) {
	f, o := r.Draft("vllm"), r.Object
	if v, ok := o.Float("rtfx"); ok && v == 0 {
		delete(o.Values, "rtfx") // of a task other than speech
	}
	used := f.Flat(o, resultNames)
	if rate, ok := o.Float("spec_decode_acceptance_rate"); ok {
		f.Figure(figure.AcceptanceRate, rate/100)
		used["spec_decode_acceptance_rate"] = true
	}
	f.Settings("", o, func(name string) bool {
		return used[name] || name == "date" || name == "run_number" || result.IsColumn(name) || strings.HasPrefix(name, "rps_change_events")
	})
	readTime(f, o)
	f.Origin.Form = string(oldestForm(o))
	readPlan(f, o)
	readRecords(r, f)
	readCommand(f, o)
}

// oldestForm is the oldest form that writes such members.
func oldestForm(o *result.Object) Version {
	switch {
	case o.Has("server_queue_times"):
		return V2611
	case o.Has("queue_times") || o.Has("start_times") || o.Wrote("rtfx"):
		return V2608
	case o.Has("max_concurrent_requests"):
		return V2512
	}
	return V2507
}

// readTime takes the date, which is that of the end: Python writes local time,
// the client in Rust UTC.
func readTime(f *result.PartialRun, o *result.Object) {
	f.Lasted(o.Float("duration"))
	date := o.Text("date")
	end, err := time.ParseInLocation("20060102-150405", date, time.Local)
	if err != nil {
		end, err = time.Parse(time.RFC3339, date)
	}
	if err == nil {
		f.Run.Started = end.Add(-time.Duration(max(f.Run.End, 0)))
	}
}

func readPlan(f *result.PartialRun, o *result.Object) {
	requests := o.Int("completed") + o.Int("failed")
	if n := o.Int("num_prompts"); !o.Has("failed") && n > requests {
		requests = n
	}
	p := &f.Run.Plan
	*p = planOf(f.Args(requests))
	p.Requests, p.Percentiles, p.Model, p.Stream = requests, f.Percentiles(), secret.Mask(o.Text("model_id")), o.Has("total_output_tokens")
}

// readRecords makes a trace of a detailed result. With instants it is Recorded; reports before
// 2026-08 have no start times.
func readRecords(r *result.Reading, f *result.PartialRun) {
	c := r.Columns(f)
	if c == nil {
		return
	}
	f.Run.Plan.Requests = c.N
	m := result.Recorder{Dated: c.Has("start_times"), Gated: f.Run.Plan.Concurrency > 0, Counted: c.Has("output_lens"), Zero: c.Zero}
	f.Origin.Detail = trace.Undated
	if m.Dated {
		f.Origin.Detail = trace.Recorded
	}
	f.Records = c.Records(m)
	f.Check(r.Object, c.OK)
}

// Format is how the tool writes results.
func Format() result.Format {
	return result.Format{
		Is: isResult, Read: readResult, Part: isBenchmark, Add: gather,
		Twice: []result.Twice{
			{File: "summary.json", Beside: "run=*.json", Reason: "the runs that it sums up are beside it, and are read one by one"},
			{File: "*.pytorch.json", Beside: "$.json", Reason: "$.json beside it has the same figures and more"},
		},
	}
}
