package metrics

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A chunk that the client read late is known to have come within an interval, and
// so are the gaps on both sides of it:
//
//	    a                    (Lo ──────── At]  b
//	────┼────────────────────(──────────────]────> t
//	    ├────── least ───────┤
//	    ├───────────── measured ────────────┤
//
// The sum of a request's gaps is that of its ends alone, so the mean does not depend
// on the chunks between them. Percentiles do.

// Shares of chunks that are merged (trace.Record.Merged) from which figures come
// with their bounds, and are not to be believed.
const (
	boundedFrom = 0.001
	invalidFrom = 0.01
)

// Bounds are what the figures of a sample would be if every value that is known
// as an interval was at its lower end, and at its upper; the figures of the true
// values lie between.
type Bounds struct {
	Share float64   `json:"share"` // of the chunks that are merged, or of the values that depend on one
	Low   Quantiles `json:"low"`
	High  Quantiles `json:"high"`
	Exact Quantiles `json:"exact"` // of the values that are exact, alone
}

// Quantiles are the order statistics of a sample, in seconds. Percentiles stand as
// in the Distribution that the bounds belong to.
type Quantiles struct {
	N           int       `json:"n"`
	Median      float64   `json:"median"`
	Percentiles []float64 `json:"percentiles"`
	Max         float64   `json:"max"`
}

// A reading is the value used as the gap between two chunks.
type reading int

const (
	asMeasured reading = iota
	atLeast
	atMost
	exactly // as measured, where it can be nothing else
)

// gap is the time from a to b in nanoseconds; ok is false for one that is left out.
func (r reading) gap(a, b trace.Chunk) (gap int64, ok bool) {
	switch r {
	case atLeast:
		return max(0, int64(b.Lo()-a.At)), true
	case atMost:
		return max(0, int64(b.At-a.Lo())), true
	}
	return int64(b.At - a.At), r == asMeasured || a.Slack == 0 && b.Slack == 0
}

// walk goes through the gaps between the output chunks of each record.
func (r reading) walk(records []*trace.Record) stats.Walk {
	return func(yield func([]int64) bool) {
		var gaps []int64
		for _, record := range records {
			gaps = r.gaps(gaps[:0], record.Chunks)
			if len(gaps) > 0 && !yield(gaps) {
				return
			}
		}
	}
}

// gaps appends those between the output chunks.
func (r reading) gaps(to []int64, chunks []trace.Chunk) []int64 {
	if r == asMeasured {
		return measuredGaps(to, chunks)
	}
	var prev *trace.Chunk
	for i := range chunks {
		c := &chunks[i]
		if !c.Kind.Output() {
			continue
		}
		if prev != nil {
			if gap, ok := r.gap(*prev, *c); ok {
				to = append(to, gap)
			}
		}
		prev = c
	}
	return to
}

// measuredGaps appends those that every run has, without a choice for each.
func measuredGaps(to []int64, chunks []trace.Chunk) []int64 {
	prev, first := trace.Never, true
	for i := range chunks {
		c := &chunks[i]
		if !c.Kind.Output() {
			continue
		}
		if !first {
			to = append(to, int64(c.At-prev))
		}
		prev, first = c.At, false
	}
	return to
}

func (r reading) distribution(records []*trace.Record, percentiles []float64) Distribution {
	return newDistribution(r.walk(records).Describe(percentiles, 1e9), percentiles)
}

// DistributeGaps sums up the gaps of PitotGaps of all the records.
func DistributeGaps(records []*trace.Record, percentiles []float64) Distribution {
	return asMeasured.distribution(records, percentiles)
}

// itl sums up the gaps of the records.
func itl(records []*trace.Record, percentiles []float64) Distribution {
	chunks := countChunks(records)
	d := asMeasured.distribution(records, percentiles)
	d.Invalid = chunks.MergedShare > invalidFrom
	if chunks.MergedShare > boundedFrom && slices.ContainsFunc(records, unsure) {
		of := func(r reading) Quantiles { return r.distribution(records, percentiles).quantiles() }
		d.Bounds = &Bounds{Share: chunks.MergedShare, Low: of(atLeast), High: of(atMost), Exact: of(exactly)}
	}
	return d
}

// wide reports whether the bounds say anything else than the figures themselves. The
// largest value of all is not asked: it is always that of an odd one.
func (d Distribution) wide() bool {
	if d.Bounds == nil {
		return false
	}
	far := func(low, high float64) bool { return high-low > maxWidth*high }
	for i := range d.Percentiles {
		if far(d.Bounds.Low.Percentiles[i], d.Bounds.High.Percentiles[i]) {
			return true
		}
	}
	return far(d.Bounds.Low.Median, d.Bounds.High.Median)
}

// unsure reports whether there is a chunk of r's that is known as an interval.
func unsure(r *trace.Record) bool {
	return slices.ContainsFunc(r.Chunks, func(c trace.Chunk) bool { return c.Slack > 0 })
}

// intervals are values of one an answer, that depend on one or two of its chunks:
// as measured, at least, at most, and those of them that are exact.
type intervals struct{ measured, least, most, exact []float64 }

func (v *intervals) add(measured, least, most float64) {
	v.measured, v.most = append(v.measured, measured), append(v.most, most)
	v.least = append(v.least, max(0, least))
	if least == most {
		v.exact = append(v.exact, measured)
	}
}

// addTTFT adds the time to the first output chunk.
func (v *intervals) addTTFT(start trace.Instant, r *trace.Record) {
	if first, _, n := r.Ends(); n > 0 {
		took := Between(start, first.At)
		v.add(took, Between(start, earliest(r, first)), took)
	}
}

// addTPOT adds the time per output token after the first.
func (v *intervals) addTPOT(r *trace.Record) {
	first, last, chunks := r.Ends()
	streamed := r.Streamed()
	if streamed < 2 || chunks < 2 {
		return
	}
	tokens := float64(streamed - 1)
	v.add(Between(first.At, last.At)/tokens, Between(first.At, earliest(r, last))/tokens, Between(earliest(r, first), last.At)/tokens)
}

// earliest is when c may have come at the earliest. What closes an answer comes with
// its last chunk, and what a server put together came at one instant.
func earliest(r *trace.Record, c trace.Chunk) trace.Instant {
	if !r.Merged(c) {
		return c.At
	}
	return c.Lo()
}

func (v *intervals) distribution(percentiles []float64) Distribution {
	d := Distribute(v.measured, percentiles)
	share := 1 - float64(len(v.exact))/float64(max(1, len(v.measured)))
	if d.N > 0 && share > boundedFrom {
		of := func(x []float64) Quantiles { return Distribute(x, percentiles).quantiles() }
		d.Bounds = &Bounds{Share: share, Low: of(v.least), High: of(v.most), Exact: of(v.exact)}
	}
	return d
}

func (d Distribution) quantiles() Quantiles {
	q := Quantiles{N: d.N, Median: d.Median, Max: d.Max}
	for _, p := range d.Percentiles {
		q.Percentiles = append(q.Percentiles, p.Value)
	}
	return q
}
