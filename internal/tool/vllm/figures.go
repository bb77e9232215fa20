package vllm

import (
	"cmp"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/result"
)

// A Version is a form of `vllm bench serve`, by the month in which it was
// current. Definitions changed between them, and so did the report.
type Version string

// The forms that differ, newest first.
const (
	// V2611 is the newest release, 0.33.
	V2611 Version = "2026-11"
	// V2608, the releases 0.28 to 0.32, takes every chunk of a chat for a token, those
	// that only name the speaker or the finish reason too.
	V2608 Version = "2026-08"
	// V2512 moreover lets a chat's trailing usage event extend its latency, and
	// does not know probes, queue times or speculative decoding.
	V2512 Version = "2025-12"
	// V2507 knows no peaks and no count of failures either, and takes prompt
	// lengths from the dataset alone.
	V2507 Version = "2025-07"
)

// Versions lists the forms, newest first.
func Versions() []Version { return []Version{V2611, V2608, V2512, V2507} }

// Since reports whether v is w or newer.
func (v Version) Since(w Version) bool { return v >= w }

// Options are the choices of a command line that change figures.
type Options struct {
	Version     Version
	NoTokenizer bool // an answer that the server did not count has one token
	// CountsPrompts takes prompt lengths from the dataset where answers have no text.
	CountsPrompts bool
	Percentiles   []float64
	Goodput       map[string]float64 // limits in milliseconds by ttft, tpot, e2el; empty = none

	chat, responses, silent bool // of the protocol of the run
}

// Figures is a run in the figures of `vllm bench serve`. Its clock starts when the
// concurrency gate lets a request go, before any connection is made; a token
// is an event with a choice, even an empty one; and a stream that ends without
// its marker, or with an error in it, is a success once a token came.
type Figures struct {
	result.Figures
	RequestGoodput  float64 // of the requests that met Goodput
	Pooling         bool    // answers have no text: there is nothing of output
	TotalInputs     int     // texts that were embedded or scored
	InputThroughput float64 // of these
	RTFx            float64 // seconds of sound transcribed a second

	QueueTime     metrics.Distribution // due to released, in seconds
	E2ELWithQueue metrics.Distribution
	Probe         *Probe
	Requests      []Request // in the order of the workload
}

// A Probe sums up the probe requests, in seconds.
type Probe struct {
	Completed, Failed int
	Median, P99, Max  float64
}

// A Request is a request as that tool sees it.
type Request struct {
	result.Request
	Inputs int     // texts
	Audio  float64 // seconds
}

// NewFigures computes the figures.
func NewFigures(t *trace.Trace, o Options) Figures {
	v := Figures{Figures: result.Figures{Duration: metrics.Duration(t).Seconds(), Refused: result.Refusals(t.Records)}, Pooling: t.Run.Plan.Silent()}
	o.chat, o.responses, o.silent = t.Run.Plan.Protocol == "chat", t.Run.Plan.Protocol == "responses", v.Pooling
	v.Requests = make([]Request, 0, len(t.Records))
	for _, r := range metrics.InOrder(t.Records) {
		v.Requests = append(v.Requests, newRequest(r, o))
	}
	all := v.all()
	v.Sum(all, func(i int) []float64 { return all[i].ITL }, o.Percentiles)
	v.Rates()
	v.Peaks(all)
	v.count(o)
	v.Probe = newProbe(t.Run.Probes, o)
	return v
}

// all are the requests in what both tools know of them.
func (v *Figures) all() []*result.Request {
	all := make([]*result.Request, len(v.Requests))
	for i := range v.Requests {
		all[i] = &v.Requests[i].Request
	}
	return all
}

