package calibrate

import (
	"cmp"
	"slices"
	"time"
)

// ManyLater is the number of requests that must overtake another one to count in Found.Overtaken: a
// few may where prompts share a step.
const ManyLater = 16

// Requests that are sent within this time of each other reach the engine in any order.
const sentTogether = 20 * time.Millisecond

// inOrder are the streams of a leg in the order in which the engine may have known of them.
func (l *steplog) inOrder() []int {
	order := make([]int, len(l.Streams))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.Streams[a].known, l.Streams[b].known) })
	return order
}

// overtaken is the share of requests before which many that were sent later had their first token.
func overtaken(logs []*steplog) float64 {
	n, all := 0, 0
	for _, l := range logs {
		order := l.inOrder()
		all += len(order)
		for i, one := range order {
			later := 0
			for _, other := range order[i+1:] {
				if l.first[other] < l.first[one] && l.Streams[other].known >= l.Streams[one].known+sentTogether {
					later++
				}
			}
			if later >= ManyLater {
				n++
			}
		}
	}
	return float64(n) / float64(max(1, all))
}

// Of two requests the lengths tell an order, if one has at least so many times the tokens to compute, and so many
// steps lie between their first tokens; of so many pairs.
const (
	muchLonger = 2
	manySteps  = 8
	leastPairs = 200
)

// An order is how short prompts are served before long ones.
type order struct {
	// Short is the share of the pairs in which the much shorter one had its first token much earlier; a half if
	// there are few.
	Short float64
	// Apart says that the shorter ones were sent later, while the longer ones waited; else both were sent together,
	// and a frontend that works on several requests at once may have changed their order.
	Apart bool
}

// orderOf is the order of pairs that waited at the same time and were sent apart, or else of pairs that were sent
// together.
func orderOf(logs []*steplog) order {
	var apart, together pairs
	for _, l := range logs {
		order := l.inOrder()
		for i, one := range order {
			a := &l.Streams[one]
			for _, other := range order[i+1:] {
				b := &l.Streams[other]
				if b.known < a.known+sentTogether {
					together.add(l, one, other)
					continue
				}
				if l.first[one] < manySteps || l.steps[l.first[one]-manySteps].end <= b.known {
					break // the first of them did not wait long enough to be overtaken
				}
				if muchLonger*(b.Prompt-b.Cached) <= a.Prompt-a.Cached {
					apart.all++
					if l.first[other]+manySteps <= l.first[one] {
						apart.short++
					}
				}
			}
		}
	}
	switch {
	case apart.all >= leastPairs:
		return order{apart.share(), true}
	case together.all >= leastPairs:
		return order{together.share(), false}
	}
	return order{Short: 0.5}
}

// pairs counts those with an order by length, and those in which the shorter one came first.
type pairs struct{ short, all int }

func (p *pairs) share() float64 { return float64(p.short) / float64(p.all) }

// add takes two requests in that were sent together.
func (p *pairs) add(l *steplog, one, other int) {
	a, b := &l.Streams[one], &l.Streams[other]
	gap, n, m := l.first[other]-l.first[one], a.Prompt-a.Cached, b.Prompt-b.Cached
	if n > m {
		gap, n, m = -gap, m, n
	}
	if m < muchLonger*n || max(gap, -gap) < manySteps {
		return
	}
	if p.all++; gap > 0 {
		p.short++
	}
}
