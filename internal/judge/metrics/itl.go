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

// DistributeGaps sums up the gaps of PitotGaps of all the records.
func DistributeGaps(records []*trace.Record, percentiles []float64) Distribution {
	g := newGapSample(percentiles, func(*trace.Record) bool { return true })
	_ = InMemory(records).read(g)
	return newDistribution(g.of[asMeasured].Figures(percentiles, 1e9), percentiles)
}

// A gapSample is the gaps between the chunks of some of the requests, by each reading that matters. It takes all
// records again until its percentiles are known: twice or three times, or once if they are few.
type gapSample struct {
	percentiles []float64
	keep        func(*trace.Record) bool
	chunks      Chunks
	unsure      bool // there are chunks that are known as an interval

	of      [exactly + 1]*stats.Selection
	reading []reading // of the pass under way
	begun   bool      // the first one is over
	gaps    []int64
}

func newGapSample(percentiles []float64, keep func(*trace.Record) bool) *gapSample {
	g := &gapSample{percentiles: percentiles, keep: keep, reading: []reading{asMeasured}}
	g.of[asMeasured] = new(stats.Selection)
	return g
}

func (g *gapSample) add(r *trace.Record) {
	if !g.keep(r) {
		return
	}
	if !g.begun {
		g.chunks.join(chunksOf(r))
		g.unsure = g.unsure || slices.ContainsFunc(r.Chunks, func(c trace.Chunk) bool { return c.Slack > 0 })
	}
	for _, k := range g.reading {
		g.gaps = k.gaps(g.gaps[:0], r.Chunks)
		g.of[k].Add(g.gaps)
	}
}

// next ends a pass. After the first one it is known whether gaps are to have bounds.
func (g *gapSample) next() (again bool) {
	g.reading = slices.DeleteFunc(g.reading, func(k reading) bool { return !g.of[k].Next(g.percentiles) })
	if !g.begun && g.chunks.MergedShare > boundedFrom && g.unsure {
		for _, k := range []reading{atLeast, atMost, exactly} {
			g.of[k], g.reading = new(stats.Selection), append(g.reading, k)
		}
	}
	g.begun = true
	return len(g.reading) > 0
}

// A firstPass is the first pass of another one; the others are made later.
type firstPass struct{ pass }

func (p firstPass) next() bool {
	p.pass.next()
	return false
}

// distribution is that of the gaps, once all passes were made; none of none.
func (g *gapSample) distribution() Distribution {
	if g == nil {
		return Distribution{}
	}
	of := func(k reading) Distribution {
		return newDistribution(g.of[k].Figures(g.percentiles, 1e9), g.percentiles)
	}
	d := of(asMeasured)
	d.Invalid = g.chunks.MergedShare > invalidFrom
	if g.of[atLeast] != nil {
		d.Bounds = &Bounds{Share: g.chunks.MergedShare, Low: of(atLeast).quantiles(), High: of(atMost).quantiles(), Exact: of(exactly).quantiles()}
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

// bounded is the distribution of values of one an answer that depend on one or two of its chunks: as measured and, where
// enough of them are no exact values, at least and at most. of are the values of the answers.
func bounded(of func(func(*head) (float64, bool)) []float64, value func(*head) (measured, least, most float64, ok bool), percentiles []float64) Distribution {
	exact := 0
	d := Distribute(of(func(h *head) (float64, bool) {
		v, least, most, ok := value(h)
		if ok && least == most {
			exact++
		}
		return v, ok
	}), percentiles)
	share := 1 - float64(exact)/float64(max(1, d.N))
	if d.N > 0 && share > boundedFrom {
		quantiles := func(one func(*head) (float64, bool)) Quantiles { return Distribute(of(one), percentiles).quantiles() }
		d.Bounds = &Bounds{
			Share: share,
			Low:   quantiles(func(h *head) (float64, bool) { _, v, _, ok := value(h); return max(0, v), ok }),
			High:  quantiles(func(h *head) (float64, bool) { _, _, v, ok := value(h); return v, ok }),
			Exact: quantiles(func(h *head) (float64, bool) { v, least, most, ok := value(h); return v, ok && least == most }),
		}
	}
	return d
}

// earliest is when c may have come at the earliest. What closes an answer comes with
// its last chunk, and what a server put together came at one instant.
func earliest(r *trace.Record, c trace.Chunk) trace.Instant {
	if !r.Merged(c) {
		return c.At
	}
	return c.Lo()
}

func (d Distribution) quantiles() Quantiles {
	q := Quantiles{N: d.N, Median: d.Median, Max: d.Max}
	for _, p := range d.Percentiles {
		q.Percentiles = append(q.Percentiles, p.Value)
	}
	return q
}
