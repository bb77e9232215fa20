package tokenizer

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

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
