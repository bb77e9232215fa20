package tokenizer

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

// maxMarks is the number of combining marks in a row that are left to package norm.
// It inserts a joiner after 30 of them (the stream-safe text format of Unicode
// Standard Annex 15), unlike Hugging Face, and a mark may decompose into two.
const maxMarks = 12

// normalForm is one of the Unicode normal forms of Annex 15.
func normalForm(form norm.Form) func(string) string {
	return func(text string) string {
		switch {
		case isASCII(text):
			return text
		case isCommon(text):
			return form.String(text)
		}
		return normalizeByRule(form, text)
	}
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isCommon reports whether package norm and Hugging Face agree on text.
func isCommon(text string) bool {
	marks := 0
	for i, r := range text {
		switch {
		case neverCombines(r):
			marks = 0
		case late.has(r) || marks == maxMarks:
			return false
		case norm.NFKD.PropertiesString(text[i:]).BoundaryBefore():
			marks = 0
		default:
			marks++
		}
	}
	return true
}

// neverCombines is a fast path for the most frequent scripts: Latin-1, Greek and
// Cyrillic letters, Chinese characters and Hangul syllables.
func neverCombines(r rune) bool {
	return r < 0x300 || 0x370 <= r && r < 0x483 || 0x3400 <= r && r < 0xa66f || 0xac00 <= r && r < 0xd7a4
}

// normalizeByRule normalises text exactly by Annex 15: decompose, order marks,
// compose. Late characters are unchanged.
func normalizeByRule(form norm.Form, text string) string {
	decompose := norm.NFD
	if form == norm.NFKC || form == norm.NFKD {
		decompose = norm.NFKD
	}
	var marks []mark
	for _, r := range text {
		if late.has(r) {
			marks = append(marks, mark{r, 0})
			continue
		}
		for _, d := range decompose.String(string(r)) {
			marks = append(marks, mark{d, class(d)})
		}
	}
	orderMarks(marks)
	if form == norm.NFC || form == norm.NFKC {
		marks = compose(marks)
	}
	out := make([]rune, len(marks))
	for i, m := range marks {
		out[i] = m.r
	}
	return string(out)
}

// A mark is a character with its canonical combining class.
type mark struct {
	r   rune
	ccc uint8
}

func class(r rune) uint8 { return norm.NFD.PropertiesString(string(r)).CCC() }

// orderMarks sorts each run of marks by class, keeping the order of equals.
func orderMarks(s []mark) {
	for start := 0; start < len(s); {
		stop := start + 1
		if s[start].ccc != 0 {
			for stop < len(s) && s[stop].ccc != 0 {
				stop++
			}
			slices.SortStableFunc(s[start:stop], func(a, b mark) int { return int(a.ccc) - int(b.ccc) })
		}
		start = stop
	}
}

// compose combines each mark with the last starter, unless a character in between
// has an equal or higher class.
func compose(s []mark) []mark {
	out := s[:0]
	starter := -1
	var last uint8
	for _, m := range s {
		if starter >= 0 && (last < m.ccc || last == 0) {
			if r, ok := composite(out[starter].r, m.r); ok {
				out[starter].r = r
				continue
			}
		}
		last = m.ccc
		out = append(out, m)
		if m.ccc == 0 {
			starter = len(out) - 1
		}
	}
	return out
}

// composite is the primary composite of two characters, if there is one.
func composite(a, b rune) (rune, bool) {
	if late.has(b) {
		return 0, false
	}
	pair := norm.NFC.String(string([]rune{a, b}))
	r, n := utf8.DecodeRuneInString(pair)
	return r, n == len(pair)
}

// The normal forms of the library are those of Unicode 9.
var unicode9 = rangetable.Assigned("9.0.0")

// late are the characters newer than Unicode 9 that have a decomposition, take part
// in one or have a combining class. tokenizers leaves them as they are.
var late = newRuneSet(func(r rune) bool {
	if unicode.Is(unicode9, r) {
		return false
	}
	p := norm.NFKD.PropertiesString(string(r))
	return p.CCC() != 0 || !p.BoundaryBefore() || p.Decomposition() != nil
})
