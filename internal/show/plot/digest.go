package plot

import (
	"cmp"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Digest is what plots need of the records of a run: a few kilobytes, however
// many there are.
type Digest struct {
	Latencies
	Output   Flow
	Timeline Timeline
	Strips   []Strip // of a run with telemetry
}

// Latencies are the distributions of what the requests of a run took that succeeded, by Pitot's
// definitions.
type Latencies struct{ TTFT, TPOT, ITL, E2EL Quantiles }

// Quantiles are the values, in seconds, at QuantilePercents; none of nothing.
type Quantiles []float64

// A Flow is how many tokens came in each of the windows since the start of a run.
type Flow struct {
	Window float64   // s, a power of two
	Tokens []float64 // the last window may have been cut short
	End    float64   // s
}

// A Timeline is the requests of a run in the order of their sending, or every
// N-th of them.
type Timeline struct {
	Every  int
	Spans  []Span
	Failed []float64    // when failures ended, at most mostSpans of them, of all requests
	Stalls [][2]float64 // when all streams stood still
}

// A Span is a request, in seconds since the start of the run.
type Span struct {
	Row    int     // in the order of sending, from 1
	Wanted float64 // when the schedule wanted it; NaN without one
	Sent   float64
	First  float64 // token; NaN if none came
	Done   float64
	Failed bool
}

// Sizes of a digest.
const (
	mostWindows = 1024
	mostSpans   = 400 // more could not be distinguished
)

// QuantilePercents are where Quantiles are taken: closer together near the top.
func QuantilePercents() (p []float64) {
	for i := range 199 {
		p = append(p, float64(i)/2)
	}
	for i := range 10 {
		p = append(p, float64(990+i)/10)
	}
	return append(p, 99.95, 99.99, 100)
}

// NewDigest digests a run. One without records has an empty digest; one with undated requests has
// only the parts that need no common clock.
func NewDigest(t *trace.Trace) Digest {
	d := Digest{Latencies: NewLatencies(t)}
	if o := t.Run.Origin; o != nil && o.Detail != trace.Recorded {
		return d
	}
	d.Output, d.Timeline, d.Strips = flow(t), timeline(t), strips(t)
	return d
}

// NewLatencies are those of a run; none of one without records.
func NewLatencies(t *trace.Trace) Latencies {
	var ttft, tpot, e2el []float64
	add := func(to *[]float64, v float64) {
		if !math.IsNaN(v) {
			*to = append(*to, v)
		}
	}
	own := slices.DeleteFunc(slices.Clone(t.Records), func(r *trace.Record) bool { return !metrics.Owns(r) })
	for _, r := range own {
		first, token, whole := metrics.PitotLatencies(r, t.Run.Plan.Stream)
		add(&ttft, first)
		add(&tpot, token)
		add(&e2el, whole)
	}
	l := Latencies{TTFT: quantiles(ttft), TPOT: quantiles(tpot), E2EL: quantiles(e2el)}
	if t.Run.Plan.Stream {
		l.ITL = shown(metrics.DistributeGaps(own, QuantilePercents()))
	}
	return l
}

func quantiles(x []float64) Quantiles { return shown(metrics.Distribute(x, QuantilePercents())) }

func shown(d metrics.Distribution) (q Quantiles) {
	if d.N == 0 {
		return nil
	}
	for _, p := range d.Percentiles {
		q = append(q, p.Value)
	}
	return q
}

func (q Quantiles) at(percent float64) float64 { return q[slices.Index(QuantilePercents(), percent)] }

func flow(t *trace.Trace) Flow {
	f := Flow{Window: 1.0 / 64, End: metrics.Duration(t).Seconds()}
	if f.End <= 0 {
		return Flow{}
	}
	for f.End/f.Window > mostWindows {
		f.Window *= 2
	}
	f.Tokens = make([]float64, int(math.Ceil(f.End/f.Window)))
	for _, r := range t.Records {
		for at, n := range metrics.TokensByChunk(r) {
			if i := int(at.Seconds() / f.Window); i >= 0 && i < len(f.Tokens) {
				f.Tokens[i] += n
			}
		}
	}
	return f
}

func timeline(t *trace.Trace) Timeline {
	sent := slices.DeleteFunc(slices.Clone(t.Records), func(r *trace.Record) bool { return !r.Sent.Happened() || !r.Done.Happened() })
	slices.SortFunc(sent, func(a, b *trace.Record) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.Index, b.Index))
	})
	scheduled := slices.ContainsFunc(sent, func(r *trace.Record) bool { return r.Due > 0 })
	l := Timeline{Every: max(1, (len(sent)+mostSpans-1)/mostSpans)}
	for i := 0; i < len(sent); i += l.Every {
		r := sent[i]
		s := Span{Row: i + 1, Wanted: math.NaN(), Sent: r.Sent.Seconds(), First: math.NaN(), Done: r.Done.Seconds(), Failed: !r.OK()}
		if scheduled && r.Due.Happened() {
			s.Wanted = r.Due.Seconds()
		}
		if first, _, n := r.Output(); n > 0 && t.Run.Plan.Stream {
			s.First = first.Seconds()
		}
		l.Spans = append(l.Spans, s)
	}
	l.Failed = failures(t.Records)
	for _, s := range metrics.Summarize(t, metrics.Options{}).Stalls {
		l.Stalls = append(l.Stalls, [2]float64{s.From, s.To})
	}
	return l
}