func newRequest(r *trace.Record, o Options) Request {
	first, last, tokens := o.tokens(r)
	q := Request{Inputs: r.Inputs, Audio: r.AudioSeconds, Request: result.Request{
		OK: o.success(r, tokens), Input: r.PromptTokens, Start: r.Released.Seconds(), Queue: r.Released.Seconds() - r.Due.Seconds(),
		Text: r.Text, ErrorText: r.Error,
	}}
	if r.Server != nil {
		q.ServerQueue, q.ServerTTFT = r.Server.Queue, r.Server.TTFT
	}
	if o.Version.Since(V2512) && o.reads(r) && r.Usage.Prompt > 0 {
		q.Input = r.Usage.Prompt
	}
	if o.silent && !o.CountsPrompts {
		q.Input = r.Usage.Prompt
	}
	if r.OK() && r.Quirks.Strays > 0 {
		q.ErrorText = "the answer has an event that vllm bench serve cannot read"
	}
	if tokens == 0 {
		q.Text, q.ErrorText = "", cmp.Or(q.ErrorText, "the answer has nothing that vllm bench serve takes for a token")
		return q
	}
	q.TTFT, q.ITL = metrics.Between(r.Released, first), o.gaps(r, tokens)
	if !q.OK {
		if !o.responses { // it stores the text only after the end of the answer
			q.Text = ""
		}
		return q
	}
	q.ErrorText = ""
	q.Output = o.output(r)
	if o.chat && !o.Version.Since(V2608) {
		last = max(last, r.Usage.At)
	}
	q.Latency = metrics.Between(r.Released, last)
	return q
}

// reads reports whether that tool looks where usage stood: in an event of its own, and of a chat
// in one without output.
func (o Options) reads(r *trace.Record) bool {
	return r.Usage.At.Happened() || slices.ContainsFunc(r.Chunks, func(c trace.Chunk) bool {
		return c.Kind&trace.Totals != 0 && c.Kind&trace.Commented == 0 && !o.isToken(c.Kind)
	})
}

// tokens are the first and the last instant of the chunks that count as tokens, and how many
// these are.
func (o Options) tokens(r *trace.Record) (first, last trace.Instant, n int) {
	for i := range r.Chunks {
		if c := &r.Chunks[i]; o.isToken(c.Kind) {
			if n++; n == 1 {
				first = c.At
			}
			last = c.At
		}
	}
	return first, last, n
}

// gaps are the times between the chunks that count as tokens; there may be millions of a run.
func (o Options) gaps(r *trace.Record, tokens int) []float64 {
	if tokens < 2 {
		return nil
	}
	out := make([]float64, 0, tokens-1)
	n, prev := 0, trace.Never
	for i := range r.Chunks {
		c := &r.Chunks[i]
		if !o.isToken(c.Kind) {
			continue
		}
		if n++; n > 1 {
			out = append(out, metrics.Between(prev, c.At))
		}
		prev = c.At
	}
	return out
}

// isToken reports whether that tool takes a chunk for a token: of a chat it has to speak.
func (o Options) isToken(k trace.Kind) bool {
	return k&trace.Commented == 0 && (!o.chat || !o.Version.Since(V2611) || speaks(k))
}

// speaks: the chunk has something of an answer, or nothing else explains it.
func speaks(k trace.Kind) bool {
	return k&(trace.Text|trace.Reasoning|trace.ToolCall) != 0 && k&trace.Elsewhere == 0 || k&(trace.Role|trace.Bare) == 0
}

// success: HTTP 200, a body read to its end with no event that cannot be read, and a token. A
// stream of the responses protocol must have reported its end and no error.
func (o Options) success(r *trace.Record, tokens int) bool {
	switch r.Class {
	case "", trace.Truncated, trace.StreamError:
		if r.Quirks.Strays > 0 {
			return false
		}
	}
	switch r.Class {
	case "":
		return tokens > 0
	case trace.Truncated, trace.StreamError:
		return tokens > 0 && !o.responses
	}
	return false
}

// output is the server's count if there is one, else that of the answer's text.
// Without a tokenizer that tool does not run, unless the user asks for it: then it takes 1.
func (o Options) output(r *trace.Record) int {
	if o.silent {
		return 0
	}
	if r.Refused() { // that tool believes any count
		return r.Usage.Completion
	}
	if o.NoTokenizer && r.CountedFrom != trace.FromUsage {
		return 1
	}
	return r.OutputTokens
}

func (v *Figures) count(o Options) {
	good, audio := 0, 0.0
	var queue, withQueue []float64
	for _, q := range v.Requests {
		if !q.OK {
			continue
		}
		v.TotalInputs += q.Inputs
		audio += q.Audio
		queue, withQueue = append(queue, q.Queue), append(withQueue, q.Latency+q.Queue)
		if q.meets(o.Goodput) {
			good++
		}
	}
	v.QueueTime, v.E2ELWithQueue = metrics.Distribute(queue, o.Percentiles), metrics.Distribute(withQueue, o.Percentiles)
	v.InputThroughput, v.RTFx = v.Rate(float64(v.TotalInputs)), v.Rate(audio)
	if len(o.Goodput) > 0 {
		v.RequestGoodput = v.Rate(float64(good))
	}
}

