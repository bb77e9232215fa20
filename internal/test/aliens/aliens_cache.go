package aliens

import "github.com/pitot-bench/pitot/internal/load/arrival"

// The size of a block of the prefix cache in tokens, and how many blocks it keeps.
const (
	cacheBlock  = 64
	cacheBlocks = 8192
)

// A cache knows beginnings of prompts by their blocks, each with all before it; the oldest are
// forgotten first. Its zero value is empty.
type cache struct {
	known map[uint64]bool
	order []uint64
}

// find is how many tokens of a prompt are in whole blocks that are known.
func (c *cache) find(prompt []int32) (n int) {
	blocks(prompt, func(key uint64) bool {
		if !c.known[key] {
			return false
		}
		n += cacheBlock
		return true
	})
	return n
}

// keep makes the blocks of a prompt known.
func (c *cache) keep(prompt []int32) {
	if c.known == nil {
		c.known = map[uint64]bool{}
	}
	blocks(prompt, func(key uint64) bool {
		if !c.known[key] {
			c.known[key] = true
			c.order = append(c.order, key)
		}
		return true
	})
	for len(c.order) > cacheBlocks {
		delete(c.known, c.order[0])
		c.order = c.order[1:]
	}
}

// blocks calls each with a key of every whole block, until it returns false.
func blocks(prompt []int32, each func(key uint64) bool) {
	key := uint64(0)
	for i, id := range prompt {
		if key = arrival.Scramble(key ^ uint64(uint32(id))); (i+1)%cacheBlock == 0 && !each(key) {
			return
		}
	}
}
