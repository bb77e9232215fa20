package dialect

import (
	"math"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
)

// An RPSChange is a ramp passing a whole number of requests a second.
type RPSChange struct {
	RPS int
	At  time.Time
}

// RPSChanges lists them for n requests of which the i-th is dispatched at(i).
func (a *VLLMArgs) RPSChanges(n int, started time.Time, at func(i int) time.Time) []RPSChange {
	if a.RampUpStrategy == nil {
		return nil
	}
	last := *a.RampUpStartRPS
	changes := []RPSChange{{last, started}}
	for i := range n {
		for now := int(a.rate(i, n)); last < now; {
			last++
			changes = append(changes, RPSChange{last, at(i)})
		}
	}
	return changes
}

// A jsonObjectWriter writes an object as json.dumps does: members in order of
// first mention, `, ` and `: ` between them, ASCII only. A member written twice
// keeps its place and takes the new value.
type jsonObjectWriter struct {
	names  []string
	values map[string][]byte
}

func (o *jsonObjectWriter) raw(name string, value []byte) {
	if o.values == nil {
		o.values = map[string][]byte{}
	}
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

func (o *jsonObjectWriter) str(name, v string)           { o.raw(name, jsonString(nil, v)) }
func (o *jsonObjectWriter) null(name string)             { o.raw(name, []byte("null")) }
func (o *jsonObjectWriter) float(name string, v float64) { o.raw(name, jsonFloat(nil, v)) }
func (o *jsonObjectWriter) int(name string, v int)       { o.raw(name, []byte(itoa(v))) }

func (o *jsonObjectWriter) optStr(name string, v *string) {
	if v == nil {
		o.null(name)
		return
	}
	o.str(name, *v)
}

func (o *jsonObjectWriter) optInt(name string, v *int) {
	if v == nil {
		o.null(name)
		return
	}
	o.int(name, *v)
}

func (o *jsonObjectWriter) bytes() []byte {
	b := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(jsonString(b, name), ": "...)
		b = append(b, o.values[name]...)
	}
	return append(b, '}')
}

// jsonList writes a list of n items.
func jsonList(n int, item func(b []byte, i int) []byte) []byte {
	b := []byte{'['}
	for i := range n {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = item(b, i)
	}
	return append(b, ']')
}

func jsonFloats(b []byte, x []float64) []byte {
	return append(b, jsonList(len(x), func(b []byte, i int) []byte { return jsonFloat(b, x[i]) })...)
}

// Result is the content of the result file: one JSON object without a newline.
func (r *VLLMReport) Result() []byte {
	o := new(jsonObjectWriter)
	r.setup(o)
	r.traffic(o)
	r.outcome(o)
	r.optional(o)
	for _, m := range r.printed() {
		o.float("mean_"+m.key+"_ms", m.values.Mean)
		o.float("median_"+m.key+"_ms", m.values.Median)
		o.float("std_"+m.key+"_ms", m.values.Std)
		for _, p := range m.values.Percentiles {
			o.float("p"+percentileName(p.P)+"_"+m.key+"_ms", p.Value)
		}
	}
	return o.bytes()
}

func (r *VLLMReport) setup(o *jsonObjectWriter) {
	a := r.Args
	o.str("date", r.Date)
	o.str("endpoint_type", a.Backend)
	o.str("backend", a.Backend)
	o.optStr("label", a.Label)
	o.str("model_id", r.ModelID)
	if a.SkipTokenizerInit {
		o.null("tokenizer_id")
	} else {
		o.str("tokenizer_id", r.TokenizerID)
	}
	o.int("num_prompts", a.NumPrompts)
	metadata, _ := a.metadata() // checked
	for _, kv := range metadata {
		o.str(kv[0], kv[1])
	}
}

func (r *VLLMReport) traffic(o *jsonObjectWriter) {
	a := r.Args
	if math.IsInf(a.RequestRate, 1) {
		o.str("request_rate", "inf")
	} else {
		o.float("request_rate", a.RequestRate)
	}
	o.float("burstiness", a.Burstiness)
	o.optInt("max_concurrency", a.MaxConcurrency)
	if a.RampUpStrategy != nil {
		o.str("ramp_up_strategy", *a.RampUpStrategy)
		o.int("ramp_up_start_rps", *a.RampUpStartRPS)
		o.int("ramp_up_end_rps", *a.RampUpEndRPS)
	}
}

func (r *VLLMReport) outcome(o *jsonObjectWriter) {
	v, version := r.Figures, r.version()
	o.float("duration", v.Duration)
	o.int("completed", v.Completed)
	if v.Pooling {
		r.poolingOutcome(o)
		return
	}
	goodput := "request_goodput"
	if !version.Since(metrics.VLLM2512) {
		goodput += ":" // sic
	} else {
		o.int("failed", v.Failed)
	}
	o.int("total_input_tokens", v.TotalInput)
	o.int("total_output_tokens", v.TotalOutput)
	o.float("request_throughput", v.RequestThroughput)
	if r.hasGoodput() {
		o.float(goodput, v.RequestGoodput)
	} else {
		o.null(goodput)
	}
	o.float("output_throughput", v.OutputThroughput)
	o.float("total_token_throughput", v.TotalTokenThroughput)
	r.perRequest(o)
	if version.Since(metrics.VLLM2512) {
		o.float("max_output_tokens_per_s", v.MaxOutputPerSecond)
		o.int("max_concurrent_requests", v.MaxConcurrent)
	}
	if version.Since(metrics.VLLM2608) {
		o.float("rtfx", v.RTFx)
	}
}

