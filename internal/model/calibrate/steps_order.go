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

// Of two requests that were sent together the lengths tell an order, if one has at least so many
// times the tokens to compute, and so many steps lie between their first tokens; of so many pairs.
const (
	muchLonger = 2
	manySteps  = 8
	leastPairs = 200
)

// shortFirst is the share of pairs of requests that were sent together in which the much shorter one
// had its first token much earlier, of those in which one had; a half if there are few.
func shortFirst(logs []*steplog) float64 {
	short, all := 0, 0
	for _, l := range logs {
		order := l.inOrder()
		for i, one := range order {
			for _, other := range order[i+1:] {
				a, b := &l.Streams[one], &l.Streams[other]
				if b.known >= a.known+sentTogether {
					break
				}
				gap, n, m := l.first[other]-l.first[one], a.Prompt-a.Cached, b.Prompt-b.Cached
				if n > m {
					gap, n, m = -gap, m, n
				}
				if m < muchLonger*n || max(gap, -gap) < manySteps {
					continue
				}
				if all++; gap > 0 {
					short++
				}
			}
		}
	}
	if all < leastPairs {
		return 0.5
	}
	return float64(short) / float64(all)
}
