package tokenizer

// A mergeTable maps pairs of tokens to merges: a hash table with open addressing,
// since BPE spends most of its time on these lookups.
type mergeTable struct {
	slots []mergeSlot // a power of two of them
	count int
	shift uint // leaves the bits of an index into slots
}

// A mergeSlot holds the complement of its pair, so that the zero slot is free.
type mergeSlot struct {
	notPair uint64
	merge   merge
}

// A merge replaces a pair by the token id. Lower ranks go first.
type merge struct{ rank, id int32 }

func pairOf(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) }

func newMergeTable(n int) mergeTable {
	t := mergeTable{shift: 61}
	for 1<<(64-t.shift) < 2*n {
		t.shift--
	}
	t.slots = make([]mergeSlot, 1<<(64-t.shift))
	return t
}

// put adds a merge, replacing another of the same pair.
func (t *mergeTable) put(left, right int32, m merge) {
	if 4*t.count >= 3*len(t.slots) {
		larger := newMergeTable(len(t.slots) + 1)
		for _, s := range t.slots {
			if s.notPair != 0 {
				larger.enter(s)
			}
		}
		*t = larger
	}
	t.enter(mergeSlot{^pairOf(left, right), m})
}

func (t *mergeTable) enter(s mergeSlot) {
	at := t.find(s.notPair)
	if at.notPair == 0 {
		t.count++
	}
	*at = s
}

// find returns the slot of a pair, or its free slot.
func (t *mergeTable) find(notPair uint64) *mergeSlot {
	const golden = 0x9e3779b97f4a7c15
	for i := notPair * golden >> t.shift; ; i++ {
		s := &t.slots[i&uint64(len(t.slots)-1)]
		if s.notPair == notPair || s.notPair == 0 {
			return s
		}
	}
}

// get returns the merge of a pair; its rank is noRank if there is none.
func (t *mergeTable) get(left, right int32) merge {
	if s := t.find(^pairOf(left, right)); s.notPair != 0 {
		return s.merge
	}
	return merge{rank: noRank}
}
