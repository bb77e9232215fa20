package lexicon

import (
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// An Expression is a regular expression that knows some words of which each of its matches has one. To look for those
// first is a hundred times cheaper, and nearly all lines of a log have none.
type Expression struct {
	*lazy.Pattern
	words func() []string // none if any text can match
	exact bool            // capitals differ from small letters; else the words are in lower case
}

// Compile reads an expression, once it is used. Without regard to case are only those that begin with (?i).
func Compile(text string) Expression {
	e := Expression{Pattern: lazy.Regexp(text), exact: !strings.HasPrefix(text, "(?i)")}
	e.words = sync.OnceValue(func() (words []string) {
		if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
			words = wordsOf(tree)
		}
		for i, w := range words {
			if !e.exact {
				words[i] = Lower(w)
			}
		}
		return words
	})
	return e
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
	if len(words) == 0 {
		return 0
	}
	return len(slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) }))
}

// In reports whether a text can match; lower is its Lower, or anything where the expression regards case.
func (e Expression) In(text, lower string) bool {
	if !e.exact {
		text = lower
	}
	words := e.words()
	return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// Finds reports whether a text matches.
func (e Expression) Finds(text, lower string) bool { return e.In(text, lower) && e.MatchString(text) }

// FindAll returns the places of all matches and of their parts.
func (e Expression) FindAll(text, lower string) [][]int {
	if !e.In(text, lower) {
		return nil
	}
	return e.FindAllStringSubmatchIndex(text, -1)
}

// Find returns the first match and its parts, nil if there is none.
func (e Expression) Find(text string) []string {
	lower := ""
	if !e.exact {
		lower = Lower(text)
	}
	if !e.In(text, lower) {
		return nil
	}
	return e.FindStringSubmatch(text)
}

// Lower is a text with the letters of English in lower case: it keeps its length.
func Lower(text string) string {
	i := 0
	for i < len(text) && !isCapital(text[i]) {
		i++
	}
	if i == len(text) {
		return text
	}
	b := []byte(text)
	for ; i < len(b); i++ {
		if isCapital(b[i]) {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

func isCapital(c byte) bool { return c >= 'A' && c <= 'Z' }
