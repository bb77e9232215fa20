package sim

import (
	"container/heap"
	"time"

	"github.com/pitot-bench/pitot/internal/trace"
)

// A waiting request is due some time.
type waiting struct {
	index     int
	due       time.Duration
	free      trace.Instant // when the conversation got the place that it holds
	scheduled bool          // by the schedule, not by an answer
}

// turns are the requests that wait for the answers to others. Its zero value is for
// runs without such requests.
type turns struct {
	followers map[int][]int // positions, by that of the request they wait for
	ready     queue         // answered
	held      queue         // answered, of conversations that hold their place
	arrived   []int         // positions, in the order in which the requests were sent; nil where that is the same
}

func newTurns(requests []Request) turns {
	var t turns
	for i := range requests {
		after := requests[i].After
		if after > i {
			panic("sim: a request waits for one that does not precede it")
		}
		if after == 0 {
			continue
		}
		if t.followers == nil {
			t.followers, t.arrived = map[int][]int{}, make([]int, 0, len(requests))
		}
		t.followers[after-1] = append(t.followers[after-1], i)
	}
	return t
}

// any tells whether an answer may make a request ready.
func (t *turns) any() bool { return t.followers != nil }

// first is what is due first: head, of the schedule, if there is more of that, or the
// first that is ready.
func (t *turns) first(head waiting, more bool) (waiting, bool) {
	if len(t.ready) > 0 && (!more || t.ready[0].due < head.due) {
		return t.ready[0], true
	}
	return head, more
}

// take removes the first that is ready.
func (t *turns) take() { heap.Pop(&t.ready) }

// arrive numbers the request at a position, the nth that is sent.
func (t *turns) arrive(position, n int) uint64 {
	if t.followers != nil {
		t.arrived = append(t.arrived, position)
	}
	return uint64(n)
}

// position is where the request stands that arrived as such.
func (t *turns) position(id uint64) int {
	if t.followers != nil {
		return t.arrived[id]
	}
	return int(id)
}

// A queue is a heap of requests, the one that is due first on top, of several the
// first in the workload.
type queue []waiting

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	if q[i].due != q[j].due {
		return q[i].due < q[j].due
	}
	return q[i].index < q[j].index
}

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *queue) Push(e any) { *q = append(*q, e.(waiting)) }

func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
