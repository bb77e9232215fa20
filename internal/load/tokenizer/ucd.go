package tokenizer

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/rangetable"
)

// Version is the Unicode version of the categories and scripts in regular expressions.
const Version = "16.0.0"

// properties has a line per property: its name, and ranges of code points in hexadecimal,
// such as 41-5a, or 139-147/2 for every second.
//
//go:embed properties.txt
var properties string

// index has the ranges of each property, as text.
var ucdIndex = sync.OnceValue(func() map[string]string {
	lines := map[string]string{}
	for line := range strings.Lines(properties) {
		if name, ranges, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && name[0] != '#' {
			lines[name] = ranges
		}
	}
	return lines
})

var tables sync.Map // by name

// Table returns the characters with a property, or nil if there is none of this name. It is
// a general category of one or two letters, a script, or one of
//
//	regex word   \w in regular expressions, in a class
//	word         \w in the pre-tokenizer Whitespace, and around added tokens
//	numeric      the digits of the pre-tokenizer Digits
//	punctuation  of the pre-tokenizers Punctuation and BertPreTokenizer
//	control      removed by BertNormalizer when it cleans text
//	accent       removed by StripAccents
//	nonspacing   removed by BertNormalizer as accents
//	extend       belong to the grapheme cluster of the character before them
//	prepend      belong to that of the character after them
func Table(name string) *unicode.RangeTable {
	if t, ok := tables.Load(name); ok {
		return t.(*unicode.RangeTable)
	}
	t := table(name)
	if t != nil {
		tables.Store(name, t)
	}
	return t
}

func table(name string) *unicode.RangeTable {
	if text, ok := ucdIndex()[name]; ok {
		return ucdParse(text)
	}
	if len(name) != 1 {
		return nil
	}
	var parts []*unicode.RangeTable
	for _, group := range categories {
		if strings.HasPrefix(group, name) {
			parts = append(parts, Table(group))
		}
	}
	if len(parts) < 2 {
		return nil
	}
	return rangetable.Merge(parts...)
}

// categories are the general categories of assigned characters; C has Cn in addition.
var categories = strings.Fields("Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp")

func ucdParse(text string) *unicode.RangeTable {
	t := &unicode.RangeTable{}
	for part := range strings.FieldsSeq(text) {
		bounds, step, _ := strings.Cut(part, "/")
		first, last, several := strings.Cut(bounds, "-")
		if !several {
			last = first
		}
		r := unicode.Range32{Lo: hex(first), Hi: hex(last), Stride: max(hex(step), 1)}
		if r.Hi < 1<<16 {
			t.R16 = append(t.R16, unicode.Range16{Lo: uint16(r.Lo), Hi: uint16(r.Hi), Stride: uint16(r.Stride)})
		} else {
			t.R32 = append(t.R32, r)
		}
		if r.Hi <= unicode.MaxLatin1 {
			t.LatinOffset++
		}
	}
	return t
}

func hex(digits string) uint32 {
	n, _ := strconv.ParseUint(digits, 16, 32) // "" is no step
	return uint32(n)
}

// Is reports whether a character has a property.
func Is(name string, r rune) bool { return unicode.Is(Table(name), r) }

// A run is a range of characters with a value of their own.
type ucdRun struct {
	first, last, step rune
	value             rune
}

// runs are those of the properties named prefix and a value, in order.
func ucdRuns(prefix string, value func(string) rune) []ucdRun {
	var all []ucdRun
	for name, text := range ucdIndex() {
		of, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		t := ucdParse(text)
		for _, r := range t.R16 {
			all = append(all, ucdRun{rune(r.Lo), rune(r.Hi), rune(r.Stride), value(of)})
		}
		for _, r := range t.R32 {
			all = append(all, ucdRun{rune(r.Lo), rune(r.Hi), rune(r.Stride), value(of)})
		}
	}
	slices.SortFunc(all, func(a, b ucdRun) int { return int(a.first - b.first) })
	return all
}

// find returns the value of a character in runs that do not overlap.
func find(runs []ucdRun, r rune) (value rune, ok bool) {
	i, _ := slices.BinarySearchFunc(runs, r, func(one ucdRun, r rune) int { return int(one.last - r) })
	if i == len(runs) || r < runs[i].first || (r-runs[i].first)%runs[i].step != 0 {
		return 0, false
	}
	return runs[i].value, true
}

var lower = sync.OnceValue(func() []ucdRun {
	return ucdRuns("lower ", func(away string) rune {
		n, _ := strconv.Atoi(away)
		return rune(n)
	})
})

// ToLower is the lower case of a character, where that is one character, else itself.
func ToLower(r rune) rune {
	if r <= unicode.MaxASCII {
		return unicode.ToLower(r)
	}
	away, _ := find(lower(), r)
	return r + away
}

// A Script is the script of a character in the pre-tokenizer UnicodeScripts, by the first
// character of the script. Kana is Han there.
type Script rune

// Neutral is the script of a space and of unassigned characters, which go with any other.
const Neutral Script = -1

var scripts = sync.OnceValue(func() []ucdRun {
	return ucdRuns("script ", func(first string) rune {
		if first == "neutral" {
			return rune(Neutral)
		}
		return rune(hex(first))
	})
})

// ScriptOf is the script of a character.
func ScriptOf(r rune) Script {
	if script, ok := find(scripts(), r); ok {
		return Script(script)
	}
	return Neutral
}
