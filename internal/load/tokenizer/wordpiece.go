package tokenizer

import (
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// A wordPiece is the model of BERT: the longest token at the start of a word, then
// repeatedly the longest at the start of the rest, marked as a continuation. A word
// that cannot be covered is one unknown token.
type wordPiece struct {
	tokens *trie
	inside int32 // the node after the continuation mark
	marked bool  // there is such a node
	limit  int   // characters in a word; longer ones are unknown
	unk    int32
}

type wordPieceJSON struct {
	Type     *string          `json:"type"`
	UnkToken *string          `json:"unk_token"`
	Prefix   *string          `json:"continuing_subword_prefix"`
	Limit    *int             `json:"max_input_chars_per_word"`
	Vocab    map[string]int32 `json:"vocab"`
}

func parseWordPiece(raw json.RawMessage) (model, vocabulary, error) {
	var j wordPieceJSON
	if err := strict(raw, "model", &j); err != nil {
		return nil, vocabulary{}, err
	}
	if j.UnkToken == nil || j.Prefix == nil || j.Limit == nil || j.Vocab == nil {
		return nil, vocabulary{}, errors.New(
			"model: vocab, unk_token, continuing_subword_prefix or max_input_chars_per_word is missing")
	}
	v, err := newVocabulary(j.Vocab)
	if err != nil {
		return nil, v, err
	}
	m := &wordPiece{tokens: newTrie(j.Vocab), limit: *j.Limit, unk: v.id(*j.UnkToken)}
	m.inside, m.marked = m.tokens.walk(*j.Prefix)
	if m.unk == noID {
		return nil, v, refuse("model.unk_token", *j.UnkToken, "it is not in model.vocab")
	}
	return m, v, nil
}

func (m *wordPiece) append(ids []int32, word string, _ *scratch) []int32 {
	if len(word) > m.limit && utf8.RuneCountInString(word) > m.limit {
		return append(ids, m.unk)
	}
	start := len(ids)
	id, n := m.tokens.longest(0, word)
	for at := 0; ; {
		if id == noID {
			return append(ids[:start], m.unk)
		}
		ids = append(ids, id)
		if at += n; at == len(word) {
			return ids
		}
		if id = noID; m.marked {
			id, n = m.tokens.longest(m.inside, word[at:])
		}
	}
}

type wordLevel struct {
	ids map[string]int32
	unk int32
}

func parseWordLevel(raw json.RawMessage) (model, vocabulary, error) {
	var j struct {
		Type     *string          `json:"type"`
		UnkToken string           `json:"unk_token"`
		Vocab    map[string]int32 `json:"vocab"`
	}
	if err := strict(raw, "model", &j); err != nil {
		return nil, vocabulary{}, err
	}
	v, err := newVocabulary(j.Vocab)
	if err != nil {
		return nil, v, err
	}
	m := &wordLevel{v.ids, v.id(j.UnkToken)}
	if m.unk == noID {
		return nil, v, refuse("model.unk_token", j.UnkToken, "it is not in model.vocab")
	}
	return m, v, nil
}

func (m *wordLevel) append(ids []int32, word string, _ *scratch) []int32 {
	if id, ok := m.ids[word]; ok {
		return append(ids, id)
	}
	return append(ids, m.unk)
}
