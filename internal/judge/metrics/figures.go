package metrics

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// WithDefaults adds the usual percentiles to those of a plan.
func WithDefaults(p []float64) []float64 {
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

// A List collects figures.
type List []trace.Figure

// Add adds a figure, if it is a number.
func (l *List) Add(name string, v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		*l = append(*l, trace.Figure{Name: name, Value: v})
	}
}

// Distribution adds the statistics of a latency in seconds. Of one whose
// percentiles are void only the mean is added.
func (l *List) Distribution(metric string, d Distribution) {
	if d.N == 0 {
		return
	}
	l.Add(metric+".mean", d.Mean)
	if d.Invalid {
		return
	}
	l.Add(metric+".median", d.Median)
	for _, p := range d.Percentiles {
		l.Add(metric+"."+PercentileName(p.P), p.Value)
	}
}

// PercentileName is p99 for 99 and p99.9 for 99.9.
func PercentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

func (s Summary) figures() []trace.Figure {
	var l List
	l.Add("requests.ok", float64(s.Requests.OK))
	l.Add("requests.failed", float64(s.Requests.Failed))
	l.Add("duration", s.Duration)
	l.Add("tokens.input", float64(s.Tokens.Input))
	if !s.Run.Plan.Silent() {
		l.Add("tokens.output", float64(s.Tokens.Output))
	}
	l.Add("throughput.requests", s.Rates.Requests)
	if s.Goodput != nil {
		l.Add("goodput", s.Goodput.Rate)
	}
	l.Add("throughput.input", s.Rates.Input)
	if s.Run.Plan.Silent() {
		l.Add("throughput.inputs", s.Rates.Inputs)
	} else {
		l.Add("throughput.output", s.Rates.Output)
		l.Add("throughput.total", s.Rates.Input+s.Rates.Output)
	}
	if s.Rates.Audio > 0 {
		l.Add("rtfx", s.Rates.Audio)
	}
	l.Add("peak.concurrency", float64(s.Concurrency.Peak))
	l.Add("concurrency", s.Concurrency.Mean)
	l.Distribution("ttft", s.Service.TTFT)
	l.Distribution("tpot", s.Service.TPOT)
	l.Distribution("itl", s.Service.ITL)
	l.Distribution("e2el", s.Service.E2EL)
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

// OwnSamples are the requests that succeeded by Pitot's rules, in the order of the
// workload.
func OwnSamples(t *trace.Trace) (out []Sample) {
	for i, r := range InOrder(t.Records) {
		if !r.OK() || !r.Sent.Happened() {
			continue
		}
		s := Sample{
			Index: i, Prompt: cmp.Or(r.Usage.Prompt, r.PromptTokens), Tokens: r.OutputTokens,
			Start: r.Sent.Seconds(), End: r.Done.Seconds(), E2EL: Between(r.Sent, r.Done), TTFT: math.NaN(), TPOT: math.NaN(),
		}
		if first, _, n := r.Output(); n > 0 && t.Run.Plan.Stream {
			s.TTFT = Between(r.Sent, first)
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
func outputGaps(r *trace.Record) []float64 {
	gaps := asMeasured.gaps(nil, r.Chunks)
	out := make([]float64, len(gaps))
	for i, gap := range gaps {
		out[i] = float64(gap) / 1e9
	}
	return out
}

// A Timing is a request on the clock of the Python tools, in seconds: it starts
// when the concurrency gate lets it go, before any connection is made.
type Timing struct {
	Start   float64 // since the start of the run
	TTFT    float64
	Latency float64
	ITL     []float64
}

// Busiest are the most token events within a second, and the most requests that
// touch one; seconds count from the first start. The sums are made in the order
// of those tools, since buckets cut at whole seconds.
func Busiest(timings []Timing) (events, touched int) {
	if len(timings) == 0 {
		return 0, 0
	}
	begin, end := math.Inf(1), math.Inf(-1)
	for _, q := range timings {
		begin, end = min(begin, q.Start), max(end, q.Start+q.Latency)
	}
	n := int(math.Ceil(end-begin)) + 1
	eventsIn, touching := make([]int, n), make([]int, n)
	for _, q := range timings {
		q.addEvents(eventsIn, begin)
		for s := int(q.Start - begin); s <= int(q.Start+q.Latency-begin); s++ {
			touching[s]++
		}
	}
	return slices.Max(eventsIn), slices.Max(touching)
}

func (q Timing) addEvents(buckets []int, begin float64) {
	at := q.Start + q.TTFT
	for i := -1; i < len(q.ITL); i++ {
		if i >= 0 {
			at += q.ITL[i]
		}
		if s := int(at - begin); s >= 0 && s < len(buckets) {
			buckets[s]++
		}
	}
}

// InOrder are the records in the order of the workload.
func InOrder(records []*trace.Record) []*trace.Record {
	return slices.SortedFunc(slices.Values(records), func(a, b *trace.Record) int { return cmp.Compare(a.Index, b.Index) })
}

// Sample is a request that succeeded in figures: s has its place and its tokens, and
// gets the times.
func (q Timing) Sample(s Sample) Sample {
	s.Start, s.End, s.TTFT, s.E2EL, s.TPOT = q.Start, q.Start+q.Latency, q.TTFT, q.Latency, math.NaN()
	if s.Tokens > 1 {
		s.TPOT = (q.Latency - q.TTFT) / float64(s.Tokens-1)
	}
	return s
}
