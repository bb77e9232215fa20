package tokenizer

import (
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// patternJSON is {"String": …} or {"Regex": …}.
type patternJSON struct {
	String *string
	Regex  *string
}

func (p patternJSON) compile(field string) (finder, error) {
	switch {
	case p.String != nil && *p.String != "":
		return literal(*p.String), nil
	case p.Regex != nil && runsOf[*p.Regex] != (runs{}):
		return runsOf[*p.Regex], nil
	case p.Regex != nil && wordPatterns[*p.Regex] != nil:
		return wordPatterns[*p.Regex].ready(), nil
	case p.Regex != nil && *p.Regex != "":
		re, err := compilePattern(*p.Regex)
		if err != nil {
			return nil, refuse(field+".Regex", *p.Regex, err.Error())
		}
		return re, nil
	}
	return nil, refuse(field, "", "")
}

// mayBeEmpty reports whether a regular expression could match the empty string.
// Replacing such matches makes the library lose its position.
func (p patternJSON) mayBeEmpty() bool {
	if p.Regex == nil {
		return false
	}
	re, err := compilePattern(*p.Regex)
	if err != nil {
		return false
	}
	empty, err := re.re.MatchString("")
	return err != nil || empty || strings.Contains(*p.Regex, "(?=") ||
		strings.Contains(*p.Regex, "(?!") || strings.Contains(*p.Regex, "(?<")
}

type literal string

func (l literal) spans(dst []span, text string, _ *scratch) []span {
	c := cover{dst, 0}
	for {
		n := strings.Index(text[c.done:], string(l))
		if n < 0 {
			return c.rest(text)
		}
		c.match(c.done+n, c.done+n+len(l))
	}
}

// runs finds runs of at least a number of characters of a set.
type runs struct {
	set *runeSet
	min int
}

// runsOf are common patterns that need no regular expressions.
var runsOf = map[string]runs{
	`\s+`:     {spaces, 1},
	" +":      {blanks, 1},
	" {2,}":   {blanks, 2},
	`[ ]{2,}`: {blanks, 2},
}

var blanks = newRuneSet(func(r rune) bool { return r == ' ' })

func (f runs) spans(dst []span, text string, _ *scratch) []span {
	start, n := 0, 0
	c := cover{dst, 0}
	add := func(stop int) {
		if n >= f.min {
			c.match(start, stop)
		}
		n = 0
	}
	for i, r := range text {
		if !f.set.has(r) {
			add(i)
			continue
		}
		if n == 0 {
			start = i
		}
		n++
	}
	add(len(text))
	return c.rest(text)
}

// A pattern is a regular expression. Hugging Face runs the patterns of a tokenizer
// on Oniguruma with Ruby syntax.
type pattern struct {
	re *regexp2.Regexp
}

func compilePattern(source string) (*pattern, error) {
	translated, branches, err := translate(source)
	if err != nil {
		return nil, err
	}
	re, err := regexp2.Compile(translated, regexp2.OptionMaxBacktrackingStackSize(-1))
	if err == nil && branches {
		re.MatchTimeout = slowestMatch
	}
	return &pattern{re}, err
}

// spans skips empty matches right after another match, like Hugging Face's binding
// of Oniguruma.
func (p *pattern) spans(dst []span, text string, s *scratch) []span {
	s.runes = appendRunes(s.runes[:0], text)
	at := cursor{runes: s.runes}
	c, found := cover{dst, 0}, false
	err := p.re.FindRunesMatches(s.runes, 0, func(m regexp2.MatchView) bool {
		index, n, _ := m.GroupRange(0)
		start := at.offset(index)
		stop := at.offset(index + n)
		if !found || start != c.done || stop != c.done {
			c.match(start, stop)
			found = true
		}
		return true
	})
	if err != nil {
		panic(ErrTooSlow) // nothing else can fail: the stack has no limit
	}
	return c.rest(text)
}

func appendRunes(dst []rune, text string) []rune {
	for _, r := range text {
		dst = append(dst, r)
	}
	return dst
}

// A cursor converts ascending rune indexes to byte offsets.
type cursor struct {
	runes       []rune
	index, byte int
}

func (c *cursor) offset(index int) int {
	for ; c.index < index; c.index++ {
		c.byte += utf8.RuneLen(c.runes[c.index])
	}
	return c.byte
}
