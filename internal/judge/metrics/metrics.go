// Package metrics holds the definitions: it turns a trace into figures.
//
// Tools that use the same words mean different things by them. Summarize gives
// Pitot's own figures; those of another tool come in as its Definitions, a value.
// Pitot's are:
//
//		        due    released    sent   first output chunk      last     done
//		─────────┼────────┼─────────┼─────────────┼─────┼─────┼─────┼───────┼──> t
//		         │                  ├──── TTFT ───┤ ITL │ ITL │ ITL │       │  service
//		         │                  ├──────────────── E2EL ─────────────────┤  time
//		         ├─────── TTFT, response time ────┤                         │
//		         ├──────────────────── E2EL, response time ─────────────────┤
//		         ├─ wait ─┤                       ├─ TPOT × (tokens-1)─┤
//
//	  - TTFT ends at the first chunk that carries output: text, reasoning, a tool
//	    call. A chunk that only names the speaker does not count.
//	  - ITL is a gap between two consecutive output chunks of a request; all gaps
//	    of all requests form one sample. A chunk may carry several tokens. A gap
//	    beside a chunk that the client read late has bounds.
//	  - TPOT is (last output chunk - first output chunk) / (streamed tokens - 1),
//	    one value a request. Tokens of reasoning that never come are not streamed.
//	  - E2EL ends with the whole answer, end marker included.
//	  - Service times run from the first byte sent. Response times run from the
//	    instant at which the schedule wanted the request, so they contain every
//	    wait in this client; they exist where there is a schedule.
//
// Latencies are over the requests that succeeded; failures are counted separately. Everything is in
// seconds.
//
// # Objectives
//
// An objective is a limit on a figure, written ttft.p99=500ms. One on a percentile is a goal
// of attainment: it is met when that share of the requests is within the limit. That share can
// be counted, pooled over runs and given an interval, which a percentile cannot.
//
//	ttft.p99=500ms    99 % of the requests have their first token within 500 ms
//	itl.p95=80ms      95 % of the gaps between chunks are at most 80 ms
//	tpot.mean=40ms    the mean over the requests is at most 40 ms
//
// Latencies are Pitot's own, of package metrics, from the first byte sent. A request that
// failed is never within a limit. One that succeeded without the figure, as a single token
// has no TPOT, does not count. A mean is of the others, and is met as long as few failed
// (metrics.HarmlessFailures).
package metrics

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Distribution is a sample in figures, in seconds. The zero value is an empty
// sample.
type Distribution struct {
	N           int          `json:"n"`
	Mean        float64      `json:"mean"`
	Std         float64      `json:"std"` // population
	Min         float64      `json:"min"`
	Median      float64      `json:"median"`
	Max         float64      `json:"max"`
	Percentiles []Percentile `json:"percentiles"`
	// MeanInterval is that of the mean, of a steady state that is long enough.
	MeanInterval *Interval `json:"mean_interval,omitempty"`
	// Bounds are what the median, the percentiles and the maximum lie within, where
	// enough of the values are known as intervals to matter; nil elsewhere.
	Bounds *Bounds `json:"bounds,omitempty"`
	// Invalid means that so many are that only the mean is to be believed.
	Invalid bool `json:"invalid,omitempty"`
	// Void means that nothing of it is to be believed: somebody between server and
	// client decided it.
	Void bool `json:"void,omitempty"`
}

// A Percentile is a point of a distribution.
type Percentile struct {
	P     float64 `json:"p"` // in percent
	Value float64 `json:"value"`
	// Short means that the sample is too small to bound this percentile: see
	// stats.SampleFor.
	Short    bool      `json:"short,omitempty"`
	Interval *Interval `json:"interval,omitempty"` // as of the mean
}

// Wants is how many values bound this percentile.
func (p Percentile) Wants() int { return stats.SampleFor(p.P) }

// Distribute sums up a sample.
func Distribute(x []float64, percentiles []float64) Distribution {
	return DistributeStream(stats.Values(x), percentiles)
}

// DistributeStream is Distribute of a sample that is in no list.
func DistributeStream(x stats.Stream, percentiles []float64) Distribution {
	return newDistribution(x.Describe(percentiles), percentiles)
}

func newDistribution(f stats.Figures, percentiles []float64) Distribution {
	d := Distribution{N: f.N, Mean: f.Mean, Std: f.Std, Min: f.Min, Median: f.Median, Max: f.Max}
	for i, p := range percentiles {
		d.Percentiles = append(d.Percentiles, Percentile{P: p, Value: f.Percentiles[i], Short: f.N < stats.SampleFor(p)})
	}
	return d
}

// At is the value of percentile p, which must be one of d's.
func (d Distribution) At(p float64) float64 {
	i := slices.IndexFunc(d.Percentiles, func(q Percentile) bool { return q.P == p })
	if i < 0 {
		return 0
	}
	return d.Percentiles[i].Value
}

// Latencies are the latency distributions of a set of requests.
type Latencies struct {
	TTFT Distribution `json:"ttft"`
	TPOT Distribution `json:"tpot"`
	ITL  Distribution `json:"itl"`
	E2EL Distribution `json:"e2el"`
}

// Between is the time from t to u in seconds.
func Between(t, u trace.Instant) float64 { return float64(u-t) / 1e9 }

// sent and due are the instants from which service and response times run.
func sent(h *head) trace.Instant { return h.sent }
func due(h *head) trace.Instant  { return h.due }

// latencies are taken from the instant that from gives, over the requests that succeeded, of those that are kept. TTFT,
// TPOT and ITL need a stream; ITL is that of a sample of the same requests. Where known is not nil, what comes after the
// first token is as there: that of the same requests from another start.
func (x *observed) latencies(keep func(*head) bool, from func(*head) trace.Instant, gaps *gapSample, known *Latencies, percentiles []float64) (l Latencies) {
	of := func(value func(*head) (float64, bool)) []float64 {
		out := make([]float64, 0, x.heads.answered)
		for h := range x.heads.all {
			if !h.ok || !from(h).Happened() || !keep(h) {
				continue
			}
			if v, ok := value(h); ok {
				out = append(out, v)
			}
		}
		return out
	}
	l.E2EL = Distribute(of(func(h *head) (float64, bool) { return Between(from(h), h.done), true }), percentiles)
	if !x.run.Plan.Stream {
		return l
	}
	l.TTFT = bounded(of, func(h *head) (measured, least, most float64, ok bool) {
		took := Between(from(h), h.first)
		return took, Between(from(h), h.firstLo), took, h.output > 0
	}, percentiles)
	if known != nil {
		l.TPOT, l.ITL = known.TPOT, known.ITL
		return l
	}
	l.TPOT = bounded(of, func(h *head) (measured, least, most float64, ok bool) {
		measured, ok = h.tpot(h.first, h.last)
		least, _ = h.tpot(h.first, h.lastLo)
		most, _ = h.tpot(h.firstLo, h.last)
		return measured, least, most, ok
	}, percentiles)
	l.ITL = gaps.distribution()
	return l
}
