package trace

// An Arena is the memory of the chunk lists of many records that are needed for equally long. A list of
// its own would take up to an eighth more. Its zero value is empty.
type Arena struct {
	rest   []Chunk   // of the block in use
	blocks [][]Chunk // all of them
	used   int       // of the blocks
}

// The number of chunks of an allocation, 16 KiB to 1 MiB.
const (
	leastBlock = 1 << 10
	mostBlock  = 1 << 16
)

// Reset takes back all lists: the records that have them must not be read any more.
func (a *Arena) Reset() { a.used, a.rest = 0, nil }

// Take returns an empty list with capacity n, nil for 0.
func (a *Arena) Take(n int) []Chunk {
	if n == 0 {
		return nil
	}
	if n > mostBlock/8 {
		return make([]Chunk, 0, n)
	}
	for n > len(a.rest) {
		if a.used == len(a.blocks) {
			a.blocks = append(a.blocks, make([]Chunk, max(n, a.size())))
		}
		a.rest = a.blocks[a.used]
		a.used++
	}
	list := a.rest[:0:n]
	a.rest = a.rest[n:]
	return list
}

// size is that of the next block: the first ones are smaller, so that few records take little.
func (a *Arena) size() int {
	size := leastBlock
	for n := len(a.blocks); n > 0 && size < mostBlock; n-- {
		size *= 4
	}
	return size
}
