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
	known map[uint64]*entry
	idle  entryList
}

// An entry is a block that the cache knows.
type entry struct {
	hash       uint64
	holders    int
	prev, next *entry // in the list of idle ones
}

// Match takes hold of the known blocks at the beginning of s's prompt.
func (c *prefixCache) Match(s *Seq) int {
	most := (s.length - 1) / c.block
	for _, h := range s.blockHashes(c.block) {
		e := c.known[h]
		if e == nil || len(s.shared) == most {
			break
		}
		c.hold(e)
		s.shared = append(s.shared, e)
	}
	s.blocks = len(s.shared)
	s.filed = s.blocks
	s.room = s.blocks * c.block
	return s.room
}

// hold counts a further holder; the first takes e from the idle ones.
func (c *prefixCache) hold(e *entry) {
	if e.holders == 0 {
		c.idle.remove(e)
		c.held++
	}
	e.holders++
}

// Grow takes blocks, evicting idle ones where none is free, and files the
// prompt blocks that fill up.
func (c *prefixCache) Grow(s *Seq, tokens int) (Growth, bool) {
	need := c.lacks(s, tokens)
	if c.held+need > c.total {
		return Growth{}, false
	}
	for c.held+c.idle.n+need > c.total {
		delete(c.known, c.idle.popFirst().hash)
	}
	c.take(s, need)
	c.file(s, min(tokens, s.PromptTokens)/c.block)
	return Growth{Blocks: need}, true
}

// file makes the first full blocks of s's prompt known. One that is known
// already, since another sequence computes the same, stays private.
func (c *prefixCache) file(s *Seq, full int) {
	hashes := s.blockHashes(c.block)
	for full = min(full, len(hashes)); s.filed < full; s.filed++ {
		h := hashes[s.filed]
		if c.known[h] == nil {
			e := &entry{hash: h, holders: 1}
			c.known[h] = e
			s.shared = append(s.shared, e)
		}
	}
}

// Release frees private blocks; shared ones without another holder fall idle.
func (c *prefixCache) Release(s *Seq) {
	c.held -= s.blocks - len(s.shared)
	for i := len(s.shared) - 1; i >= 0; i-- {
		e := s.shared[i]
		if e.holders--; e.holders == 0 {
			c.held--
			c.idle.pushLast(e)
		}
	}
	s.blocks, s.room, s.filed, s.shared = 0, 0, 0, s.shared[:0]
}

// Kept is what is held, and what is idle.
func (c *prefixCache) Kept() int { return c.held + c.idle.n }

// Flush forgets the idle blocks.
func (c *prefixCache) Flush() {
	for c.idle.n > 0 {
		delete(c.known, c.idle.popFirst().hash)
	}
}

// An entryList holds entries in the order in which they fell idle.
type entryList struct {
	root entry // root.next is the first, root.prev the last
	n    int
}

func (l *entryList) pushLast(e *entry) {
	if l.root.next == nil {
		l.root.next, l.root.prev = &l.root, &l.root
	}
	e.prev, e.next = l.root.prev, &l.root
	e.prev.next, l.root.prev = e, e
	l.n++
}

func (l *entryList) remove(e *entry) {
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = nil, nil
	l.n--
}

func (l *entryList) popFirst() *entry {
	e := l.root.next
	l.remove(e)
	return e
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