// meets compares with limits in milliseconds, inclusive.
func (q Request) meets(limits map[string]float64) bool {
	for name, got := range map[string]float64{"ttft": q.TTFT, "tpot": q.TPOT(), "e2el": q.Latency} {
		if limit, ok := limits[name]; ok && limit/1000 < got {
			return false
		}
	}
	return true
}

// newProbe is nil unless a probe succeeded.
func newProbe(probes []*trace.Record, o Options) *Probe {
	var latency []float64
	for _, r := range probes {
		if q := newRequest(r, o); q.OK {
			latency = append(latency, q.Latency)
		}
	}
	if len(latency) == 0 {
		return nil
	}
	d := metrics.Distribute(latency, []float64{99})
	return &Probe{Completed: d.N, Failed: len(probes) - d.N, Median: d.Median, P99: d.At(99), Max: d.Max}
}

func optionsOf(t *trace.Trace, form string) Options {
	o := Options{Version: cmp.Or(Version(form), V2611), Percentiles: metrics.WithDefaults(t.Run.Plan.Percentiles), Goodput: map[string]float64{}}
	for _, slo := range plan.PerRequest(t.Run.Plan.Objectives) {
		o.Goodput[slo.Metric] = slo.Limit.Std().Seconds() * 1000
	}
	return o
}

// outputFigures are those of answers with text.
var outputFigures = []string{figure.OutputTokens, figure.OutputThroughput, figure.PeakOutput, figure.PeakConcurrency}

// totals are the figures that are no statistics of latencies.
func (v *Figures) totals() metrics.List {
	l := v.List()
	l.Add(figure.RequestsFailed, float64(v.Failed))
	if v.Pooling {
		l.Add(figure.TextThroughput, v.InputThroughput)
		return slices.DeleteFunc(l, func(f trace.ReportedFigure) bool { return slices.Contains(outputFigures, f.Name) })
	}
	l.Add(figure.Goodput, v.RequestGoodput)
	l.Add(figure.RTFx, v.RTFx)
	return l
}

// latencies are those that every client can have.
func (v *Figures) latencies() []result.MetricLatency {
	all := v.Metrics()
	if v.Pooling {
		return all[3:]
	}
	return all
}

// figures are the totals that say something, and the latencies: of no second token or
// no gap at all they are zeros to that tool.
func (v *Figures) figures() []trace.ReportedFigure {
	l := slices.DeleteFunc(v.totals(), func(f trace.ReportedFigure) bool {
		return f.Value == 0 && (f.Name == figure.Goodput || f.Name == figure.RTFx)
	})
	if v.Completed == 0 {
		return l
	}
	for _, m := range v.latencies() {
		m.N = v.Completed
		l.Distribution(m.Metric, m.Distribution)
	}
	return l
}

// Definitions are the rules of the tool.
func Definitions() metrics.Definitions {
	return metrics.Definitions{
		Tool: "vllm", Figures: figuresOf, Samples: samplesOf, Native: "completions",
		// The oldest tables never had them.
		ReportsLimits: func(o *trace.Origin) bool { return o.Detail != trace.Table || o.Form != string(V2507) },
		Descriptions: map[figure.Metric]plan.Code{
			figure.TTFT: "definition.gate-to-choice", figure.TPOT: "definition.events-per-token",
			figure.ITL:  "definition.event-gaps",
			figure.E2EL: "definition.gate-to-last-choice", figure.Peak: "definition.event-peaks",
		},
		Truth: map[figure.Metric]plan.Code{
			figure.TTFT: metrics.ToFirstToken, figure.ITL: metrics.Gaps,
			figure.TPOT: metrics.BetweenTokens, figure.E2EL: metrics.ToLastToken,
		},
	}
}

func figuresOf(t *trace.Trace, form string) []trace.ReportedFigure {
	v := NewFigures(t, optionsOf(t, form))
	return v.figures()
}

func samplesOf(t *trace.Trace, form string) (out []metrics.Sample) {
	for i, q := range NewFigures(t, optionsOf(t, form)).Requests {
		if q.OK {
			out = append(out, q.Sample(i))
		}
	}
	return out
}
