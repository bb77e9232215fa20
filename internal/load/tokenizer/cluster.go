package tokenizer

import (
	"strings"
	"unicode/utf8"
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
