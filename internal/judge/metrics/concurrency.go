package metrics

import (
	"maps"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// Concurrency is how many requests were in flight, from released to done,
// failed ones included.
type Concurrency struct {
	Mean float64 `json:"mean"` // over the time from the first release to the last answer
	Peak int     `json:"peak"`
}

// A step of the number in flight: N from At on.
type step struct {
	At trace.Instant
	N  int
}

// A flight is when requests were released and done, each sorted: of those of which both happened.
type flight struct{ starts, ends []trace.Instant }

func (f *flight) add(released, done trace.Instant) {
	if released.Happened() && done.Happened() {
		f.starts, f.ends = append(f.starts, released), append(f.ends, done)
	}
}

func (f *flight) sort() *flight {
	slices.Sort(f.starts)
	slices.Sort(f.ends)
	return f
}

// flight is that of the run.
func (x *observed) flight() *flight {
	if x.flown == nil {
		x.flown = &flight{make([]trace.Instant, 0, x.heads.n), make([]trace.Instant, 0, x.heads.n)}
		for h := range x.heads.all {
			x.flown.add(h.released, h.done)
		}
		x.flown.sort()
	}
	return x.flown
}

// steps are the numbers in flight over time. At equal instants departures come first.
func (f *flight) steps(yield func(step) bool) {
	next := func(sorted []trace.Instant, i int) trace.Instant {
		if i < len(sorted) {
			return sorted[i]
		}
		return math.MaxInt64
	}
	for i, k := 0, 0; i < len(f.starts) || k < len(f.ends); {
		at := min(next(f.starts, i), next(f.ends, k))
		for k < len(f.ends) && f.ends[k] == at {
			k++
		}
		for i < len(f.starts) && f.starts[i] == at {
			i++
		}
		if !yield(step{at, i - k}) {
			return
		}
	}
}

// at is the number in flight at an instant.
func (f *flight) at(t trace.Instant) int { return upTo(f.starts, t) - upTo(f.ends, t) }

// concurrency counts the requests in flight.
func (f *flight) concurrency() (c Concurrency) {
	for s := range f.steps {
		c.Peak = max(c.Peak, s.N)
	}
	if n := len(f.ends); n > 0 {
		c.Mean = f.mean(min(f.starts[0], f.ends[0]), max(f.starts[n-1], f.ends[n-1]))
	}
	return c
}

// CountConcurrency counts the requests in flight.
func CountConcurrency(records []*trace.Record) Concurrency {
	var f flight
	for _, r := range records {
		f.add(r.Released, r.Done)
	}
	return f.sort().concurrency()
}

// mean is the time-weighted mean over [from, to).
func (f *flight) mean(from, to trace.Instant) float64 {
	if to <= from {
		return 0
	}
	area := 0.0
	f.each(from, to, func(n int, length trace.Instant) { area += float64(n) * float64(length) })
	return area / float64(to-from)
}

// median is the time-weighted median over [from, to).
func (f *flight) median(from, to trace.Instant) int {
	at := map[int]trace.Instant{}
	f.each(from, to, func(n int, length trace.Instant) { at[n] += length })
	below := trace.Instant(0)
	for _, n := range slices.Sorted(maps.Keys(at)) {
		if below += at[n]; 2*below >= to-from {
			return n
		}
	}
	return 0
}

// each calls do for every stretch of [from, to) with its level and length.
func (f *flight) each(from, to trace.Instant, do func(n int, length trace.Instant)) {
	last := step{At: from}
	stretch := func(end trace.Instant) {
		if start := max(from, last.At); min(to, end) > start {
			do(last.N, min(to, end)-start)
		}
	}
	begun := false
	for s := range f.steps {
		if begun {
			stretch(s.At)
		}
		last, begun = s, true
	}
	if begun {
		stretch(to)
	}
}
