package tokenizer

import (
	"strings"
	"unicode"
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
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !extends(r) && !isPrepend(r)
	})
	// extenders belong to the character before them, prepends to the one after
	// them.
	extenders = newRuneSet(extends)
	prepends  = newRuneSet(isPrepend)
)

func extends(r rune) bool {
	switch {
	case r == 0x200d, 0x1f3fb <= r && r <= 0x1f3ff, r == 0xe33, r == 0xeb3:
		return true
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Other_Grapheme_Extend):
		return true
	}
	return unicode.Is(unicode.Mc, r) && !unicode.Is(spacingAlone, r)
}

// spacingAlone are the spacing marks that do not belong to the character before
// them.
var spacingAlone = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x102b, 0x102c, 1},
		{0x1038, 0x1038, 1},
		{0x1062, 0x1064, 1},
		{0x1067, 0x106d, 1},
		{0x1083, 0x1083, 1},
		{0x1087, 0x108c, 1},
		{0x108f, 0x108f, 1},
		{0x109a, 0x109c, 1},
		{0x1a61, 0x1a61, 1},
		{0x1a63, 0x1a64, 1},
		{0xaa7b, 0xaa7b, 1},
		{0xaa7d, 0xaa7d, 1},
	},
	R32: []unicode.Range32{{0x11720, 0x11721, 1}},
}

func isPrepend(r rune) bool {
	switch r {
	case 0xd4e, 0x111c2, 0x111c3, 0x1193f, 0x11941, 0x11a3a, 0x11d46, 0x11f02:
		return true
	}
	return 0x11a84 <= r && r <= 0x11a89 || unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
