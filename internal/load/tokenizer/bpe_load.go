package tokenizer

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

func (m *bpe) loadBytes(v vocabulary) {
	for b, r := range byteRunes {
		m.bytes[b] = v.id(string(r))
	}
}

// loadWholeWords lists the words that are tokens, in the form in which the model sees
// them.
func (m *bpe) loadWholeWords(v vocabulary, isRaw bool) {
	if !isRaw {
		m.wholeWords = v.ids
		return
	}
	m.wholeWords = make(map[string]int32, len(v.ids))
	for token, id := range v.ids {
		if text, ok := tokenBytes(token); ok {
			m.wholeWords[text] = id
		}
	}
}

// loadMerges ranks the merges by their order. If a pair has two merges the later
// one counts. The right token of a merge loses its continuing-subword mark.
func (m *bpe) loadMerges(j *bpeJSON) error {
	m.pairs = newMergeTable(len(j.MergePairs))
	separable := m.chars != nil && m.chars.separable()
	var rank int32
	for i, tokens := range j.MergePairs {
		if tokens == (mergeJSON{versionLine}) {
			continue
		}
		left, okLeft := j.Vocab[tokens[0]]
		right, okRight := j.Vocab[tokens[1]]
		id, ok := j.Vocab[tokens[0]+tokens[1][min(len(j.Prefix), len(tokens[1])):]]
		if !okLeft || !okRight || !ok {
			return fmt.Errorf("%s: %q and %q and what they merge to are not all in model.vocab",
				index("model.merges", i), tokens[0], tokens[1])
		}
		m.pairs.put(left, right, merge{rank, id})
		if rank++; rank == math.MaxInt32 {
			return errors.New("model.merges: too many")
		}
		if strings.HasPrefix(tokens[1], metaspaceMark) && !strings.HasSuffix(tokens[0], metaspaceMark) {
			separable = false
		}
	}
	m.separable = separable
	return nil
}

// charSymbols are the initial tokens of a word of characters. A character may have
// other tokens inside and at the end of a word.
type charSymbols struct {
	ids      [4]map[rune]int32 // by place: 1 = not the first of the word, 2 = the last
	fallback *[256]int32       // tokens of bytes, for characters without one; or nil
	prefix   string
	suffix   string
	unk      int32 // noID: characters without a token vanish
	fuse     bool  // unknown characters in a row are one token
}

const (
	inside = 1
	last   = 2
)

func newCharSymbols(j *bpeJSON, v vocabulary) (*charSymbols, error) {
	c := &charSymbols{unk: noID, fuse: j.FuseUnk, prefix: j.Prefix, suffix: j.Suffix}
	if j.UnkToken != nil {
		if c.unk = v.id(*j.UnkToken); c.unk == noID {
			return nil, refuse("model.unk_token", *j.UnkToken, "it is not in model.vocab")
		}
	}
	if j.Fallback {
		c.fallback = v.byteTokens()
	}
	for place := range c.ids {
		c.ids[place] = c.singles(v, place)
		if j.Prefix == "" && j.Suffix == "" {
			c.ids = [4]map[rune]int32{c.ids[0], c.ids[0], c.ids[0], c.ids[0]}
			break
		}
	}
	return c, nil
}

// singles lists the tokens for single characters at a place.
func (c *charSymbols) singles(v vocabulary, place int) map[rune]int32 {
	prefix, suffix := c.around(place)
	ids := make(map[rune]int32)
	for token, id := range v.ids {
		if len(token) < len(prefix)+len(suffix) || !strings.HasPrefix(token, prefix) || !strings.HasSuffix(token, suffix) {
			continue
		}
		char := token[len(prefix) : len(token)-len(suffix)]
		if r, n := utf8.DecodeRuneInString(char); n > 0 && n == len(char) {
			ids[r] = id
		}
	}
	return ids
}

// around returns the prefix and suffix of a token around the character at a place.
func (c *charSymbols) around(place int) (prefix, suffix string) {
	if place&inside != 0 {
		prefix = c.prefix
	}
	if place&last != 0 {
		suffix = c.suffix
	}
	return prefix, suffix
}

// separable reports whether a word may be cut before a metaspace without changing
// the initial symbols of its characters.
func (c *charSymbols) separable() bool {
	_, ok := c.ids[0][metaspace]
	return ok && c.prefix == "" && c.suffix == ""
}

// load appends the symbols of word. Unknown characters are held back until the next
// known one, even past the bytes of others in between.
func (c *charSymbols) load(w *wordMerger, word string) {
	unknown := 0
	flush := func() {
		for ; unknown > 0; unknown-- {
			w.add(c.unk)
		}
	}
	for i, r := range word {
		place, n := 0, utf8.RuneLen(r)
		if i > 0 {
			place |= inside
		}
		if n < 0 || i+n >= len(word) {
			place |= last
		}
		if id, ok := c.ids[place][r]; ok {
			flush()
			w.add(id)
			continue
		}
		if c.bytes(w, r, place) || c.unk == noID {
			continue
		}
		if unknown > 0 && !c.fuse {
			flush()
		}
		unknown = 1
	}
	flush()
}

// bytes adds a character as its bytes, if all have a token.
func (c *charSymbols) bytes(w *wordMerger, r rune, place int) bool {
	if c.fallback == nil {
		return false
	}
	prefix, suffix := c.around(place)
	text := prefix + string(r) + suffix
	for i := range len(text) {
		if c.fallback[text[i]] == noID {
			return false
		}
	}
	for i := range len(text) {
		w.add(c.fallback[text[i]])
	}
	return true
}
