package result

import (
	"math"
	"slices"
)

// Seconds count what happens in each second from the first start on. The sums are made in
// the order of those tools, since buckets cut at whole seconds.
type Seconds struct {
	from            float64
	events, touched []int // of touched the differences from one second to the next
}

// NewSeconds counts from the first start to the last end.
func NewSeconds(from, to float64) *Seconds {
	n := int(math.Ceil(to-from)) + 1
	return &Seconds{from, make([]int, n), make([]int, n+1)}
}

// Add counts the token events of a request, and the seconds that it touches.
func (s *Seconds) Add(q *Request) {
	s.touched[int(q.Start-s.from)]++
	s.touched[int(q.Start+q.Latency-s.from)+1]--
	at := q.Start + q.TTFT
	for i := -1; i < len(q.ITL); i++ {
		if i >= 0 {
			at += q.ITL[i]
		}
		if s, n := s.events, int(at-s.from); n >= 0 && n < len(s) {
			s[n]++
		}
	}
}

// Peaks are the most token events within a second, and the most requests that touch one.
func (s *Seconds) Peaks() (events, touched int) {
	now := 0
	for _, change := range s.touched {
		now += change
		touched = max(touched, now)
	}
	return slices.Max(s.events), touched
}

// Peaks fills in the peaks of the requests that succeeded.
func (f *Figures) Peaks(requests []*Request) {
	from, to := math.Inf(1), math.Inf(-1)
	for _, q := range requests {
		if q.OK {
			from, to = min(from, q.Start), max(to, q.Start+q.Latency)
		}
	}
	if from > to {
		return
	}
	s := NewSeconds(from, to)
	for _, q := range requests {
		if q.OK {
			s.Add(q)
		}
	}
	events, touched := s.Peaks()
	f.MaxOutputPerSecond, f.MaxConcurrent = float64(events), touched
}
