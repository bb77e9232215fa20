package engine

// A blockTable holds the blocks known to a prefix cache: by hash, and the idle ones
// in the order in which they became idle. There may be millions, one per token, so
// they are in one array without pointers, and removed ones are reused. The zero
// value is empty.
type blockTable struct {
	blocks  []knownBlock // by blockID; number 0 is the root of the idle ones
	buckets []blockID    // by the low bits of the hash, the first of a chain
	removed blockID      // the first of a chain
	n       int
}

// A blockID is an index into a blockTable; 0 is none.
type blockID int32

// A knownBlock is in the chain of its bucket, or in that of the removed ones, and,
// if it has no holder, in the ring of the idle ones.
type knownBlock struct {
	hash       uint64
	holders    int32
	chain      blockID
	prev, next blockID
}

// bucket is the start of the chain of a hash. Hashes are already scrambled.
func (t *blockTable) bucket(hash uint64) *blockID {
	return &t.buckets[hash&uint64(len(t.buckets)-1)]
}

// find returns 0 for an unknown hash.
func (t *blockTable) find(hash uint64) blockID {
	if t.n == 0 {
		return 0
	}
	id := *t.bucket(hash)
	for id != 0 && t.blocks[id].hash != hash {
		id = t.blocks[id].chain
	}
	return id
}

// add adds an unknown hash, with one holder.
func (t *blockTable) add(hash uint64) blockID {
	if 2*t.n >= len(t.buckets) { // most lookups miss: short chains keep them cheap
		t.grow()
	}
	id := t.removed
	if id != 0 {
		t.removed = t.blocks[id].chain
	} else {
		id = blockID(len(t.blocks))
		t.blocks = append(t.blocks, knownBlock{})
	}
	b := t.bucket(hash)
	t.blocks[id] = knownBlock{hash: hash, holders: 1, chain: *b}
	*b = id
	t.n++
	return id
}

// grow doubles the buckets.
func (t *blockTable) grow() {
	old := t.buckets
	t.buckets = make([]blockID, max(2*len(old), 1024))
	if old == nil {
		t.blocks = make([]knownBlock, 1)
	}
	for _, id := range old {
		for id != 0 {
			rest := t.blocks[id].chain
			b := t.bucket(t.blocks[id].hash)
			t.blocks[id].chain, *b = *b, id
			id = rest
		}
	}
}

// remove deletes an idle block.
func (t *blockTable) remove(id blockID) {
	t.unlink(id)
	at := t.bucket(t.blocks[id].hash)
	for *at != id {
		at = &t.blocks[*at].chain
	}
	*at = t.blocks[id].chain
	t.blocks[id].chain, t.removed = t.removed, id
	t.n--
}

// first is the block that became idle first.
func (t *blockTable) first() blockID { return t.blocks[0].next }

// linkLast appends a block to the idle ones.
func (t *blockTable) linkLast(id blockID) {
	last := t.blocks[0].prev
	t.blocks[id].prev, t.blocks[id].next = last, 0
	t.blocks[last].next, t.blocks[0].prev = id, id
}

// unlink removes a block from the idle ones.
func (t *blockTable) unlink(id blockID) {
	b := &t.blocks[id]
	t.blocks[b.prev].next, t.blocks[b.next].prev = b.next, b.prev
}
