package grid

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// An expression is a regular expression, without regard to case, that knows some words of which each of its matches
// has one. To look for those first is a hundred times cheaper, and most texts have none.
type expression struct {
	*regexp.Regexp
	words []string // in lower case; none if any text can match
}

func express(text string) expression {
	e := expression{Regexp: regexp.MustCompile(`(?i)` + text)}
	if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
		e.words = wordsOf(tree)
	}
	for i, w := range e.words {
		e.words[i] = lowered(w)
	}
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
const mostRunes = 12

// runesOf are the characters of a class, given by its ranges.
func runesOf(ranges []rune) (words []string) {
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if words = append(words, string(r)); len(words) > mostRunes {
				return nil
			}
		}
	}
	return words
}

func shortest(words []string) int {
	if len(words) == 0 {
		return 0
	}
	return len(slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) }))
}

// in reports whether a text in lower case can match.
func (e expression) in(lower string) bool {
	return len(e.words) == 0 || slices.ContainsFunc(e.words, func(w string) bool { return strings.Contains(lower, w) })
}

func (e expression) finds(text, lower string) bool { return e.in(lower) && e.MatchString(text) }

// lowered is a text with the letters of English in lower case: it keeps its length.
func lowered(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
