// Package tokenizer turns text into token ids and back as the Hugging Face
// library tokenizers does, from the tokenizer.json that comes with a model.
//
// It reads byte-level BPE, the kind of GPT-2, Llama 3, Qwen and DeepSeek. Text
// takes five steps to become ids, and the file configures each of them:
//
//	added tokens   "<|im_end|>" and its like are cut out first
//	normalizer     the text between them is normalised (NFC, lower case …)
//	pre-tokenizer  and split into words by patterns
//	model          BPE merges the bytes of each word into vocabulary tokens
//	post-processor and BOS or EOS go around the result
//
// A prompt whose length is off by a token spoils a benchmark quietly, so there
// is no approximation: whatever the file holds that this package does not know
// is refused by name. It follows tokenizers 0.23, with one limit: to a pattern
// and to lower case, characters newer than the Unicode version of Go's tables
// are unassigned.
//
// Truncation and padding in the file are ignored, as Hugging Face transformers
// turns both off when it counts tokens.
package tokenizer

import (
	"slices"
	"strings"
	"sync"
)

// A Tokenizer encodes and decodes text. It is safe for concurrent use.
type Tokenizer struct {
	added        addedTokens
	normalize    normalizer
	pretokenize  []splitter
	model        model
	vocabSize    int
	bos          string
	prefix       []int32 // ids before and after an encoded text with special tokens
	suffix       []int32
	pieces       []piece // by id
	allIDs       []int32
	specialIDs   []int32
	addedSpecial []int32
	pool         sync.Pool // of *scratch
}

// A piece is what one id decodes to. The bytes need not be valid UTF-8 by
// themselves.
type piece struct {
	bytes   string
	special bool
}

// A model turns one word of the pre-tokenizer into ids. It is safe for concurrent
// use; what it works with is in the scratch of the caller.
type model interface {
	append(ids []int32, word string, s *scratch) []int32
}

// A scratch holds the buffers of one Encode.
type scratch struct {
	words, spare []string
	runes        []rune
	spans        []span
	word         wordMerger
}

// Encode returns the token ids of text. With special it adds what the
// post-processor puts around a single sequence, such as BOS. Bytes that are not
// UTF-8 are encoded as U+FFFD.
func (t *Tokenizer) Encode(text string, special bool) []int32 {
	s := t.pool.Get().(*scratch)
	defer t.pool.Put(s)
	ids := make([]int32, 0, len(text)/4+len(t.prefix)+len(t.suffix))
	if special {
		ids = append(ids, t.prefix...)
	}
	t.added.raw.cut(validUTF8(text), func(id int32) {
		ids = append(ids, id)
	}, func(part string) {
		ids = t.encodePart(ids, part, s)
	})
	if special {
		ids = append(ids, t.suffix...)
	}
	return ids
}

// encodePart appends the ids of a part without unnormalised added tokens.
func (t *Tokenizer) encodePart(ids []int32, part string, s *scratch) []int32 {
	t.added.normalized.cut(t.normalize(part), func(id int32) {
		ids = append(ids, id)
	}, func(part string) {
		for _, word := range t.split(part, s) {
			ids = t.model.append(ids, word, s)
		}
	})
	return ids
}

// split runs the pre-tokenizer. The words are valid until the next call with s.
func (t *Tokenizer) split(part string, s *scratch) []string {
	words, next := append(s.words[:0], part), s.spare
	for _, stage := range t.pretokenize {
		next = next[:0]
		for _, w := range words {
			next = stage.split(next, w, s)
		}
		words, next = next, words
	}
	s.words, s.spare = words, next
	return words
}

// Decode returns the text of ids; with skipSpecial, without the special tokens.
// Ids that name no token are left out. Bytes that do not make up UTF-8 become
// U+FFFD, one for each maximal part of a character.
func (t *Tokenizer) Decode(ids []int32, skipSpecial bool) string {
	var b strings.Builder
	b.Grow(4 * len(ids))
	for _, id := range ids {
		if id < 0 || int(id) >= len(t.pieces) {
			continue
		}
		if p := t.pieces[id]; !p.special || !skipSpecial {
			b.WriteString(p.bytes)
		}
	}
	return validUTF8(b.String())
}

// VocabSize is the number of tokens in the model's own vocabulary. Added tokens
// that are not part of it do not count.
func (t *Tokenizer) VocabSize() int { return t.vocabSize }

// SpecialIDs returns the ids, ascending, of the special tokens that
// tokenizer_config.json names (all_special_ids of transformers), or without
// that file those of AddedSpecialIDs.
func (t *Tokenizer) SpecialIDs() []int32 { return slices.Clone(t.specialIDs) }

// AddedSpecialIDs returns the ids, ascending, of all added tokens flagged
// special.
func (t *Tokenizer) AddedSpecialIDs() []int32 { return slices.Clone(t.addedSpecial) }

// AllIDs returns every id, ascending: the vocabulary and the added tokens.
func (t *Tokenizer) AllIDs() []int32 { return slices.Clone(t.allIDs) }

// BOS returns the text of the token that begins a sequence, as bos_token of
// tokenizer_config.json names it, or "".
func (t *Tokenizer) BOS() string { return t.bos }

// NumSpecial is the number of tokens that Encode adds to a text when asked for
// special tokens.
func (t *Tokenizer) NumSpecial() int { return len(t.prefix) + len(t.suffix) }
