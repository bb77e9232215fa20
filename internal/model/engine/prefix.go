package engine

import "github.com/pitot-bench/pitot/internal/load/arrival"

// A prefixCache is a pool that reuses the full blocks of prompts. A block is
// identified by the hash of its tokens and all tokens before it, so equal hashes
// mean equal prefixes.
//
//	blocks  │ held by sequences          │ idle: known, held by none │ free │
//	        └ private ┴ shared ──────────┴───────────────────────────┘
//	                    └──────── known to the cache ────────────────┘
//
// Idle blocks count as free: the one that became idle first is evicted on demand.
// Within a sequence the end of the prompt becomes idle first, since a prefix is
// more useful. Only prompts are cached, not answers.
type prefixCache struct {
	pool
	known blockTable
	idle  int // known blocks without a holder
}

// Match holds the known blocks at the beginning of s's prompt.
func (c *prefixCache) Match(s *Seq) int {
	most := (s.length - 1) / c.block
	for _, h := range s.blockHashes(c.block) {
		id := c.known.find(h)
		if id == 0 || len(s.shared) == most {
			break
		}
		c.hold(id)
		s.shared = append(s.shared, id)
	}
	s.blocks = len(s.shared)
	s.filed = s.blocks
	s.room = s.blocks * c.block
	return s.room
}

// hold adds a holder; the first removes the block from the idle ones.
func (c *prefixCache) hold(id blockID) {
	b := &c.known.blocks[id]
	if b.holders == 0 {
		c.known.unlink(id)
		c.idle--
		c.held++
	}
	b.holders++
}

// Grow allocates blocks, evicting idle ones if none is free, and files the prompt
// blocks that become full.
func (c *prefixCache) Grow(s *Seq, tokens int) (Growth, bool) {
	need := c.lacks(s, tokens)
	if c.held+need > c.total {
		return Growth{}, false
	}
	for c.held+c.idle+need > c.total {
		c.evict()
	}
	c.take(s, need)
	c.file(s, min(tokens, s.PromptTokens)/c.block)
	return Growth{Blocks: need}, true
}

// evict removes the block that became idle first.
func (c *prefixCache) evict() {
	c.known.remove(c.known.first())
	c.idle--
}

// file makes the first full blocks of s's prompt known. A block that is already
// known, because another sequence computes the same, stays private.
func (c *prefixCache) file(s *Seq, full int) {
	hashes := s.blockHashes(c.block)
	for full = min(full, len(hashes)); s.filed < full; s.filed++ {
		if h := hashes[s.filed]; c.known.find(h) == 0 {
			s.shared = append(s.shared, c.known.add(h))
		}
	}
}

// Release frees private blocks; shared ones without another holder become idle.
func (c *prefixCache) Release(s *Seq) {
	c.held -= s.blocks - len(s.shared)
	for i := len(s.shared) - 1; i >= 0; i-- {
		b := &c.known.blocks[s.shared[i]]
		if b.holders--; b.holders == 0 {
			c.held--
			c.idle++
			c.known.linkLast(s.shared[i])
		}
	}
	s.blocks, s.room, s.filed, s.shared = 0, 0, 0, s.shared[:0]
}

// Allocated is the number of held and idle blocks.
func (c *prefixCache) Allocated() int { return c.held + c.idle }

// Flush removes the idle blocks.
func (c *prefixCache) Flush() {
	for c.idle > 0 {
		c.evict()
	}
}

// blockHashes are the hashes of the full blocks of the prompt, each over all tokens
// up to its end; nil if the prompt is unknown.
func (s *Seq) blockHashes(block int) []uint64 {
	if !s.hashed {
		s.hashes, s.hashed = s.hashBlocks(block), true
	}
	return s.hashes
}

func (s *Seq) hashBlocks(block int) []uint64 {
	if s.Prompt == nil || len(s.Prompt) != s.firstImage() {
		return nil
	}
	h := fnvOffset
	for _, b := range []byte(s.Adapter) {
		h = (h ^ uint64(b)) * fnvPrime
	}
	hashes := make([]uint64, 0, s.PromptTokens/block)
	n := 0
	add := func(token uint64) {
		h = arrival.Scramble(h ^ token)
		if n++; n%block == 0 {
			hashes = append(hashes, h)
		}
	}
	for _, id := range s.Prompt {
		add(uint64(uint32(id)))
	}
	for _, i := range s.Images {
		for k := range i.Tokens {
			add(i.Hash + uint64(k))
		}
	}
	return hashes
}

// FNV-1a with 64 bits.
const (
	fnvOffset uint64 = 14695981039346656037
	fnvPrime  uint64 = 1099511628211
)
