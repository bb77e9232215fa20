package metrics

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Figures are those of a run by the rules of a tool: pitot, vllm or sglang, in one
// of its forms, "" for the run's own or else the newest. A run without records has
// those that its tool reported, and by other rules none; one whose requests are
// undated has by other rules only what does not need a common clock.
func Figures(t *trace.Trace, tool, form string) []trace.Figure {
	if o := t.Run.Origin; o != nil && o.Detail != trace.Recorded {
		if o.Tool == tool {
			return o.Figures
		}
		if o.Detail != trace.Undated {
			return nil
		}
		return undated(figures(t, tool, form))
	}
	return figures(t, tool, form)
}

func figures(t *trace.Trace, tool, form string) []trace.Figure {
	if form == "" && t.Run.Origin != nil && t.Run.Origin.Tool == tool {
		form = t.Run.Origin.Form
	}
	switch tool {
	case "vllm":
		return NewVLLM(t, vllmOptions(t, form)).figures()
	case "sglang":
		return NewSGLang(t, SGLangOptionsOf(t, SGLangVersion(form))).figures()
	}
	return Summarize(t, Options{}).figures()
}

func vllmOptions(t *trace.Trace, form string) VLLMOptions {
	o := VLLMOptions{Version: cmp.Or(VLLMVersion(form), VLLMMain), Percentiles: withDefaults(t.Run.Plan.Percentiles), Goodput: map[string]float64{}}
	for _, slo := range t.Run.Plan.Objectives {
		o.Goodput[slo.Metric] = slo.Limit.Seconds() * 1000
	}
	return o
}

// withDefaults adds the usual percentiles to those of a plan.
func withDefaults(p []float64) []float64 {
	all := append(DefaultPercentiles(), p...)
	slices.Sort(all)
	return slices.Compact(all)
}

// undated leaves what a request's own clock can tell.
func undated(all []trace.Figure) []trace.Figure {
	return slices.DeleteFunc(slices.Clone(all), func(f trace.Figure) bool {
		switch metric(f.Name) {
		case "ttft", "tpot", "itl", "requests", "duration", "tokens", "throughput":
			return false
		}
		return true
	})
}

// figureList collects figures.
type figureList []trace.Figure

func (l *figureList) add(name string, v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		*l = append(*l, trace.Figure{Name: name, Value: v})
	}
}

// distribution adds the statistics of a latency in seconds. Of one whose
// percentiles are void only the mean is added.
func (l *figureList) distribution(metric string, d Distribution) {
	if d.N == 0 {
		return
	}
	l.add(metric+".mean", d.Mean)
	if d.Invalid {
		return
	}
	l.add(metric+".median", d.Median)
	for _, p := range d.Percentiles {
		l.add(metric+"."+PercentileName(p.P), p.Value)
	}
}

// section adds one in milliseconds.
func (l *figureList) section(metric string, s VLLMSection) {
	l.add(metric+".mean", s.Mean/1000)
	l.add(metric+".median", s.Median/1000)
	for _, p := range s.Percentiles {
		l.add(metric+"."+PercentileName(p.P), p.Value/1000)
	}
}

// PercentileName is p99 for 99 and p99.9 for 99.9.
func PercentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

func (s Summary) figures() []trace.Figure {
	var l figureList
	l.add("requests.ok", float64(s.Requests.OK))
	l.add("requests.failed", float64(s.Requests.Failed))
	l.add("duration", s.Duration)
	l.add("tokens.input", float64(s.Tokens.Input))
	if !s.Run.Plan.Silent() {
		l.add("tokens.output", float64(s.Tokens.Output))
	}
	l.add("throughput.requests", s.Rates.Requests)
	if s.Goodput != nil {
		l.add("goodput", s.Goodput.Rate)
	}
	l.add("throughput.input", s.Rates.Input)
	if s.Run.Plan.Silent() {
		l.add("throughput.inputs", s.Rates.Inputs)
	} else {
		l.add("throughput.output", s.Rates.Output)
		l.add("throughput.total", s.Rates.Input+s.Rates.Output)
	}
	if s.Rates.Audio > 0 {
		l.add("rtfx", s.Rates.Audio)
	}
	l.add("peak.concurrency", float64(s.Concurrency.Peak))
	l.add("concurrency", s.Concurrency.Mean)
	l.distribution("ttft", s.Service.TTFT)
	l.distribution("tpot", s.Service.TPOT)
	l.distribution("itl", s.Service.ITL)
	l.distribution("e2el", s.Service.E2EL)
	return l
}

