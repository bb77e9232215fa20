package tokenizer

import (
	"math"
	"strings"
)

// A bpe is the byte-pair encoding model of Sennrich et al. (2016), on bytes or on
// characters. On bytes, vocabulary tokens are identified by the bytes they
// represent.
type bpe struct {
	bytes      [256]int32   // the initial symbol of a byte
	chars      *charSymbols // the initial symbols of characters; nil for a model on bytes
	pairs      mergeTable
	wholeWords map[string]int32 // set if a word that is a token needs no merges
	cache      wordCache

	// separable means that no merge crosses the position before a metaspace that
	// follows another character, so an unsplit text can be merged word by word.
	separable bool
}

// noID is the id of a byte without a token. Such bytes vanish from the output.
const noID = -1

// noRank is the rank of a missing merge.
const noRank = math.MaxInt32

func (m *bpe) append(ids []int32, word string, s *scratch) []int32 {
	if id, ok := m.wholeWords[word]; ok {
		return append(ids, id)
	}
	if !m.separable {
		return m.merged(ids, word, s)
	}
	for word != "" {
		n := metaspaceWord(word)
		ids = m.merged(ids, word[:n], s)
		word = word[n:]
	}
	return ids
}

// metaspaceWord is the length of the first word of text, including the metaspaces
// before it.
func metaspaceWord(text string) int {
	n := 0
	for strings.HasPrefix(text[n:], metaspaceMark) {
		n += len(metaspaceMark)
	}
	if next := strings.Index(text[n:], metaspaceMark); next >= 0 {
		return n + next
	}
	return len(text)
}

func (m *bpe) merged(ids []int32, word string, s *scratch) []int32 {
	if cached, ok := m.cache.get(word); ok {
		return append(ids, cached...)
	}
	start := len(ids)
	ids = s.word.append(ids, m, word)
	m.cache.put(word, ids[start:])
	return ids
}

// A wordMerger merges the symbols of one word. The symbols form a linked list in a
// slice, and a heap holds the possible merges as rank<<32 | position, so that the
// lowest rank comes first, and among equals the leftmost. A heap entry is stale if
// the symbol at its position has another rank by now.
type wordMerger struct {
	symbols []symbol
	heap    minHeap
}

type symbol struct {
	id         int32
	prev, next int32
	merge      merge // of the pair with the next symbol
}

// end ends the list of symbols on either side.
const end = -1

func (w *wordMerger) append(ids []int32, m *bpe, word string) []int32 {
	w.load(m, word)
	for len(w.heap) > 0 {
		entry := w.heap.pop()
		at, rank := int32(entry&math.MaxUint32), int32(entry>>32)
		if w.symbols[at].merge.rank == rank {
			w.mergeAt(m, at)
		}
	}
	for i := int32(0); int(i) < len(w.symbols) && i != end; i = w.symbols[i].next {
		ids = append(ids, w.symbols[i].id)
	}
	return ids
}

func (w *wordMerger) load(m *bpe, word string) {
	w.symbols, w.heap = w.symbols[:0], w.heap[:0]
	if m.chars != nil {
		m.chars.load(w, word)
	} else {
		for i := range len(word) {
			if id := m.bytes[word[i]]; id != noID {
				w.add(id)
			}
		}
	}
	if len(w.symbols) == 0 {
		return
	}
	w.symbols[len(w.symbols)-1].next = end
	for i := range w.symbols {
		w.look(m, int32(i))
	}
}

func (w *wordMerger) add(id int32) {
	n := int32(len(w.symbols))
	w.symbols = append(w.symbols, symbol{id: id, prev: n - 1, next: n + 1})
}

// look finds the merge of the symbol at i with the next one.
func (w *wordMerger) look(m *bpe, i int32) {
	s := &w.symbols[i]
	if s.next == end {
		s.merge = merge{rank: noRank}
		return
	}
	s.merge = m.pairs.get(s.id, w.symbols[s.next].id)
	if s.merge.rank != noRank {
		w.heap.push(uint64(s.merge.rank)<<32 | uint64(i))
	}
}

func (w *wordMerger) mergeAt(m *bpe, i int32) {
	s := &w.symbols[i]
	right := &w.symbols[s.next]
	right.merge.rank = noRank
	s.id, s.next = s.merge.id, right.next
	if s.next != end {
		w.symbols[s.next].prev = i
	}
	w.look(m, i)
	if s.prev != end {
		w.look(m, s.prev)
	}
}

// A minHeap is a binary heap with the least value first.
type minHeap []uint64

func (h *minHeap) push(v uint64) {
	s := append(*h, v)
	for i := len(s) - 1; i > 0; {
		parent := (i - 1) / 2
		if s[parent] <= s[i] {
			break
		}
		s[parent], s[i] = s[i], s[parent]
		i = parent
	}
	*h = s
}

func (h *minHeap) pop() uint64 {
	s := *h
	top, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < last && s[child+1] < s[child] {
			child++
		}
		if child >= last || s[i] <= s[child] {
			break
		}
		s[i], s[child] = s[child], s[i]
		i = child
	}
	*h = s
	return top
}

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
