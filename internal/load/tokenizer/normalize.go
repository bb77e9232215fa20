package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A normalizer rewrites a text in steps.
type normalizer []step

// A step is one rewriting. The empty text stays empty.
type step struct {
	// rewrite may stop once the result has more than most bytes.
	rewrite func(text string, most int) string

	// head returns how much of the rewritten text comes from the first h bytes of
	// text; nil: their own rewriting.
	head func(text string, h int) int
}

// apply rewrites a text; ok is false if it becomes longer than most bytes.
func (n normalizer) apply(text string, most int) (rewritten string, ok bool) {
	for _, s := range n {
		if text = s.rewrite(text, most); len(text) > most {
			return "", false
		}
	}
	return text, true
}

// bounded is a rewriting that makes no text longer than by a small factor.
func bounded(rewrite func(string) string) func(string, int) string {
	return func(text string, _ int) string { return rewrite(text) }
}

// moves reports whether the rewritten text does not begin with the rewriting of the
// first character of text. That determines whether a pre-tokenizer treats it as the
// start of the text.
func (n normalizer) moves(text string, most int) bool {
	_, h := utf8.DecodeRuneInString(text)
	for _, s := range n {
		if s.head != nil {
			h = s.head(text, h)
		} else {
			h = len(s.rewrite(text[:h], most))
		}
		if text = s.rewrite(text, most); len(text) > most {
			break
		}
		for h = min(h, len(text)); h < len(text) && !utf8.RuneStart(text[h]); {
			h++
		}
	}
	return h == 0
}

var stepKinds = parsers[step]{
	"BertNormalizer": settings(bertJSON{}, bertJSON.step),
	"ByteLevel":      plain(step{rewrite: bounded(toByteLevel)}),
	"Lowercase":      plain(step{rewrite: bounded(lowercase)}),
	"NFC":            plain(step{rewrite: bounded(normalForm(norm.NFC))}),
	"NFD":            plain(step{rewrite: bounded(normalForm(norm.NFD))}),
	"NFKC":           plain(step{rewrite: bounded(normalForm(norm.NFKC))}),
	"NFKD":           plain(step{rewrite: bounded(normalForm(norm.NFKD))}),
	"Nmt":            plain(filter(isNmtControl, nmtSpace)),
	"Precompiled":    settings(precompiledJSON{}, precompiledJSON.step),
	"Prepend":        settings(prependJSON{}, prependJSON.step),
	"Replace":        settings(replaceJSON{}, replaceJSON.step),
	"Strip":          settings(stripJSON{}, stripJSON.step),
	"StripAccents":   plain(filter(accents.has, nil)),
}

type prependJSON struct {
	Type    string `json:"type"`
	Prepend string `json:"prepend"`
}

func (v prependJSON) step(string) (step, error) {
	return step{rewrite: bounded(func(text string) string {
		if text == "" {
			return text
		}
		return v.Prepend + text
	})}, nil
}

// filter removes characters and maps the others, if mapping is not nil.
func filter(removed func(rune) bool, mapping func(rune) rune) step {
	return step{rewrite: bounded(func(text string) string {
		return strings.Map(func(r rune) rune {
			switch {
			case removed(r):
				return -1
			case mapping != nil:
				return mapping(r)
			}
			return r
		}, text)
	})}
}

// isNmtControl and nmtSpace clean a text like a translation system of Google.
func isNmtControl(r rune) bool {
	switch {
	case 0x01 <= r && r <= 0x08, r == 0x0b, 0x0e <= r && r <= 0x1f, r == 0x7f, r == 0x8f, r == 0x9f:
		return true
	}
	return false
}

func nmtSpace(r rune) rune {
	switch r {
	case '\t', '\n', '\f', '\r', 0x1680, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x2581, 0xfeff, 0xfffd:
		return ' '
	}
	return r
}

type stripJSON struct {
	Type  string `json:"type"`
	Left  bool   `json:"strip_left"`
	Right bool   `json:"strip_right"`
}

func (v stripJSON) step(string) (step, error) {
	rewrite := func(text string) string {
		if v.Left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if v.Right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text
	}
	return step{bounded(rewrite), func(text string, h int) int {
		if v.Left {
			h -= min(h, spaceAfter(text))
		}
		return h
	}}, nil
}

// lowercase maps each character individually to its full lower case. That is the
// simple one, except for the only character with a longer mapping independent of
// its neighbours.
func lowercase(text string) string {
	return strings.Map(ToLower, strings.ReplaceAll(text, "İ", "i̇"))
}
