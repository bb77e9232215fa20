package sim

import (
	"iter"
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

// turns are the requests that wait for the answers to others.
type turns struct {
	followers Followers
	ready     arrival.Queue[waiting] // answered
	held      arrival.Queue[waiting] // answered, of conversations that hold their place
}

// Followers are the requests that wait for the answers to others, by the position of the one that
// they wait for. The zero value has none.
type Followers struct {
	first []int32 // 1 + the position of the first follower, by position
	next  []int32 // 1 + that of the next one that waits for the same, by the position of a follower
}

// NewFollowers are those of n requests, with after as Request.After of each.
func NewFollowers(n int, after func(i int) int) (f Followers) {
	for i := n - 1; i >= 0; i-- {
		prior := after(i)
		switch {
		case prior > i:
			panic("sim: a request waits for itself or a later one")
		case prior == 0:
			continue
		case f.first == nil:
			f = Followers{make([]int32, n), make([]int32, n)}
		}
		f.next[i], f.first[prior-1] = f.first[prior-1], int32(i+1)
	}
	return f
}

// Of yields the followers of a request, in the order of their positions.
func (f *Followers) Of(position int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if f.first == nil {
			return
		}
		for i := f.first[position]; i != 0 && yield(int(i-1)); i = f.next[i-1] {
		}
	}
}

// any reports whether an answer may make a request ready.
func (t *turns) any() bool { return t.followers.first != nil }

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
