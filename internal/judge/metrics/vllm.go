package metrics

import (
	"cmp"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A VLLMVersion is a form of `vllm bench serve`, by the month in which it was
// current. Definitions changed between them, and so did the report.
type VLLMVersion string

// The forms that differ, newest first.
const (
	// VLLMMain is ahead of the releases and counts concurrent requests exactly.
	VLLMMain VLLMVersion = "main"
	// VLLM2611, released as 0.33, counts a request as concurrent in every second
	// that it touches.
	VLLM2611 VLLMVersion = "2026-11"
	// VLLM2608, the releases 0.28 to 0.32, moreover takes every chunk of a chat for
	// a token, those that only name the speaker or the finish reason too.
	VLLM2608 VLLMVersion = "2026-08"
	// VLLM2512 moreover lets a chat's trailing usage event extend its latency, and
	// does not know probes, queue times or speculative decoding.
	VLLM2512 VLLMVersion = "2025-12"
	// VLLM2507 knows no peaks and no count of failures either, and takes prompt
	// lengths from the dataset alone.
	VLLM2507 VLLMVersion = "2025-07"
)

// VLLMVersions lists the forms, newest first.
func VLLMVersions() []VLLMVersion {
	return []VLLMVersion{VLLMMain, VLLM2611, VLLM2608, VLLM2512, VLLM2507}
}

// Since reports whether v is w or newer.
func (v VLLMVersion) Since(w VLLMVersion) bool { return v >= w }

// VLLMOptions are the choices of a command line that change figures.
type VLLMOptions struct {
	Version     VLLMVersion
	NoTokenizer bool // an answer that the server did not count has one token
	// CountsPrompts takes prompt lengths from the dataset where answers have no text.
	CountsPrompts bool
	Percentiles   []float64
	Goodput       map[string]float64 // limits in milliseconds by ttft, tpot, e2el; empty = none

	chat, responses, silent bool // of the protocol of the run
}

// VLLM is a run in the figures of `vllm bench serve`. Its clock starts when the
// concurrency gate lets a request go, before any connection is made; a token
// is an event with a choice, even an empty one; and a stream that ends without
// its marker, or with an error in it, is a success once a token came.
type VLLM struct {
	Duration             float64
	Completed, Failed    int
	TotalInput           int
	TotalOutput          int
	RequestThroughput    float64
	RequestGoodput       float64 // of the requests that met Goodput
	OutputThroughput     float64
	TotalTokenThroughput float64
	Pooling              bool    // answers have no text: there is nothing of output
	TotalInputs          int     // texts that were embedded or scored
	InputThroughput      float64 // of these
	RTFx                 float64 // seconds of sound transcribed a second
	MaxOutputPerSecond   float64 // events, in buckets of a second
	MaxConcurrent        int

	TTFT, TPOT, ITL, E2EL VLLMSection
	QueueTime             VLLMSection // due to released
	E2ELWithQueue         VLLMSection
	Probe                 *VLLMProbe
	Requests              []VLLMRequest // in the order of the workload
}

// A VLLMSection is the statistics of one metric, in milliseconds.
type VLLMSection struct {
	Mean, Median, Std float64
	Percentiles       []Percentile
}

// A VLLMProbe sums up the probe requests, in milliseconds.
type VLLMProbe struct {
	Completed, Failed int
	Median, P99, Max  float64
}

// A VLLMRequest is a request as that tool sees it, in seconds.
type VLLMRequest struct {
	Timing
	OK              bool
	Input, Output   int // tokens
	Inputs          int // texts
	Audio           float64
	Queue           float64
	Text, ErrorText string
}

// NewVLLM computes the figures.
func NewVLLM(t *trace.Trace, o VLLMOptions) VLLM {
	v := VLLM{Duration: duration(t).Seconds(), Pooling: t.Run.Plan.Silent()}
	o.chat, o.responses, o.silent = t.Run.Plan.Protocol == "chat", t.Run.Plan.Protocol == "responses", v.Pooling
	for _, r := range inOrder(t.Records) {
		v.Requests = append(v.Requests, newVLLMRequest(r, o))
	}
	v.count(o)
	v.sections(o.Percentiles)
	v.peaks(o.Version)
	v.Probe = newVLLMProbe(t.Run.Probes, o)
	return v
}

func newVLLMRequest(r *trace.Record, o VLLMOptions) VLLMRequest {
	tokens := o.tokens(r)
	q := VLLMRequest{
		OK:        o.success(r, len(tokens)),
		Input:     r.PromptTokens,
		Timing:    Timing{Start: r.Released.Seconds()},
		Queue:     r.Released.Seconds() - r.Due.Seconds(),
		Text:      r.Text,
		ErrorText: r.Error,
		Inputs:    r.Inputs,
		Audio:     r.AudioSeconds,
	}
	if o.Version.Since(VLLM2512) && r.Usage.At.Happened() && r.Usage.Prompt > 0 {
		q.Input = r.Usage.Prompt
	}
	if o.silent && !o.CountsPrompts {
		q.Input = r.Usage.Prompt
	}
	if len(tokens) == 0 {
		return q
	}
	q.TTFT = between(r.Released, tokens[0])
	for i := 1; i < len(tokens); i++ {
		q.ITL = append(q.ITL, between(tokens[i-1], tokens[i]))
	}
	if !q.OK {
		return q
	}
	q.ErrorText = ""
	q.Output = o.output(r)
	last := tokens[len(tokens)-1]
	if o.chat && !o.Version.Since(VLLM2608) {
		last = max(last, r.Usage.At)
	}
	q.Latency = between(r.Released, last)
	return q
}

// tokens are the instants of the chunks that count as tokens.
func (o VLLMOptions) tokens(r *trace.Record) []trace.Instant {
	var at []trace.Instant
	for _, c := range r.Chunks {
		spoke := c.Kind&(trace.Text|trace.Reasoning|trace.ToolCall) != 0
		if !o.chat || !o.Version.Since(VLLM2611) || spoke || c.Kind&(trace.Role|trace.Bare) == 0 {
			at = append(at, c.At)
		}
	}
	return at
}

// success: HTTP 200, a body read to its end, and a token. A stream of the responses
// protocol must have said that it is at its end, and nothing of an error.
func (o VLLMOptions) success(r *trace.Record, tokens int) bool {
	switch r.Class {
	case "":
		return tokens > 0
	case trace.Truncated, trace.StreamError:
		return tokens > 0 && !o.responses
	}
	return false
}

// output is the server's count if there is one, else that of the answer's text.
// Where no tokenizer was at hand that tool did not run, unless told to do
// without: then it takes 1.
func (o VLLMOptions) output(r *trace.Record) int {
	if o.silent {
		return 0
	}
	if o.NoTokenizer && r.CountedFrom != trace.FromUsage {
		return 1
	}
	return r.OutputTokens
}

func (v *VLLM) count(o VLLMOptions) {
	good := 0
	for _, q := range v.Requests {
		if !q.OK {
			v.Failed++
			continue
		}
		v.Completed++
		v.TotalInput += q.Input
		v.TotalOutput += q.Output
		v.TotalInputs += q.Inputs
		v.RTFx += q.Audio
		if q.meets(o.Goodput) {
			good++
		}
	}
	if v.Duration <= 0 {
		v.RTFx = 0
		return
	}
	v.InputThroughput, v.RTFx = float64(v.TotalInputs)/v.Duration, v.RTFx/v.Duration
	v.RequestThroughput = float64(v.Completed) / v.Duration
	v.OutputThroughput = float64(v.TotalOutput) / v.Duration
	v.TotalTokenThroughput = float64(v.TotalInput+v.TotalOutput) / v.Duration
	if len(o.Goodput) > 0 {
		v.RequestGoodput = float64(good) / v.Duration
	}
}

// tpot is 0 for an answer of one token.
func (q VLLMRequest) tpot() float64 {
	if q.Output <= 1 {
		return 0
	}
	return (q.Latency - q.TTFT) / float64(q.Output-1)
}

// meets compares with limits in milliseconds, inclusive.
func (q VLLMRequest) meets(limits map[string]float64) bool {
	for name, got := range map[string]float64{"ttft": q.TTFT, "tpot": q.tpot(), "e2el": q.Latency} {
		if limit, ok := limits[name]; ok && limit/1000 < got {
			return false
		}
	}
	return true
}

func (v *VLLM) sections(percentiles []float64) {
	var ttft, tpot, itl, e2el, queue, withQueue []float64
	for _, q := range v.Requests {
		if !q.OK {
			continue
		}
		ttft, itl, e2el = append(ttft, q.TTFT), append(itl, q.ITL...), append(e2el, q.Latency)
		queue, withQueue = append(queue, q.Queue), append(withQueue, q.Latency+q.Queue)
		if q.Output > 1 {
			tpot = append(tpot, q.tpot())
		}
	}
	v.TTFT, v.TPOT = newVLLMSection(ttft, percentiles), newVLLMSection(tpot, percentiles)
	v.ITL, v.E2EL = newVLLMSection(itl, percentiles), newVLLMSection(e2el, percentiles)
	v.QueueTime, v.E2ELWithQueue = newVLLMSection(queue, percentiles), newVLLMSection(withQueue, percentiles)
}

func newVLLMSection(seconds []float64, percentiles []float64) VLLMSection {
	d := Distribute(seconds, percentiles)
	s := VLLMSection{Mean: d.Mean * 1000, Median: d.Median * 1000, Std: d.Std * 1000}
	for _, p := range d.Percentiles {
		s.Percentiles = append(s.Percentiles, Percentile{P: p.P, Value: p.Value * 1000})
	}
	return s
}

// peaks fills in the largest bucket of events and the peak concurrency.
func (v *VLLM) peaks(version VLLMVersion) {
	var timings []Timing
	for _, q := range v.Requests {
		if q.OK {
			timings = append(timings, q.Timing)
		}
	}
	events, touched := busiest(timings)
	v.MaxOutputPerSecond, v.MaxConcurrent = float64(events), touched
	if version.Since(VLLMMain) {
		v.MaxConcurrent = v.sweep()
	}
}

// sweep is the most requests whose [start, end) share an instant. Instants are
// nanoseconds: a sum of seconds may end past the start of what follows it.
func (v *VLLM) sweep() int {
	type change struct {
		at    int64
		delta int
	}
	nanoseconds := func(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }
	var changes []change
	for _, q := range v.Requests {
		if q.OK {
			changes = append(changes, change{nanoseconds(q.Start), 1}, change{nanoseconds(q.Start + q.Latency), -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta))
	})
	now, peak := 0, 0
	for _, c := range changes {
		now += c.delta
		peak = max(peak, now)
	}
	return peak
}

// newVLLMProbe is nil unless a probe succeeded.
func newVLLMProbe(probes []*trace.Record, o VLLMOptions) *VLLMProbe {
	var latency []float64
	for _, r := range probes {
		if q := newVLLMRequest(r, o); q.OK {
			latency = append(latency, q.Latency)
		}
	}
	if len(latency) == 0 {
		return nil
	}
	s := stats.Sort(latency)
	return &VLLMProbe{
		Completed: len(latency),
		Failed:    len(probes) - len(latency),
		Median:    s.Median() * 1000,
		P99:       s.Percentile(99) * 1000,
		Max:       s.Max() * 1000,
	}
}
