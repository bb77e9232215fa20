package tokenizer

import (
	"strings"
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

// clusterLen is the length of the grapheme cluster at the start of text, which is
// not empty. It implements the rules of Unicode Standard Annex 29 that make
// clusters shorter than maxCluster bytes; longer ones may come out in parts, which
// are then at least that long or single characters.
func clusterLen(text string) int {
	if strings.HasPrefix(text, "\r\n") {
		return 2
	}
	r, n := utf8.DecodeRuneInString(text)
	if clusterControls.has(r) {
		return n
	}
	for prepends.has(r) {
		next, size := utf8.DecodeRuneInString(text[n:])
		if size == 0 || clusterControls.has(next) {
			return n
		}
		r, n = next, n+size
	}
	for n < len(text) {
		next, size := utf8.DecodeRuneInString(text[n:])
		if next < 0x300 || !extenders.has(next) {
			break
		}
		n += size
	}
	return n
}

var (
	// clusterControls are alone.
	clusterControls = newRuneSet(func(r rune) bool {
		isControl := Is("Cc", r) || Is("Cf", r) || Is("Zl", r) || Is("Zp", r)
		return isControl && !Is("extend", r) && !Is("prepend", r)
	})
	// extenders belong to the character before them, prepends to the one after
	// them.
	extenders = property("extend")
	prepends  = property("prepend")
)
