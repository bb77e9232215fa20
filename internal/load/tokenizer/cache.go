package tokenizer

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync/atomic"
)

// A wordCache remembers the ids of words. Every word has one slot, held by the
// latest word with that hash, so the cache is bounded and needs no lock. Words of
// text repeat, and most encodings end here.
type wordCache struct {
	seed  maphash.Seed
	slots []atomic.Pointer[cachedWord]
}

type cachedWord struct {
	word string
	ids  []int32
}

const (
	cacheSlots   = 1 << 14
	maxCachedLen = 64 // bytes; longer words rarely repeat
)

func newWordCache() wordCache {
	return wordCache{maphash.MakeSeed(), make([]atomic.Pointer[cachedWord], cacheSlots)}
}

func (c *wordCache) slot(word string) *atomic.Pointer[cachedWord] {
	return &c.slots[maphash.String(c.seed, word)%cacheSlots]
}

func (c *wordCache) get(word string) ([]int32, bool) {
	if len(word) > maxCachedLen {
		return nil, false
	}
	if e := c.slot(word).Load(); e != nil && e.word == word {
		return e.ids, true
	}
	return nil, false
}

func (c *wordCache) put(word string, ids []int32) {
	if len(word) <= maxCachedLen {
		c.slot(word).Store(&cachedWord{strings.Clone(word), slices.Clone(ids)})
	}
}
