package traffic

import (
	"iter"
	"math"
	"strconv"
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
	Requests workload.List
}

// MergeParts merges parts in the order of their arrivals; of is the part of each. An arrival
// is the next request of its part, or the next conversation with all of its turns. It
// ends where a part has no more; arrivals is the number of those used.
func MergeParts(parts []Part, of []int, prefix string) (merged workload.List, arrivals int) {
	type place struct{ part, at int32 }
	var places []place
	next := make([]int, len(parts)) // request of each part
	for _, part := range of {
		all := parts[part].Requests
		from := next[part]
		if from == all.N {
			break
		}
		to := from + 1
		for to < all.N && all.Chained && all.Brief(to).After != 0 {
			to++
		}
		for i := from; i < to; i++ {
			places = append(places, place{int32(part), int32(i)})
		}
		merged.Chained = merged.Chained || to-from > 1
		next[part] = to
		arrivals++
	}
	merged.N = len(places)
	merged.Brief = func(i int) workload.Brief {
		p := places[i]
		b := parts[p.part].Requests.Brief(int(p.at))
		if b.After != 0 {
			b.After += i - int(p.at) // they stay together
		}
		return b
	}
	merged.At = func(i int) *workload.Request {
		p := places[i]
		r := *parts[p.part].Requests.At(int(p.at))
		if r.After != 0 {
			r.After += i - int(p.at)
		}
		if r.Session != "" {
			r.Session = parts[p.part].Name + "/" + r.Session
		}
		r.Tenant, r.ID = parts[p.part].Name, prefix+strconv.Itoa(i)
		return &r
	}
	return merged, arrivals
}
