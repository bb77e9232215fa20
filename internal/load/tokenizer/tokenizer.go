// Package tokenizer converts text to token ids and back like the Hugging Face
// library tokenizers, from the tokenizer.json of a model.
//
// Text becomes ids in five steps, each configured by the file:
//
//	added tokens   such as "<|im_end|>" are cut out first
//	normalizer     the text between them is normalised (NFC, lower case …)
//	pre-tokenizer  and split into words
//	model          each word becomes tokens of the vocabulary
//	post-processor and BOS or EOS are added around the result
//
// There are four kinds of model:
//
//	BPE        merges pairs; of bytes (GPT-2, Llama 3, Qwen, DeepSeek), or of
//	           characters, with bytes for unknown ones (Llama 2, Mistral, Gemma)
//	Unigram    takes the most probable tokens (T5, XLM-RoBERTa, ALBERT)
//	WordPiece  takes the longest token each time (BERT)
//	WordLevel  knows only complete words
//
// Decoders do the reverse. A prompt length that is off by a token silently distorts
// a benchmark, so there is no approximation: unknown content of the file is refused
// by name. The package follows tokenizers 0.23; package ucd has its character properties.
//
// Truncation and padding in the file are ignored, since Hugging Face transformers
// turns both off when it counts tokens.
//
// # Characters
//
// properties.txt has the characters of Unicode as Hugging Face's tokenizers knows them.
//
// Go's package unicode is of Unicode 15.0 with Go 1.26 and of 17.0 with Go 1.27. The library
// has its own data, of a different age in each of its parts: its regular expressions know
// Unicode 16.0, digits and lower case follow 17.0, punctuation follows 8.0. A character that
// is a letter there and nothing here would be split differently, so all of these properties
// come from the library itself: make_properties.py asks it about each code point and writes
// properties.txt. Where both agree for good, as on white space, package unicode is used.
package tokenizer

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A Tokenizer encodes and decodes text. It is safe for concurrent use.
type Tokenizer struct {
	added        addedTokens
	normalize    normalizer
	pretokenize  []splitter
	marksFirst   bool // a splitter treats the start of the text differently
	model        model
	vocabSize    int
	bos          string
	cleansUp     bool    // decoded texts are cleaned up
	prefix       []int32 // ids before and after an encoded text with special tokens
	suffix       []int32
	pieces       []piece   // by id
	decoders     []decoder // nil: the text of ids is that of their pieces
	allIDs       []int32
	specialIDs   []int32
	addedSpecial []int32
	pool         sync.Pool // of *scratch
	failed       atomic.Pointer[error]
}

// A model turns one word of the pre-tokenizer into ids. It is safe for concurrent
// use; its working state is in the caller's scratch.
type model interface {
	append(ids []int32, word string, s *scratch) []int32
}

// A scratch holds the buffers of one Encode.
type scratch struct {
	words, spare []string
	first        bool // the next word to split is at the start of the text
	room         int  // bytes that the rest of the text may become
	runes        []rune
	spans        []span
	word         wordMerger
	path         []pathNode
	ids          []int32
}

// Encode returns the token ids of text. With special it adds the tokens that the
// post-processor puts around a single sequence, such as BOS. Invalid UTF-8 is
// encoded as U+FFFD. See Err for texts of which the tokenizer makes too much, or that take it
// too long.
func (t *Tokenizer) Encode(text string, special bool) []int32 {
	if t.Err() != nil {
		return nil
	}
	defer t.slow()
	s := t.pool.Get().(*scratch)
	defer t.pool.Put(s)
	s.room = most(len(text))
	ids := s.ids[:0]
	if special {
		ids = append(ids, t.prefix...)
	}
	t.added.raw.cut(validUTF8(text), func(id int32) {
		ids = append(ids, id)
	}, func(part string, first bool) {
		ids = t.encodePart(ids, part, first, s)
	})
	if special {
		ids = append(ids, t.suffix...)
	}
	s.ids = ids
	return append(make([]int32, 0, len(ids)), ids...)
}

// encodePart appends the ids of a part without unnormalised added tokens.
func (t *Tokenizer) encodePart(ids []int32, part string, first bool, s *scratch) []int32 {
	first = first && t.marksFirst && !t.normalize.moves(part, s.room)
	text, ok := t.normalize.apply(part, s.room)
	if s.room -= len(text); !ok {
		t.fail(ErrTooLong)
		return ids
	}
	t.added.normalized.cut(text, func(id int32) {
		ids = append(ids, id)
	}, func(part string, leads bool) {
		for _, word := range t.split(part, first && leads, s) {
			ids = t.model.append(ids, word, s)
		}
	})
	return ids
}

// split runs the pre-tokenizer. The words are valid until the next call with s.
func (t *Tokenizer) split(part string, first bool, s *scratch) []string {
	words, next := append(s.words[:0], part), s.spare
	for _, stage := range t.pretokenize {
		next = next[:0]
		leads := first
		for i, w := range words {
			s.first = leads && i == 0
			next = stage.split(next, w, s)
			if i == 0 {
				first = s.first
			}
		}
		words, next = next, words
	}
	s.words, s.spare = words, next
	return words
}

// VocabSize is the number of tokens in the model's own vocabulary, without other
// added tokens.
func (t *Tokenizer) VocabSize() int { return t.vocabSize }

// SpecialIDs returns the ids, ascending, of the special tokens named in
// tokenizer_config.json (all_special_ids of transformers), or without that file
// those of AddedSpecialIDs.
func (t *Tokenizer) SpecialIDs() []int32 { return slices.Clone(t.specialIDs) }

// AddedSpecialIDs returns the ids, ascending, of all added tokens flagged
// special.
func (t *Tokenizer) AddedSpecialIDs() []int32 { return slices.Clone(t.addedSpecial) }

// AllIDs returns every id, ascending: the vocabulary and the added tokens.
func (t *Tokenizer) AllIDs() []int32 { return slices.Clone(t.allIDs) }

// BOS returns the text of the token that begins a sequence, bos_token of
// tokenizer_config.json, or "".
func (t *Tokenizer) BOS() string { return t.bos }

// NumSpecial is the number of special tokens that Encode adds to a text on request.
func (t *Tokenizer) NumSpecial() int { return len(t.prefix) + len(t.suffix) }

// unicodeScripts splits where the script changes. Spaces and unassigned characters go with
// the character before them; at the beginning of a text they are dropped, as by the library.
type unicodeScripts struct{}

func (unicodeScripts) split(dst []string, text string, s *scratch) []string {
	start, last := -1, Neutral
	for i, r := range text {
		script := ScriptOf(r)
		if script == Neutral || script == last {
			continue
		}
		if start >= 0 {
			dst = append(dst, text[start:i])
		}
		start, last = i, script
	}
	if start != 0 {
		s.first = false
	}
	if start < 0 {
		return dst
	}
	return append(dst, text[start:])
}
