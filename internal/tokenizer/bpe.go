package tokenizer

import "math"

// A bpe is the byte-pair encoding model of Sennrich et al. (2016), on bytes.
// Vocabulary tokens are known by the bytes they stand for.
type bpe struct {
	bytes [256]int32
	pairs map[pair]merge
	whole map[string]int32 // set when a word that is a token needs no merges
	cache wordCache
}

// noID stands for a byte without a token. Such bytes vanish from the output.
const noID = -1

type pair struct{ left, right int32 }

// A merge replaces a pair by the token id. Lower ranks go first.
type merge struct{ rank, id int32 }

const noRank = math.MaxInt32

// append appends the ids of one word.
func (m *bpe) append(ids []int32, word string, s *scratch) []int32 {
	if id, ok := m.whole[word]; ok {
		return append(ids, id)
	}
	if cached, ok := m.cache.get(word); ok {
		return append(ids, cached...)
	}
	start := len(ids)
	ids = s.word.append(ids, m, word)
	m.cache.put(word, ids[start:])
	return ids
}

// A wordMerger merges the symbols of one word. The symbols form a linked list in
// a slice, and a heap holds the merges they allow as rank<<32 | position, so
// that the lowest rank comes first, and of equals the leftmost. A heap entry is
// stale when the symbol at its position has another rank by now.
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

// append merges word and appends the ids that are left.
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

// load makes a symbol of each byte that has a token.
func (w *wordMerger) load(m *bpe, word string) {
	w.symbols, w.heap = w.symbols[:0], w.heap[:0]
	for i := range len(word) {
		if id := m.bytes[word[i]]; id != noID {
			n := int32(len(w.symbols))
			w.symbols = append(w.symbols, symbol{id: id, prev: n - 1, next: n + 1})
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

// look finds the merge of the symbol at i with the next one.
func (w *wordMerger) look(m *bpe, i int32) {
	s := &w.symbols[i]
	s.merge = merge{rank: noRank}
	if s.next == end {
		return
	}
	if found, ok := m.pairs[pair{s.id, w.symbols[s.next].id}]; ok {
		s.merge = found
		w.heap.push(uint64(found.rank)<<32 | uint64(i))
	}
}

// mergeAt merges the symbol at i with the next one.
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