// poolingOutcome is the outcome of requests whose answers have no text.
func (r *VLLMReport) poolingOutcome(o *jsonObjectWriter) {
	v := r.Figures
	o.int("total_input_tokens", v.TotalInput)
	o.int("total_input_sequences", v.TotalInputs)
	o.float("request_throughput", v.RequestThroughput)
	o.float("input_sequence_throughput", v.InputThroughput)
	o.float("total_token_throughput", v.TotalTokenThroughput)
	r.perRequest(o)
}

// perRequest writes the arrays, in the order of the workload. Without
// --save-detailed only latencies and queue times are kept.
func (r *VLLMReport) perRequest(o *jsonObjectWriter) {
	q := r.Figures.Requests
	detailed, newest := r.Args.SaveDetailed, r.version().Since(metrics.VLLM2608)
	generated := detailed && !r.Figures.Pooling // there is an answer to tell of
	array := func(name string, kept bool, item func(b []byte, q *metrics.VLLMRequest) []byte) {
		if kept {
			o.raw(name, jsonList(len(q), func(b []byte, i int) []byte { return item(b, &q[i]) }))
		}
	}
	float := func(f func(q *metrics.VLLMRequest) float64) func(b []byte, q *metrics.VLLMRequest) []byte {
		return func(b []byte, q *metrics.VLLMRequest) []byte { return jsonFloat(b, f(q)) }
	}
	array("input_lens", detailed, func(b []byte, q *metrics.VLLMRequest) []byte { return append(b, itoa(q.Input)...) })
	array("output_lens", generated, func(b []byte, q *metrics.VLLMRequest) []byte { return append(b, itoa(q.Output)...) })
	array("ttfts", generated, float(func(q *metrics.VLLMRequest) float64 { return q.TTFT }))
	array("itls", generated, func(b []byte, q *metrics.VLLMRequest) []byte { return jsonFloats(b, q.ITL) })
	array("latencies", newest, float(func(q *metrics.VLLMRequest) float64 { return q.Latency }))
	array("start_times", generated && newest, float(func(q *metrics.VLLMRequest) float64 { return q.Start }))
	array("queue_times", newest, float(func(q *metrics.VLLMRequest) float64 { return q.Queue }))
	array("generated_texts", generated, func(b []byte, q *metrics.VLLMRequest) []byte { return jsonString(b, q.Text) })
	array("errors", detailed, func(b []byte, q *metrics.VLLMRequest) []byte { return jsonString(b, q.ErrorText) })
}

func (r *VLLMReport) optional(o *jsonObjectWriter) {
	newest := r.version().Since(metrics.VLLM2608)
	if p := r.Figures.Probe; p != nil && newest {
		o.int("probe_completed", p.Completed)
		o.int("probe_failed", p.Failed)
		o.float("probe_median_e2el_ms", p.Median)
		o.float("probe_p99_e2el_ms", p.P99)
		o.float("probe_max_e2el_ms", p.Max)
	}
	if c := r.RPSChanges; len(c) > 0 {
		o.raw("rps_change_events", jsonList(len(c), func(b []byte, i int) []byte {
			e := new(jsonObjectWriter)
			e.int("rps", c[i].RPS)
			e.str("timestamp", isoLocal(c[i].At))
			return append(b, e.bytes()...)
		}))
	}
	if !newest {
		return
	}
	if s := r.SpecDecode; s != nil {
		o.float("spec_decode_acceptance_rate", s.AcceptanceRate)
		o.float("spec_decode_acceptance_length", s.AcceptanceLength)
		o.int("spec_decode_num_drafts", s.Drafts)
		o.int("spec_decode_draft_tokens", s.DraftTokens)
		o.int("spec_decode_accepted_tokens", s.AcceptedTokens)
		o.raw("spec_decode_per_position_acceptance_rates", jsonFloats(nil, s.PerPosition))
	}
	if d := r.Diffusion; d != nil {
		o.float("diffusion_committed_throughput", d.CommittedThroughput)
		o.float("diffusion_steps_per_canvas", d.StepsPerCanvas)
		o.float("diffusion_committed_per_step", d.CommittedPerStep)
		o.int("diffusion_committed_tokens", d.CommittedTokens)
		o.int("diffusion_denoising_steps", int(d.DenoisingSteps))
		o.int("diffusion_canvas_positions", d.CanvasPositions)
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

// ResultFile is the path of the result file, empty if none is asked for.
func (r *VLLMReport) ResultFile() string {
	a := r.Args
	if !a.SaveResult && !a.AppendResult {
		return ""
	}
	label := a.Backend
	if a.Label != nil && *a.Label != "" {
		label = *a.Label
	}
	load := reprFloat(a.RequestRate) + "qps"
	if a.RampUpStrategy != nil {
		load = "ramp-up-" + *a.RampUpStrategy + "-" + itoa(*a.RampUpStartRPS) + "qps-" + itoa(*a.RampUpEndRPS) + "qps"
	}
	if a.MaxConcurrency != nil {
		load += "-concurrency" + itoa(*a.MaxConcurrency)
	}
	model := r.ModelID[strings.LastIndex(r.ModelID, "/")+1:]
	name := label + "-" + load + "-" + model + "-" + r.Date + ".json"
	if a.ResultFilename != nil && *a.ResultFilename != "" {
		name = *a.ResultFilename
	}
	return name
}
