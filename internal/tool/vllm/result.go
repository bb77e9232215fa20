package vllm

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// Result is the content of the result file: one JSON object without a newline.
func (r *Report) Result() []byte {
	o := new(python.Object)
	r.setup(o)
	r.traffic(o)
	r.outcome(o)
	r.optional(o)
	for _, m := range r.printed() {
		m.Members(o)
	}
	return o.Bytes()
}

func (r *Report) setup(o *python.Object) {
	o.Set("date", r.Date)
	o.Set("endpoint_type", r.Backend)
	o.Set("backend", r.Backend)
	o.Set("label", r.Label)
	o.Set("model_id", r.model)
	o.Known("tokenizer_id", r.tokenizer, !r.SkipTokenizerInit)
	o.Set("num_prompts", r.prompts)
	metadata, _ := r.metadata() // checked
	for _, kv := range metadata {
		o.Set(kv[0], kv[1])
	}
}

func (r *Report) traffic(o *python.Object) {
	a := r.arrival
	if a.Rate == 0 {
		o.Set("request_rate", "inf")
	} else {
		o.Set("request_rate", a.Rate)
	}
	if a.Burstiness == 0 {
		a.Burstiness = math.Inf(1)
	}
	o.Set("burstiness", a.Burstiness)
	o.Known("max_concurrency", r.concurrency, r.concurrency > 0)
	if a.Ramp != "" {
		o.Set("ramp_up_strategy", a.Ramp)
		o.Set("ramp_up_start_rps", a.Start)
		o.Set("ramp_up_end_rps", a.End)
	}
}

func (r *Report) outcome(o *python.Object) {
	v, version := r.Figures, r.version
	o.Set("duration", v.Duration)
	o.Set("completed", v.Completed)
	if v.Pooling {
		r.poolingOutcome(o)
		return
	}
	goodput := "request_goodput"
	if !version.Since(V2512) {
		goodput += ":" // sic
	} else {
		o.Set("failed", v.Failed)
	}
	o.Set("total_input_tokens", v.TotalInput)
	o.Set("total_output_tokens", v.TotalOutput)
	o.Set("request_throughput", v.RequestThroughput)
	o.Known(goodput, v.RequestGoodput, r.hasGoodput())
	o.Set("output_throughput", v.OutputThroughput)
	o.Set("total_token_throughput", v.TotalTokenThroughput)
	r.perRequest(o)
	if version.Since(V2512) {
		o.Set("max_output_tokens_per_s", v.MaxOutputPerSecond)
		o.Set("max_concurrent_requests", v.MaxConcurrent)
	}
	if version.Since(V2608) {
		o.Set("rtfx", v.RTFx)
	}
	all := r.Figures.all()
	reported := r.SaveDetailed && r.version.Since(V2611) && slices.ContainsFunc(all, func(q *result.Request) bool { return q.ServerQueue != nil || q.ServerTTFT != nil })
	result.WriteColumns(o, all, func(name string) bool { return reported && strings.HasPrefix(name, "server_") })
}

// poolingOutcome is the outcome of requests without text in their answers.
func (r *Report) poolingOutcome(o *python.Object) {
	v := r.Figures
	o.Set("total_input_tokens", v.TotalInput)
	o.Set("total_input_sequences", v.TotalInputs)
	o.Set("request_throughput", v.RequestThroughput)
	o.Set("input_sequence_throughput", v.InputThroughput)
	o.Set("total_token_throughput", v.TotalTokenThroughput)
	r.perRequest(o)
}

// perRequest writes the arrays, in the order of the workload. Without --save-detailed only
// latencies and queue times are written.
func (r *Report) perRequest(o *python.Object) {
	newest := r.version.Since(V2608)
	result.WriteColumns(o, r.Figures.all(), func(name string) bool {
		switch name {
		case "latencies", "queue_times":
			return newest
		case "input_lens", "errors":
			return r.SaveDetailed
		case "start_times":
			return r.SaveDetailed && newest && !r.Figures.Pooling
		case "cached_tokens", "server_queue_times", "server_ttfts":
			return false
		}
		return r.SaveDetailed && !r.Figures.Pooling // there is an answer to tell of
	})
}

func (r *Report) optional(o *python.Object) {
	newest := r.version.Since(V2608)
	if p := r.Figures.Probe; p != nil && newest {
		o.Set("probe_completed", p.Completed)
		o.Set("probe_failed", p.Failed)
		o.Set("probe_median_e2el_ms", p.Median*1000)
		o.Set("probe_p99_e2el_ms", p.P99*1000)
		o.Set("probe_max_e2el_ms", p.Max*1000)
	}
	if c := r.RPSChanges; len(c) > 0 {
		o.Raw("rps_change_events", python.JSONList(len(c), func(b []byte, i int) []byte {
			e := new(python.Object)
			e.Set("rps", c[i].RPS)
			e.Set("timestamp", isoLocal(c[i].At))
			return append(b, e.Bytes()...)
		}))
	}
	if !newest {
		return
	}
	if s := r.SpecDecode; s != nil {
		o.Set("spec_decode_acceptance_rate", s.AcceptanceRate*100)
		o.Set("spec_decode_acceptance_length", s.AcceptanceLength)
		o.Set("spec_decode_num_drafts", s.Drafts)
		o.Set("spec_decode_draft_tokens", s.DraftTokens)
		o.Set("spec_decode_accepted_tokens", s.AcceptedTokens)
		o.Raw("spec_decode_per_position_acceptance_rates", python.AppendFloats(nil, s.PerPosition))
	}
	if d := r.Diffusion; d != nil {
		o.Set("diffusion_committed_throughput", d.CommittedThroughput)
		o.Set("diffusion_steps_per_canvas", d.StepsPerCanvas)
		o.Set("diffusion_committed_per_step", d.CommittedPerStep)
		o.Set("diffusion_committed_tokens", d.CommittedTokens)
		o.Set("diffusion_denoising_steps", int(d.DenoisingSteps))
		o.Set("diffusion_canvas_positions", d.CanvasPositions)
	}
}

// isoLocal is datetime.isoformat: microseconds, left out when they are zero.
func isoLocal(t time.Time) string {
	t = t.Local()
	if t.Nanosecond()/1000 == 0 {
		return t.Format("2006-01-02T15:04:05")
	}
	return t.Format("2006-01-02T15:04:05.000000")
}

// ResultFile is the path of the result file. It need not stand in the folder for results.
func (r *Report) ResultFile() string {
	label, a := r.Backend, r.arrival
	if python.Value(r.Label) != "" {
		label = *r.Label
	}
	load := "infqps"
	switch {
	case a.Ramp != "":
		load = fmt.Sprintf("ramp-up-%s-%dqps-%dqps", a.Ramp, a.Start, a.End)
	case a.Rate > 0:
		load = python.Float(a.Rate) + "qps"
	}
	if r.concurrency > 0 {
		load += "-concurrency" + strconv.Itoa(r.concurrency)
	}
	model := r.model[strings.LastIndex(r.model, "/")+1:]
	name := label + "-" + load + "-" + model + "-" + r.Date + ".json"
	if python.Value(r.ResultFilename) != "" {
		name = *r.ResultFilename
	}
	return name
}
