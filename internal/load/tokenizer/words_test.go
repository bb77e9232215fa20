package tokenizer

import (
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/test/race"
)

// expressions are equivalents for regexp2 of patterns with features it lacks:
// possessive repetition, which makes no difference here, and intersection.
var expressions = map[string]string{
	cl100kOpenAI: `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|` +
		` ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?!\s|\S)|\s*[\r\n]|\s+(?!\S)|\s`,
	kimiWords: strings.NewReplacer("[\\p{Lu}", "(?:(?!\\p{Han})[\\p{Lu}", "[\\p{Ll}", "(?:(?!\\p{Han})[\\p{Ll}",
		"&&[^\\p{Han}]]", "])").Replace(kimiWords),
}

// FuzzWords compares the patterns with their expressions.
func FuzzWords(f *testing.F) {
	race.Skip(f)
	for _, text := range []string{
		"it's  1234\r\n水 word", "I'LL we'Re 'ſ x's''s", "  \n \n  a", "a\n  ", " \t12345 67",
		"HelloWORLDFooʰBar\u0301 \u0301a \u0301", "漢字kana仮名〇１２⼀", "...\r\n\n//\n x/y",
		"ǅungla ǅ'd Ωmega", " \u00a0x\u2028y\u3000",
	} {
		f.Add(text)
	}
	finders := map[string]*pattern{}
	for source := range wordPatterns {
		expression := source
		if other, ok := expressions[source]; ok {
			expression = other
		}
		re, err := compilePattern(expression)
		if err != nil {
			f.Fatalf("%s: %v", source, err)
		}
		finders[source] = re
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = validUTF8(text)
		for source, re := range finders {
			words := wordPatterns[source].ready()
			got, want := words.spans(nil, text, nil), re.spans(nil, text, new(scratch))
			if !slices.Equal(got, want) {
				t.Errorf("%q by %.60s…: %v, and the expression gives %v", text, source, got, want)
			}
		}
	})
}
