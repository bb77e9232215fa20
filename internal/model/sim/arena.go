package sim

import "github.com/pitot-bench/pitot/internal/record/trace"

// An Arena is the memory of the chunk lists of many records. Several runs can use one, one after
// the other. Its zero value is empty.
type Arena struct {
	rest   []trace.Chunk   // of the block in use
	blocks [][]trace.Chunk // all of them
	used   int             // of the blocks
}

// block is the number of chunks of an allocation, 1 MiB.
const block = 1 << 16

// Reset takes back all lists: the records of earlier runs must not be read any more.
func (a *Arena) Reset() { a.used, a.rest = 0, nil }

// take returns an empty list with capacity n.
func (a *Arena) take(n int) []trace.Chunk {
	if n > block/8 {
		return make([]trace.Chunk, 0, n)
	}
	if n > len(a.rest) {
		if a.used == len(a.blocks) {
			a.blocks = append(a.blocks, make([]trace.Chunk, block))
		}
		a.rest = a.blocks[a.used]
		a.used++
	}
	list := a.rest[:0:n]
	a.rest = a.rest[n:]
	return list
}
