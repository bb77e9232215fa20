package metrics

import (
	"cmp"
	"maps"
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

// inFlight is the number of requests in flight over time. At equal instants
// departures come first.
func inFlight(records []*trace.Record) []step {
	type change struct {
		at    trace.Instant
		delta int
	}
	var changes []change
	for _, r := range records {
		if r.Released.Happened() && r.Done.Happened() {
			changes = append(changes, change{r.Released, 1}, change{r.Done, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta))
	})
	var steps []step
	n := 0
	for _, c := range changes {
		n += c.delta
		if k := len(steps); k > 0 && steps[k-1].At == c.at {
			steps[k-1].N = n
		} else {
			steps = append(steps, step{c.at, n})
		}
	}
	return steps
}

// CountConcurrency counts the requests in flight.
func CountConcurrency(records []*trace.Record) Concurrency {
	var c Concurrency
	steps := inFlight(records)
	for _, s := range steps {
		c.Peak = max(c.Peak, s.N)
	}
	if len(steps) > 1 {
		c.Mean = meanBetween(steps, steps[0].At, steps[len(steps)-1].At)
	}
	return c
}

// meanBetween is the time-weighted mean of the steps over [from, to).
func meanBetween(steps []step, from, to trace.Instant) float64 {
	if to <= from {
		return 0
	}
	area := 0.0
	each(steps, from, to, func(n int, length trace.Instant) { area += float64(n) * float64(length) })
	return area / float64(to-from)
}

// medianBetween is the time-weighted median of the steps over [from, to).
func medianBetween(steps []step, from, to trace.Instant) int {
	at := map[int]trace.Instant{}
	each(steps, from, to, func(n int, length trace.Instant) { at[n] += length })
	below := trace.Instant(0)
	for _, n := range slices.Sorted(maps.Keys(at)) {
		if below += at[n]; 2*below >= to-from {
			return n
		}
	}
	return 0
}

// each calls f for every stretch of [from, to) with its level and length.
func each(steps []step, from, to trace.Instant, f func(n int, length trace.Instant)) {
	for i, s := range steps {
		end := to
		if i+1 < len(steps) {
			end = min(to, steps[i+1].At)
		}
		if start := max(from, s.At); end > start {
			f(s.N, end-start)
		}
	}
}
