package metrics

import (
	"cmp"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

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
