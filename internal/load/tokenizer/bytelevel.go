package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// Byte-level vocabularies write a byte as one printable character: the printable
// ones of Latin-1 unchanged, the 68 others in order from U+0100 ("Ġ" is the space).
// The alphabet is that of GPT-2.

// byteRunes maps a byte to its character, and runeBytes back.
var byteRunes, runeBytes = byteAlphabet()

func byteAlphabet() ([256]rune, map[rune]byte) {
	var runes [256]rune
	bytes := make(map[rune]byte, 256)
	next := rune(0x100)
	for b := range runes {
		r := rune(b)
		if !printable(r) {
			r = next
			next++
		}
		runes[b] = r
		bytes[r] = byte(b)
	}
	return runes, bytes
}

func printable(r rune) bool { return '!' <= r && r <= '~' || 0xa1 <= r && r <= 0xff && r != 0xad }

// tokenBytes returns the bytes of a token, and false if it has a character outside
// the alphabet.
func tokenBytes(token string) (string, bool) {
	b := make([]byte, 0, len(token))
	for _, r := range token {
		c, ok := runeBytes[r]
		if !ok {
			return "", false
		}
		b = append(b, c)
	}
	return string(b), true
}

func toByteLevel(text string) string {
	b := make([]byte, 0, 2*len(text))
	for i := range len(text) {
		b = utf8.AppendRune(b, byteRunes[text[i]])
	}
	return string(b)
}

// validUTF8 replaces each maximal part of an ill-formed character by U+FFFD, as
// recommended by the Unicode Standard (chapter 3.9) and done by both Rust and
// Python.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + utf8.UTFMax)
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			n = illFormed(s)
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// illFormed is the length of the maximal ill-formed part at the start of s.
func illFormed(s string) int {
	n := 1
	for n < len(s) && !utf8.FullRuneInString(s[:n+1]) {
		n++
	}
	return n
}
