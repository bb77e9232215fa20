package ingest

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// An expression is a regular expression that knows which texts cannot match it: those
// without any of some words that each of its matches has. To look for words is a
// hundred times cheaper, and nearly all lines of a log have none.
type expression struct {
	*regexp.Regexp
	words []string // none: any text can match
	exact bool     // capitals are told from small letters, in the words too; else the words are small
}

func compile(text string) expression {
	p := expression{Regexp: regexp.MustCompile(text), exact: !strings.HasPrefix(text, "(?i)")}
	if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
		p.words = wordsOf(tree)
	}
	for i, w := range p.words {
		if !p.exact {
			p.words[i] = lowered(w)
		}
	}
	return p
}

// wordsOf are words of which each match has one; none if there are no such.
func wordsOf(tree *syntax.Regexp) (words []string) {
	switch tree.Op {
	case syntax.OpLiteral:
		return []string{string(tree.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return wordsOf(tree.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range tree.Sub {
			some := wordsOf(sub)
			if some == nil {
				return nil
			}
			words = append(words, some...)
		}
	case syntax.OpConcat: // the part whose shortest word is the longest
		for _, sub := range tree.Sub {
			if some := wordsOf(sub); shortest(some) > shortest(words) {
				words = some
			}
		}
	case syntax.OpCharClass:
		return runesOf(tree.Rune)
	}
	return words
}

// mostRunes are as many as a class may have to be looked for one by one.
const mostRunes = 16

// runesOf are the characters of a class, given by its ranges.
func runesOf(ranges []rune) (words []string) {
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] >= mostRunes {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			words = append(words, string(r))
		}
	}
	slices.Sort(words)
	if words = slices.Compact(words); len(words) > mostRunes {
		return nil
	}
	return words
}

func shortest(words []string) int {
	n := 0
	for i, w := range words {
		if i == 0 || len(w) < n {
			n = len(w)
		}
	}
	return n
}

// in reports whether a text can match, of which lower is lowered.
func (p expression) in(text, lower string) bool {
	if !p.exact {
		text = lower
	}
	return len(p.words) == 0 || slices.ContainsFunc(p.words, func(w string) bool { return strings.Contains(text, w) })
}

func (p expression) finds(text, lower string) bool { return p.in(text, lower) && p.MatchString(text) }

// find is the first match and its parts, nil if there is none.
func (p expression) find(text string) []string {
	lower := ""
	if !p.exact {
		lower = lowered(text)
	}
	if !p.in(text, lower) {
		return nil
	}
	return p.FindStringSubmatch(text)
}

// lowered is a text with the letters of English in lower case: it keeps its length.
func lowered(text string) string {
	for i := range len(text) {
		if text[i] >= 'A' && text[i] <= 'Z' {
			return lowerFrom(text, i)
		}
	}
	return text
}

func lowerFrom(text string, i int) string {
	b := []byte(text)
	for ; i < len(b); i++ {
		if c := b[i]; c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
