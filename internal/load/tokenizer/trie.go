package tokenizer

import (
	"maps"
	"slices"
	"strings"
)

// A trie maps strings to ids, byte by byte. Nodes are numbered level by level, so
// the children of a node are adjacent:
//
//	node          0     1  2     3  4  5
//	label               a  b     c  d  a
//	first child   1     3  5     6  6  6  6
//
// is the trie of ac, ad and ba. It is immutable once built.
type trie struct {
	root   [256]int32 // the children of node 0 by byte, none if missing
	labels string     // by node
	first  []int32    // by node, plus one: its first child
	ids    []int32    // by node: the id of the string that ends here, or noID
}

// none is the absent node.
const none = 0

func newTrie(ids map[string]int32) *trie {
	keys := slices.Sorted(maps.Keys(ids))
	if len(keys) > 0 && keys[0] == "" {
		keys = keys[1:]
	}
	t := &trie{ids: []int32{noID}}
	labels := []byte{0}
	type stretch struct{ from, to, depth int } // of keys that share depth bytes
	queue := []stretch{{0, len(keys), 0}}
	for node := 0; node < len(queue); node++ {
		s := queue[node]
		queue[node] = stretch{}
		t.first = append(t.first, int32(len(labels)))
		if s.from < s.to && len(keys[s.from]) == s.depth {
			t.ids[node] = ids[keys[s.from]]
			s.from++
		}
		for s.from < s.to {
			label, to := keys[s.from][s.depth], s.from+1
			for to < s.to && keys[to][s.depth] == label {
				to++
			}
			queue = append(queue, stretch{s.from, to, s.depth + 1})
			labels = append(labels, label)
			t.ids = append(t.ids, noID)
			s.from = to
		}
	}
	t.first = append(t.first, int32(len(labels)))
	t.labels = string(labels)
	for n := t.first[0]; n < t.first[1]; n++ {
		t.root[t.labels[n]] = n
	}
	return t
}

// fewChildren are searched linearly.
const fewChildren = 8

// step returns the child of node by label, or none.
func (t *trie) step(node int32, label byte) int32 {
	if node == 0 {
		return t.root[label]
	}
	from, to := t.first[node], t.first[node+1]
	if to-from <= fewChildren {
		for ; from < to; from++ {
			if t.labels[from] == label {
				return from
			}
		}
		return none
	}
	if i := strings.IndexByte(t.labels[from:to], label); i >= 0 {
		return from + int32(i)
	}
	return none
}

// walk returns the node of text, or none; the root for no text.
func (t *trie) walk(text string) (node int32, ok bool) {
	for i := range len(text) {
		if node = t.step(node, text[i]); node == none {
			return none, false
		}
	}
	return node, true
}

// find returns the id of text, or noID.
func (t *trie) find(text string) int32 {
	if node, ok := t.walk(text); ok {
		return t.ids[node]
	}
	return noID
}

// longest returns the id of the longest string from node along text, or noID, and how
// much of text it takes.
func (t *trie) longest(node int32, text string) (id int32, length int) {
	id = noID
	for i := range len(text) {
		if node = t.step(node, text[i]); node == none {
			break
		}
		if found := t.ids[node]; found != noID {
			id, length = found, i+1
		}
	}
	return id, length
}
