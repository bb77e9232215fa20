package ingest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// isVLLM knows a result of `vllm bench serve` by the counts that every one has.
func isVLLM(o *object) bool { return o.has("completed", "duration", "total_input_tokens") }

// vllmNames are the members that are figures, but for those with a statistic in
// their name.
var vllmNames = []naming{
	{"completed", "requests.ok"},
	{"failed", "requests.failed"},
	{"duration", "duration"},
	{"total_input_tokens", "tokens.input"},
	{"total_output_tokens", "tokens.output"},
	{"total_input_sequences", "sequences.input"},
	{"request_throughput", "throughput.requests"},
	{"request_goodput", "goodput"},
	{"request_goodput:", "goodput"}, // sic, in 2025
	{"input_throughput", "throughput.input"},
	{"input_sequence_throughput", "throughput.inputs"},
	{"output_throughput", "throughput.output"},
	{"total_token_throughput", "throughput.total"},
	{"max_output_tokens_per_s", "peak.output"},
	{"max_concurrent_requests", "peak.concurrency"},
	{"rtfx", "rtfx"},
	{"probe_completed", "probe.requests.ok"},
	{"probe_failed", "probe.requests.failed"},
	{"probe_median_e2el_ms", "probe.median"},
	{"probe_p99_e2el_ms", "probe.p99"},
	{"probe_max_e2el_ms", "probe.max"},
	{"spec_decode_acceptance_length", "accept_length"},
	{"spec_decode_num_drafts", "spec_decode.drafts"},
	{"spec_decode_per_position_acceptance_rates", "spec_decode.position"},
	{"diffusion_committed_throughput", "diffusion.throughput"},
}

// readVLLM reads a result, plain or detailed.
func readVLLM(r *reading) {
	f, o := r.draft("vllm"), r.object
	if v, ok := o.float("rtfx"); ok && v == 0 {
		delete(o.values, "rtfx") // of what is no speech
	}
	used := f.flat(o, vllmNames)
	if rate, ok := o.float("spec_decode_acceptance_rate"); ok {
		f.figure("spec_decode.acceptance_rate", rate/100)
		used["spec_decode_acceptance_rate"] = true
	}
	f.settings("", o, func(name string) bool {
		return used[name] || name == "date" || name == "run_number" || isColumn(name) || strings.HasPrefix(name, "rps_change_events")
	})
	f.vllmTime(o)
	f.origin.Form = string(vllmForm(o))
	f.vllmPlan(o)
	r.vllmRecords(f)
	f.vllmForeign(o)
}

func isColumn(name string) bool {
	return name == "cached_tokens_details" || slices.ContainsFunc(columnsOfRequests, func(c column) bool { return c.name == name })
}

// vllmForm is the oldest form that writes such members.
func vllmForm(o *object) vllm.Version {
	switch {
	case o.has("queue_times") || o.has("start_times") || hasName(o, "rtfx"):
		return vllm.V2608
	case o.has("max_concurrent_requests"):
		return vllm.V2512
	}
	return vllm.V2507
}

// hasName reports whether a member was there, whatever its value.
func hasName(o *object, name string) bool { return slices.Contains(o.names, name) }

// vllmTime takes the date, which is that of the end: Python writes local time,
// the client in Rust UTC.
func (f *draft) vllmTime(o *object) {
	if d, ok := o.float("duration"); ok && d >= 0 && d < maxRun {
		f.Run.End = instant(d)
	}
	date := o.text("date")
	end, err := time.ParseInLocation("20060102-150405", date, time.Local)
	if err != nil {
		end, err = time.Parse(time.RFC3339, date)
	}
	if err == nil {
		f.Run.Started = end.Add(-time.Duration(max(f.Run.End, 0)))
	}
}

func (f *draft) vllmPlan(o *object) {
	requests := o.int("completed") + o.int("failed")
	if n := o.int("num_prompts"); !o.has("failed") && n > requests {
		requests = n
	}
	f.plan(requests)
	p := &f.Run.Plan
	p.Model, p.Stream = argparse.Mask(o.text("model_id")), o.has("total_output_tokens")
}

// plan is what the settings say, in the words that tables have too: Python writes
// numbers one way in JSON and another in a Namespace.
func (f *draft) plan(requests int) {
	s := argparse.Settings{}
	for name, text := range f.origin.Setup {
		if text == "Infinity" {
			text = "inf"
		}
		s[strings.TrimPrefix(name, "args.")] = text
	}
	s["num_prompts"] = strconv.Itoa(requests)
	if s["request_rate"] == "trace" {
		s["use_trace_timestamps"] = "True"
	}
	f.Run.Plan = s.Plan(f.origin.Tool)
	f.Run.Plan.Percentiles = f.percentiles()
}

// percentiles are those that a result has of any metric.
func (f *draft) percentiles() (all []float64) {
	for _, figure := range f.origin.Figures {
		_, statistic, _ := strings.Cut(figure.Name, ".")
		if p, ok := percentile(statistic); ok && metrics.Known(figure.Name) && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// vllmRecords makes a trace of a detailed result. Whose instants it knows is
// Recorded; before 2026-08 nobody wrote down when a request started.
func (r *reading) vllmRecords(f *draft) {
	c := r.columnsOf(f)
	if c == nil {
		return
	}
	s, err := c.survey()
	if err != nil {
		r.problem(err)
		return
	}
	f.plan(c.n)
	f.Run.Plan.Model = argparse.Mask(r.object.text("model_id"))
	m := recorder{dated: c.has("start_times"), gated: f.Run.Plan.Concurrency > 0, counted: c.has("output_lens"), zero: s.zero}
	f.origin.Detail = trace.Undated
	if m.dated {
		f.origin.Detail = trace.Recorded
		f.vllmPeak(r.object, c, s)
	}
	f.Records = c.records(m)
	f.check(r.object, s.ok)
}

// vllmPeak finds the form by the peak concurrency, which is counted exactly from
// main on: where the requests that touch a second are as many as the file says,
// the older forms fit.
func (f *draft) vllmPeak(o *object, c *columns, s survey) {
	said, ok := o.float("max_concurrent_requests")
	if ok && f.origin.Form == string(vllm.V2608) && c.has("latencies") && int(said) != c.touched(s) {
		f.origin.Form = string(vllm.Main)
	}
}

// check notes where the tool counts other successes than its arrays tell.
func (f *draft) check(o *object, ok int) {
	if n, said := o.float("completed"); said && int(n) != ok {
		f.Run.Notes = append(f.Run.Notes, plan.Text(fmt.Sprintf("the file says that %g requests succeeded, but %d of its errors are empty", n, ok)))
	}
}
