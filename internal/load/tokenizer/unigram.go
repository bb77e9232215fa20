package tokenizer

import (
	"encoding/json"
	"math"
	"slices"
	"unicode/utf8"
)

// A unigram is the language model of Kudo (2018): each token has a score, the
// logarithm of its probability, and a word becomes the tokens with the largest sum
// of scores.
type unigram struct {
	tokens   *trie
	scores   []float64 // by id
	unk      int32
	unkScore float64     // of a character without a token
	fallback *[256]int32 // byte tokens instead of unk, or nil
	cache    wordCache
}

// unkPenalty is the difference in score between the worst token and an unknown
// character.
const unkPenalty = 10

type unigramJSON struct {
	Type     *string              `json:"type"`
	UnkID    *int32               `json:"unk_id"`
	Vocab    []tokenWith[float64] `json:"vocab"`
	Fallback bool                 `json:"byte_fallback"`
}

func parseUnigram(raw json.RawMessage) (model, vocabulary, error) {
	v := vocabulary{make(map[string]int32), make(map[int32]string)}
	var j unigramJSON
	if err := strict(raw, "model", &j); err != nil {
		return nil, v, err
	}
	switch {
	case len(j.Vocab) >= maxID:
		return nil, v, refuse("model.vocab", len(j.Vocab), "tokens")
	case j.UnkID == nil:
		return nil, v, refuse("model.unk_id", nil, "")
	case *j.UnkID < 0 || int(*j.UnkID) >= len(j.Vocab):
		return nil, v, refuse("model.unk_id", *j.UnkID, "it is not in model.vocab")
	}
	m := &unigram{unk: *j.UnkID, unkScore: math.Inf(1), cache: newWordCache()}
	sum := total{what: "model.vocab", limit: maxVocabulary, longest: maxToken}
	for id, token := range j.Vocab {
		if err := sum.add(token.text); err != nil {
			return nil, v, err
		}
		v.ids[token.text] = int32(id)
		v.tokens[int32(id)] = token.text
		m.scores = append(m.scores, token.with)
		m.unkScore = min(m.unkScore, token.with)
	}
	m.unkScore -= unkPenalty
	m.tokens = newTrie(v.ids)
	if j.Fallback {
		m.fallback = v.byteTokens()
	}
	return m, v, nil
}

func (m *unigram) append(ids []int32, word string, s *scratch) []int32 {
	if cached, ok := m.cache.get(word); ok {
		return append(ids, cached...)
	}
	start := len(ids)
	m.search(word, s)
	ids = m.trace(ids, word, s.path)
	m.cache.put(word, ids[start:])
	return ids
}

// A pathNode is the best path to a position in the word: its last token id and
// where that begins.
type pathNode struct {
	score    float64
	from, id int32
}

// search fills s.path with the best path to each position (Viterbi's algorithm).
func (m *unigram) search(word string, s *scratch) {
	s.path = slices.Grow(s.path[:0], len(word)+1)[:len(word)+1]
	for i := range s.path {
		s.path[i] = pathNode{from: noPlace}
	}
	for at := 0; at < len(word); {
		_, size := utf8.DecodeRuneInString(word[at:])
		if !m.extend(s.path, word, at, size) {
			s.path[at+size].offer(s.path[at].score+m.unkScore, at, m.unk)
		}
		at += size
	}
}

// extend adds every token that starts at a position, and reports whether one of
// them is the character there, of the given size.
func (m *unigram) extend(path []pathNode, word string, at, size int) (isToken bool) {
	score := path[at].score
	node := m.tokens.root[word[at]]
	for to := at + 1; node != none; to++ {
		if id := m.tokens.ids[node]; id != noID {
			path[to].offer(score+m.scores[id], at, id)
			isToken = isToken || to == at+size
		}
		if to == len(word) {
			break
		}
		node = m.tokens.step(node, word[to])
	}
	return isToken
}

// noPlace is from of an unreachable position.
const noPlace = -1

func (n *pathNode) offer(score float64, from int, id int32) {
	if n.from == noPlace || score > n.score {
		*n = pathNode{score, int32(from), id}
	}
}

// trace appends the ids on the best path. Consecutive unknown characters are one
// token, unless they become bytes.
func (m *unigram) trace(ids []int32, word string, path []pathNode) []int32 {
	start := len(ids)
	for to := len(word); to > 0; {
		n := path[to]
		from := int(n.from)
		if n.id != m.unk {
			ids = append(ids, n.id)
			to = from
			continue
		}
		for from > 0 && path[from].id == m.unk {
			from = int(path[from].from)
		}
		ids = m.unknown(ids, word[from:to])
		to = from
	}
	slices.Reverse(ids[start:])
	return ids
}

// unknown appends, last first, the ids of a run of unknown characters, which may
// itself be a token.
func (m *unigram) unknown(ids []int32, text string) []int32 {
	if id := m.tokens.find(text); id != noID {
		return append(ids, id)
	}
	if m.fallback == nil {
		return append(ids, m.unk)
	}
	start := len(ids)
	for i := len(text) - 1; i >= 0; i-- {
		id := m.fallback[text[i]]
		if id == noID {
			return append(ids[:start], m.unk)
		}
		ids = append(ids, id)
	}
	return ids
}
