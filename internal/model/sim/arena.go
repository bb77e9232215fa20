package sim

import "github.com/pitot-bench/pitot/internal/record/trace"

// An arena allocates the chunk lists of many records together.
type arena struct{ rest []trace.Chunk }

// block is the number of chunks of an allocation, 1 MiB.
const block = 1 << 16

// take returns an empty list with capacity n.
func (a *arena) take(n int) []trace.Chunk {
	if n > block/8 {
		return make([]trace.Chunk, 0, n)
	}
	if n > len(a.rest) {
		a.rest = make([]trace.Chunk, block)
	}
	list := a.rest[:0:n]
	a.rest = a.rest[n:]
	return list
}
