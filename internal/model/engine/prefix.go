package engine

// A prefixCache is a pool that finds the full blocks of prompts again. A block
// is known by the hash of its tokens and all tokens before it, so equal hashes
// mean equal beginnings.
//
//	blocks  │ held by sequences          │ idle: known, held by none │ free │
//	        └ private ┴ shared ──────────┴───────────────────────────┘
//	                    └──────── known to the cache ────────────────┘
//
// Idle blocks are as good as free: the one that fell idle first is evicted when
// there is need. Of one sequence the end of the prompt falls idle first, since a
// beginning is of more use. Only prompts are cached, not answers.
type prefixCache struct {
	pool
	known blockTable
	idle  int // known blocks that nobody holds
}

// Match takes hold of the known blocks at the beginning of s's prompt.
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

// hold counts a further holder; the first takes the block from the idle ones.
func (c *prefixCache) hold(id blockID) {
	b := &c.known.blocks[id]
	if b.holders == 0 {
		c.known.unlink(id)
		c.idle--
		c.held++
	}
	b.holders++
}

// Grow takes blocks, evicting idle ones where none is free, and files the
// prompt blocks that fill up.
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

// evict forgets the block that fell idle first.
func (c *prefixCache) evict() {
	c.known.remove(c.known.first())
	c.idle--
}

// file makes the first full blocks of s's prompt known. One that is known
// already, since another sequence computes the same, stays private.
func (c *prefixCache) file(s *Seq, full int) {
	hashes := s.blockHashes(c.block)
	for full = min(full, len(hashes)); s.filed < full; s.filed++ {
		if h := hashes[s.filed]; c.known.find(h) == 0 {
			s.shared = append(s.shared, c.known.add(h))
		}
	}
}

// Release frees private blocks; shared ones without another holder fall idle.
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

// Kept is what is held, and what is idle.
func (c *prefixCache) Kept() int { return c.held + c.idle }

// Flush forgets the idle blocks.
func (c *prefixCache) Flush() {
	for c.idle > 0 {
		c.evict()
	}
}

// blockHashes are the hashes of the full blocks of the prompt, each of all
// tokens up to its end; none if the prompt is not known.
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
		h = scramble(h ^ token)
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

// FNV-1a, for 64 bits.
const (
	fnvOffset uint64 = 14695981039346656037
	fnvPrime  uint64 = 1099511628211
)