// failures are the ends of failed requests, including those that were never sent; of many, as many
// as can be distinguished.
func failures(records []*trace.Record) (at []float64) {
	for _, r := range records {
		if !r.OK() && r.Done.Happened() {
			at = append(at, r.Done.Seconds())
		}
	}
	slices.Sort(at)
	if every := (len(at) + mostSpans - 1) / mostSpans; every > 1 {
		some := at[:0]
		for i := 0; i < len(at); i += every {
			some = append(some, at[i])
		}
		at = some
	}
	return at
}

// Mean is the digest of several runs of one thing together, for plots in which a line for
// each would hide all others: at each share the mean of their times, and in each window the
// mean of their tokens. It has no timeline. One run is as it is.
func Mean(runs []Digest) (out Digest) {
	if len(runs) == 1 {
		return runs[0]
	}
	var latencies []Latencies
	var flows []Flow
	for _, d := range runs {
		latencies = append(latencies, d.Latencies)
		if d.Output.Window > 0 {
			flows = append(flows, d.Output)
		}
	}
	return Digest{Latencies: MeanLatencies(latencies), Output: meanFlow(flows)}
}

// MeanLatencies are at each share the mean of those of the runs that have some.
func MeanLatencies(runs []Latencies) Latencies {
	of := func(one func(Latencies) Quantiles) Quantiles {
		var all []Quantiles
		for _, l := range runs {
			all = append(all, one(l))
		}
		return meanQuantiles(all)
	}
	return Latencies{
		TTFT: of(func(l Latencies) Quantiles { return l.TTFT }), TPOT: of(func(l Latencies) Quantiles { return l.TPOT }),
		ITL: of(func(l Latencies) Quantiles { return l.ITL }), E2EL: of(func(l Latencies) Quantiles { return l.E2EL }),
	}
}

func meanQuantiles(all []Quantiles) Quantiles {
	var sums Quantiles
	n := 0.0
	for _, q := range all {
		if len(q) == 0 {
			continue
		}
		if sums == nil {
			sums = make(Quantiles, len(q))
		}
		n++
		for i, v := range q {
			sums[i] += v
		}
	}
	for i := range sums {
		sums[i] /= n
	}
	return sums
}

// meanFlow has the widest of the windows, which are powers of two.
func meanFlow(all []Flow) (out Flow) {
	for _, f := range all {
		out.Window, out.End = max(out.Window, f.Window), max(out.End, f.End)
	}
	for _, f := range all {
		for i, tokens := range f.Tokens {
			at := int(float64(i) * f.Window / out.Window)
			for at >= len(out.Tokens) {
				out.Tokens = append(out.Tokens, 0)
			}
			out.Tokens[at] += tokens / float64(len(all))
		}
	}
	return out
}
