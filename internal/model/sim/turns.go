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

// turns are the requests that wait for the answers to others.
type turns struct {
	followers arrival.Followers
	ready     arrival.Queue[waiting] // answered
	held      arrival.Queue[waiting] // answered, of conversations that hold their place
}

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