func (v VLLM) figures() []trace.Figure {
	var l figureList
	l.add("requests.ok", float64(v.Completed))
	l.add("requests.failed", float64(v.Failed))
	l.add("duration", v.Duration)
	l.add("tokens.input", float64(v.TotalInput))
	if v.Pooling {
		return v.poolingFigures(l)
	}
	l.add("tokens.output", float64(v.TotalOutput))
	l.add("throughput.requests", v.RequestThroughput)
	if v.RequestGoodput > 0 {
		l.add("goodput", v.RequestGoodput)
	}
	if v.RTFx > 0 {
		l.add("rtfx", v.RTFx)
	}
	l.add("throughput.output", v.OutputThroughput)
	l.add("throughput.total", v.TotalTokenThroughput)
	l.add("peak.output", v.MaxOutputPerSecond)
	l.add("peak.concurrency", float64(v.MaxConcurrent))
	if v.Completed > 0 {
		l.section("ttft", v.TTFT)
		l.section("tpot", v.TPOT)
		l.section("itl", v.ITL)
		l.section("e2el", v.E2EL)
	}
	return l
}

// poolingFigures follow the counts of requests and prompts where answers have no text.
func (v VLLM) poolingFigures(l figureList) []trace.Figure {
	l.add("throughput.requests", v.RequestThroughput)
	l.add("throughput.inputs", v.InputThroughput)
	l.add("throughput.total", v.TotalTokenThroughput)
	if v.Completed > 0 {
		l.section("e2el", v.E2EL)
	}
	return l
}

func (s SGLang) figures() []trace.Figure {
	var l figureList
	l.add("requests.ok", float64(s.Completed))
	l.add("duration", s.Duration)
	l.add("tokens.input", float64(s.TotalInput))
	l.add("tokens.output", float64(s.TotalOutput))
	l.add("throughput.requests", s.RequestThroughput)
	l.add("throughput.input", s.InputThroughput)
	l.add("throughput.output", s.OutputThroughput)
	l.add("throughput.total", s.TotalTokenThroughput)
	l.add("peak.output", s.MaxOutputPerSecond)
	l.add("peak.concurrency", float64(s.MaxConcurrent))
	l.add("concurrency", s.Concurrency)
	if s.AcceptLength > 0 {
		l.add("accept_length", s.AcceptLength)
	}
	l.distribution("ttft", s.TTFT)
	l.distribution("tpot", s.TPOT)
	l.distribution("itl", s.ITL)
	if s.ITL.N > 0 {
		l.add("itl.max", s.ITL.Max)
	}
	l.distribution("e2el", s.E2EL)
	return l
}

// A Sample is a request that succeeded, by the rules of a tool.
type Sample struct {
	Index            int     // in the workload
	Prompt           int     // tokens
	Tokens           int     // of the answer
	Start, End       float64 // s since the start of the run; of an undated request since its own
	TTFT, TPOT, E2EL float64 // s, NaN if it has none
	ITL              []float64
}

// Samples are the requests that succeeded, in the order in which they were sent;
// nil of a run without records.
func Samples(t *trace.Trace, tool, form string) []Sample {
	var out []Sample
	switch tool {
	case "vllm":
		for i, q := range NewVLLM(t, vllmOptions(t, form)).Requests {
			out = add(out, q.OK, q.Timing, Sample{Index: i, Prompt: q.Input, Tokens: q.Output, ITL: q.ITL})
		}
	case "sglang":
		for i, q := range NewSGLang(t, SGLangOptionsOf(t, SGLangVersion(form))).Requests {
			out = add(out, q.OK, q.Timing, Sample{Index: i, Prompt: q.Input, Tokens: q.Output, ITL: q.spread})
		}
	default:
		out = ownSamples(t)
	}
	slices.SortStableFunc(out, func(a, b Sample) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// add completes s with the timing of the Python tools.
func add(out []Sample, ok bool, q Timing, s Sample) []Sample {
	if !ok {
		return out
	}
	s.Start, s.End, s.TTFT, s.E2EL, s.TPOT = q.Start, q.Start+q.Latency, q.TTFT, q.Latency, math.NaN()
	if s.Tokens > 1 {
		s.TPOT = (q.Latency - q.TTFT) / float64(s.Tokens-1)
	}
	return append(out, s)
}

func ownSamples(t *trace.Trace) (out []Sample) {
	for i, r := range inOrder(t.Records) {
		if !r.OK() || !r.Sent.Happened() {
			continue
		}
		s := Sample{
			Index: i, Prompt: cmp.Or(r.Usage.Prompt, r.PromptTokens), Tokens: r.OutputTokens,
			Start: r.Sent.Seconds(), End: r.Done.Seconds(), E2EL: between(r.Sent, r.Done), TTFT: math.NaN(), TPOT: math.NaN(),
		}
		if first, _, n := r.Output(); n > 0 && t.Run.Plan.Stream {
			s.TTFT = between(r.Sent, first)
			if v, ok := tpot(r); ok {
				s.TPOT = v
			}
			s.ITL = outputGaps(r)
		}
		out = append(out, s)
	}
	return out
}

// outputGaps are the gaps between the chunks of a record that carry output.
func outputGaps(r *trace.Record) (out []float64) {
	prev := trace.Never
	for _, c := range r.Chunks {
		if !c.Kind.Output() {
			continue
		}
		if prev.Happened() {
			out = append(out, between(prev, c.At))
		}
		prev = c.At
	}
	return out
}
