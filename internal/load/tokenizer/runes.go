package tokenizer

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// A runeSet is a set of characters: a table of the basic plane, filled on first
// use, and a function for the rest.
type runeSet struct {
	fill     sync.Once
	basic    [1 << 10]uint64
	contains func(rune) bool
}

func newRuneSet(tell func(rune) bool) *runeSet { return &runeSet{contains: tell} }

func (s *runeSet) has(r rune) bool {
	if uint32(r) >= 1<<16 {
		return s.contains(r)
	}
	s.fill.Do(func() {
		for r := range rune(1 << 16) {
			if s.contains(r) {
				s.basic[r>>6] |= 1 << (r & 63)
			}
		}
	})
	return s.basic[r>>6]>>(r&63)&1 != 0
}

// property is the set of characters with a property of ucd.
func property(name string) *runeSet { return newRuneSet(func(r rune) bool { return Is(name, r) }) }

var (
	spaces      = newRuneSet(unicode.IsSpace)
	words       = property("word")
	numbers     = property("numeric")
	punctuation = property("punctuation")
	others      = property("control")
	accents     = property("accent")
	nonspacing  = property("nonspacing")
)

// spans finds each character of the set.
func (s *runeSet) spans(dst []span, text string, _ *scratch) []span {
	c := cover{dst, 0}
	for i, r := range text {
		if s.has(r) {
			c.match(i, i+max(utf8.RuneLen(r), 1))
		}
	}
	return c.rest(text)
}

// A cover is the spans of a text up to an offset.
type cover struct {
	spans []span
	done  int
}

// match adds a match, and the text before it.
func (c *cover) match(start, stop int) {
	if c.done < start {
		c.spans = append(c.spans, span{c.done, start, false})
	}
	c.spans = append(c.spans, span{start, stop, true})
	c.done = stop
}

// rest is the spans with the text after the last match.
func (c *cover) rest(text string) []span {
	if c.done < len(text) {
		c.spans = append(c.spans, span{c.done, len(text), false})
	}
	return c.spans
}

// wordGaps finds the text between words, which are runs of word characters or of
// characters that are neither those nor white space.
type wordGaps struct{}

func (wordGaps) spans(dst []span, text string, _ *scratch) []span {
	start, kind := 0, gapKind
	for i, r := range text {
		next := wordKind
		switch {
		case words.has(r):
		case spaces.has(r):
			next = gapKind
		default:
			next = signKind
		}
		if next != kind && start < i {
			dst = append(dst, span{start, i, kind == gapKind})
			start = i
		}
		kind = next
	}
	if start < len(text) {
		dst = append(dst, span{start, len(text), kind == gapKind})
	}
	return dst
}

const (
	gapKind = iota
	wordKind
	signKind
)
