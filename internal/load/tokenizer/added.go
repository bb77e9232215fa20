package tokenizer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"
)

// An addedToken is matched before the text is split into words.
type addedToken struct {
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"` // only if not adjacent to a word character
	LStrip     bool   `json:"lstrip"`      // with the white space before it
	RStrip     bool   `json:"rstrip"`      // with the white space after it
	Normalized bool   `json:"normalized"`  // in the normalised text, and itself normalised
	Special    bool   `json:"special"`
}

// addedTokens are the two sets searched for in a text, one before and one after
// normalization, and the decoded texts of their tokens.
type addedTokens struct {
	raw, normalized tokenSet
}

// An addedList collects added tokens like the library does during loading.
type addedList struct {
	vocab   vocabulary
	ids     map[string]int32
	byID    map[int32]addedToken
	skipped map[string]bool // ever flagged special, and so skipped in decoding
}

func newAddedList(vocab vocabulary) *addedList {
	return &addedList{vocab, make(map[string]int32), make(map[int32]addedToken), make(map[string]bool)}
}

// add adds tokens in order. A token of the vocabulary keeps its id; a new one takes
// the next free id. The id in the file is ignored.
func (l *addedList) add(tokens []addedToken) {
	next := int32(len(l.vocab.tokens))
	for id := range l.byID {
		next = max(next, id+1)
	}
	for _, tok := range tokens {
		if tok.Content == "" {
			continue
		}
		id, ok := l.id(tok.Content)
		if !ok {
			id = next
			next++
		}
		l.ids[tok.Content] = id
		l.byID[id] = tok
		if tok.Special {
			l.skipped[tok.Content] = true
		}
	}
}

func (l *addedList) id(content string) (int32, bool) {
	if id, ok := l.ids[content]; ok {
		return id, true
	}
	id, ok := l.vocab.ids[content]
	return id, ok
}

func (l *addedList) tokens() []addedToken {
	var tokens []addedToken
	for _, id := range slices.Sorted(maps.Keys(l.byID)) {
		tokens = append(tokens, l.byID[id])
	}
	return tokens
}

// specialIDs returns the ids of the tokens flagged special, ascending.
func (l *addedList) specialIDs() []int32 {
	var ids []int32
	for id, tok := range l.byID {
		if tok.Special {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// sets returns the two sets to search a text for.
func (l *addedList) sets(normalize normalizer) (addedTokens, error) {
	var raw, normalized []setToken
	sum := total{what: "added_tokens", limit: maxVocabulary, longest: maxToken}
	for id, tok := range l.byID {
		text, ok := tok.Content, true
		if tok.Normalized {
			text, ok = normalize.apply(text, most(len(text)))
		}
		if !ok {
			return addedTokens{}, fmt.Errorf("added token %.40q: %w", tok.Content, ErrTooLong)
		}
		if err := sum.add(text); err != nil {
			return addedTokens{}, err
		}
		if tok.Normalized {
			normalized = append(normalized, setToken{tok, id, text})
		} else {
			raw = append(raw, setToken{tok, id, text})
		}
	}
	return addedTokens{newTokenSet(raw), newTokenSet(normalized)}, nil
}

// A setToken is an added token with the text to search for.
type setToken struct {
	addedToken
	id   int32
	text string
}

// A tokenSet finds tokens in text: the leftmost occurrence, and among those the
// longest.
type tokenSet struct {
	tokens []setToken
	texts  *trie // of indexes into tokens
}

func newTokenSet(tokens []setToken) tokenSet {
	slices.SortFunc(tokens, func(a, b setToken) int { return cmp.Compare(a.id, b.id) })
	texts := make(map[string]int32, len(tokens))
	for i, tok := range tokens {
		texts[tok.text] = int32(i)
	}
	return tokenSet{tokens, newTrie(texts)}
}

// find returns the next token in text from the byte offset at, or nil.
func (s *tokenSet) find(text string, at int) (tok *setToken, start, stop int) {
	for ; at < len(text); at++ {
		if s.texts.root[text[at]] == none {
			continue
		}
		if i, n := s.texts.longest(0, text[at:]); i != noID {
			return &s.tokens[i], at, at + n
		}
	}
	return nil, len(text), len(text)
}

// cut calls token for each added token in text and other for each part between
// them, in order, with whether it is at the start of text. A token includes the
// white space to strip around it, but the search continues right after the token
// itself. A token of white space may therefore be found within white space that
// another has stripped; it does not count if it strips white space before itself
// and nothing of it is left.
func (s *tokenSet) cut(text string, token func(id int32), other func(part string, first bool)) {
	done, at := 0, 0
	for len(s.tokens) > 0 {
		tok, start, stop := s.find(text, at)
		if tok == nil {
			break
		}
		at = stop
		if tok.SingleWord && (endsInWord(text[:start]) || startsWithWord(text[stop:])) {
			continue
		}
		if tok.LStrip {
			start = max(start, done)
			start = done + spaceBefore(text[done:start])
		}
		switch {
		case tok.RStrip && stop < done: // another has stripped the space here
			stop = done
		case tok.RStrip:
			stop += spaceAfter(text[stop:])
		}
		if start >= stop {
			continue
		}
		if done < start {
			other(text[done:start], done == 0)
		}
		token(tok.id)
		done = stop
	}
	if done < len(text) {
		other(text[done:], done == 0)
	}
}

// spaceBefore is the offset of the trailing white space of text.
func spaceBefore(text string) int {
	for len(text) > 0 {
		r, n := utf8.DecodeLastRuneInString(text)
		if !unicode.IsSpace(r) {
			break
		}
		text = text[:len(text)-n]
	}
	return len(text)
}

// spaceAfter is the length of the leading white space of text.
func spaceAfter(text string) int {
	for i, r := range text {
		if !unicode.IsSpace(r) {
			return i
		}
	}
	return len(text)
}

func endsInWord(text string) bool {
	r, n := utf8.DecodeLastRuneInString(text)
	return n > 0 && words.has(r)
}

func startsWithWord(text string) bool {
	r, n := utf8.DecodeRuneInString(text)
	return n > 0 && words.has(r)
}
