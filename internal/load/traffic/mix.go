package traffic

import (
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// Deal assigns n arrivals to parts, in random order. Each part has its share by weight, to
// within one arrival.
func Deal(weights []float64, n int, seed uint64) []int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	var of []int
	sum := 0.0
	for i, w := range weights {
		sum += w
		for len(of) < int(math.Round(sum/total*float64(n))) {
			of = append(of, i)
		}
	}
	dice(seed, "deal", 0).Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	return of
}

// Superpose merges schedules by time, into at most n arrivals: their due times, and the
// schedule of each. At one instant the first schedule goes first.
func Superpose(schedules []arrival.Schedule, n int) (at []time.Duration, of []int) {
	var next arrival.Queue[int]
	pulls := make([]func() (time.Duration, bool), len(schedules))
	further := func(i int) {
		if due, ok := pulls[i](); ok {
			next.Push(due, i, i)
		}
	}
	for i, s := range schedules {
		pull, stop := iter.Pull(s)
		defer stop()
		pulls[i] = pull
		further(i)
	}
	for len(at) < n && next.Len() > 0 {
		_, due, _ := next.First()
		i := next.Pop()
		at, of = append(at, due), append(of, i)
		further(i)
	}
	return at, of
}

// A Part is a workload to merge with others, under a name.
type Part struct {
	Name     string
	Requests []workload.Request
}

// MergeParts merges parts in the order of their arrivals; of is the part of each. An arrival
// is the next request of its part, or the next conversation with all of its turns. It
// ends where a part has no more; arrivals is the number of those used.
func MergeParts(parts []Part, of []int, prefix string) (requests []workload.Request, arrivals int) {
	at := make([]int, len(parts)) // next request of each part
	for _, part := range of {
		p := parts[part]
		from := at[part]
		if from == len(p.Requests) {
			break
		}
		to := from + 1
		for to < len(p.Requests) && p.Requests[to].After != 0 {
			to++
		}
		moved := len(requests) - from
		for _, r := range p.Requests[from:to] {
			if r.After != 0 {
				r.After += moved
			}
			if r.Session != "" {
				r.Session = p.Name + "/" + r.Session
			}
			r.Tenant, r.ID = p.Name, fmt.Sprint(prefix, len(requests))
			requests = append(requests, r)
		}
		at[part] = to
		arrivals++
	}
	return requests, arrivals
}
