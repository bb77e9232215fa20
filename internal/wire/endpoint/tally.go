package endpoint

import (
	"sync/atomic"
	"time"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A tally counts output tokens as they come, on stripes that streams share few to each:
// no cache line is written by all of them.
type tally [64]struct {
	tokens atomic.Int64
	_      [56]byte // of its cache line
}

func (t *tally) add(rec *trace.Record, tokens int) {
	t[uint(rec.Index)%uint(len(t))].tokens.Add(int64(tokens))
}

// tallyEvery is how long a stream waits before it adds the chunks that have come: for
// most of them that costs a comparison.
const tallyEvery = int64(50 * time.Millisecond)

// Tokens is how many output tokens this client has received so far, in answers that are
// over and in those that are under way. Chunks of an answer under way count as the
// tokens they carry, or one where the server does not say; a finished answer counts as
// in its record. It may be called at any time.
func (c *Client) Tokens() int {
	var n int64
	for i := range c.tally {
		n += c.tally[i].tokens.Load()
	}
	return int(n)
}

// tallyChunks adds the chunks that came since it was last called.
func (r *reader) tallyChunks(now int64) {
	n := r.tallied
	for _, c := range r.chunks[r.talliedTo:] {
		if c.Kind.Output() {
			n += max(1, int(c.Tokens))
		}
	}
	r.talliedTo, r.talliedAt = len(r.chunks), now
	r.tallyUp(n)
}

// tallyUp makes the tally hold n tokens of this answer.
func (r *reader) tallyUp(n int) {
	r.tally.add(r.rec, n-r.tallied)
	r.tallied = n
}
