package sim

import (
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A waiting request has a due time.
type waiting struct {
	index     int
	due       time.Duration
	free      trace.Instant // when the conversation got the place it holds
	scheduled bool          // by the schedule, not by an answer
}

// turns are the requests that wait for the answers to others. The zero value is for
// runs without such requests.
type turns struct {
	followers map[int][]int          // positions, by that of the request they wait for
	ready     arrival.Queue[waiting] // answered
	held      arrival.Queue[waiting] // answered, of conversations that hold their place
	arrived   []int                  // positions, in the order of sending; nil if that is the same
}

func newTurns(requests []Request) turns {
	var t turns
	for i := range requests {
		after := requests[i].After
		if after > i {
			panic("sim: a request waits for itself or a later one")
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

// any reports whether an answer may make a request ready.
func (t *turns) any() bool { return t.followers != nil }

// first returns the request that is due first: head, of the schedule, if there is
// more of it, or the first that is ready.
func (t *turns) first(head waiting, more bool) (waiting, bool) {
	if e, due, ok := t.ready.First(); ok && (!more || due < head.due) {
		return e, true
	}
	return head, more
}

// take removes e, which may no longer be first: while it waited for a place others
// may have become ready at the same instant.
func (t *turns) take(e waiting) { t.ready.Remove(e.index) }

// arrive numbers the request at a position, the nth that is sent.
func (t *turns) arrive(position, n int) uint64 {
	if t.followers != nil {
		t.arrived = append(t.arrived, position)
	}
	return uint64(n)
}

// position is the position of the request with this arrival number.
func (t *turns) position(id uint64) int {
	if t.followers != nil {
		return t.arrived[id]
	}
	return int(id)
}
