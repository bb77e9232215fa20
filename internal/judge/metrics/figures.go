package metrics

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// WithDefaults adds the usual percentiles to those of a plan.
func WithDefaults(p []float64) []float64 {
	all := append(DefaultPercentiles(), p...)
	slices.Sort(all)
	return slices.Compact(all)
}

// undated leaves what a request's own clock can tell.
func undated(all []trace.ReportedFigure) []trace.ReportedFigure {
	return slices.DeleteFunc(slices.Clone(all), func(f trace.ReportedFigure) bool {
		switch figure.MetricOf(f.Name) {
		case figure.TTFT, figure.TPOT, figure.ITL, figure.Requests, figure.Duration, figure.Tokens, figure.Throughput:
			return false
		}
		return true
	})
}

// A List collects figures.
type List []trace.ReportedFigure

// Add adds a figure, if it is a number.
func (l *List) Add(name string, v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		*l = append(*l, trace.ReportedFigure{Name: name, Value: v})
	}
}

// addWithin adds a figure, if it is a number, that may be off by as much as off.
func (l *List) addWithin(name string, v, off float64) {
	l.Add(name, v)
	if n := len(*l); n > 0 && (*l)[n-1].Name == name && off > 0 {
		(*l)[n-1].Step = 2 * off
	}
}

// Distribution adds the statistics of a latency in seconds. If its percentiles are invalid, only
// the mean is added; if it is void, nothing.
func (l *List) Distribution(metric figure.Metric, d Distribution) {
	if d.N == 0 || d.Void {
		return
	}
	l.Add(metric.Mean(), d.Mean)
	if d.Invalid {
		return
	}
	l.Add(metric.Median(), d.Median)
	for _, p := range d.Percentiles {
		l.Add(metric.P(p.P), p.Value)
	}
}

// Version is that of Pitot's own definitions: figures that another version computed are computed again.
const Version = "5"

// Figures are those of the run by Pitot's own definitions, as Own makes them of its trace.
func (s Summary) Figures() []trace.ReportedFigure {
	var l List
	l.Add(figure.RequestsOK, float64(s.Requests.OK))
	l.Add(figure.RequestsFailed, float64(s.Requests.Failed))
	l.Add(figure.Duration, s.Duration)
	l.Add(figure.InputTokens, float64(s.Tokens.Input))
	if !s.Run.Plan.Silent() {
		l.Add(figure.OutputTokens, float64(s.Tokens.Output))
	}
	l.Add(figure.RequestThroughput, s.Rates.Requests)
	if s.Goodput != nil {
		l.Add(figure.Goodput, s.Goodput.Rate)
		l.Add(figure.SLOAttainment, s.Goodput.Share)
	}
	l.Add(figure.InputThroughput, s.Rates.Input)
	if s.Run.Plan.Silent() {
		l.Add(figure.TextThroughput, s.Rates.Inputs)
	} else {
		l.Add(figure.OutputThroughput, s.Rates.Output)
		l.Add(figure.TotalThroughput, s.Rates.Input+s.Rates.Output)
	}
	if s.Rates.Audio > 0 {
		l.Add(figure.RTFx, s.Rates.Audio)
	}
	l.Add(figure.PeakConcurrency, float64(s.Concurrency.Peak))
	l.Add(figure.Concurrency, s.Concurrency.Mean)
	l.Distribution(figure.TTFT, s.Service.TTFT)
	l.Distribution(figure.TPOT, s.Service.TPOT)
	l.Distribution(figure.ITL, s.Service.ITL)
	l.Distribution(figure.E2EL, s.Service.E2EL)
	s.Defects.figures(&l)
	s.Graded.figures(&l)
	s.resourceFigures(&l)
	if s.Rates.AtLeast {
		return slices.DeleteFunc(l, ofAll)
	}
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

// InOrder are the records in the order of the workload.
func InOrder(records []*trace.Record) []*trace.Record {
	return slices.SortedFunc(slices.Values(records), func(a, b *trace.Record) int { return cmp.Compare(a.Index, b.Index) })
}

// PitotSamples are the requests that succeeded by Pitot's rules, in the order of the
// workload.
func PitotSamples(t *trace.Trace) (out []Sample) {
	for i, r := range InOrder(t.Records) {
		if !Owns(r) {
			continue
		}
		s := Sample{
			Index: i, Prompt: PromptTokens(r), Tokens: r.OutputTokens,
			Start: r.Sent.Seconds(), End: r.Done.Seconds(),
		}
		s.TTFT, s.TPOT, s.E2EL = PitotLatencies(r, t.Run.Plan.Stream)
		if _, _, n := r.Output(); n > 0 && t.Run.Plan.Stream {
			s.ITL = PitotGaps(r)
		}
		out = append(out, s)
	}
	return out
}

// Owns reports whether the request of a record succeeded by Pitot's rules.
func Owns(r *trace.Record) bool { return r.OK() && r.Sent.Happened() }

// PitotLatencies are those of a request that succeeded by Pitot's definitions, from the first
// byte sent, in seconds; NaN: it has none, as an answer in one piece has no first token.
func PitotLatencies(r *trace.Record, stream bool) (ttft, perToken, e2el float64) {
	ttft, perToken = math.NaN(), math.NaN()
	if first, last, n := r.Output(); n > 0 && stream {
		ttft = Between(r.Sent, first)
		if streamed := r.Streamed(); n > 1 && streamed > 1 {
			perToken = Between(first, last) / float64(streamed-1)
		}
	}
	return ttft, perToken, Between(r.Sent, r.Done)
}

// PitotGaps are the gaps between the chunks of a record that carry output, in seconds.
func PitotGaps(r *trace.Record) []float64 {
	_, _, n := r.Output()
	if n < 2 {
		return nil
	}
	out := make([]float64, 0, n-1)
	for _, gap := range EachPitotGap(r) {
		out = append(out, gap)
	}
	return out
}

// EachPitotGap are the gaps of PitotGaps with the instants at which they ended.
func EachPitotGap(r *trace.Record) iter.Seq2[trace.Instant, float64] {
	return func(yield func(trace.Instant, float64) bool) {
		prev := trace.Never
		for i := range r.Chunks {
			c := &r.Chunks[i]
			if !c.Kind.Output() {
				continue
			}
			if prev != trace.Never && !yield(c.At, Between(prev, c.At)) {
				return
			}
			prev = c.At
		}
	}
}
