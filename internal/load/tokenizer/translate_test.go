package tokenizer

import (
	"regexp"
	"strings"
	"testing"
)

// expanded is a translation with its tables, which are written {L} in tests.
func expanded(text string) string {
	return regexp.MustCompile(`\{[A-Z][a-z]*\}|\{regex word\}`).ReplaceAllStringFunc(text, func(name string) string {
		return classItems(Table(strings.Trim(name, "{}")))
	})
}

func TestTranslate(t *testing.T) {
	for source, want := range map[string]string{
		gpt2Pattern: `\x27s|\x27t|\x27re|\x27ve|\x27m|\x27ll|\x27d|\x20?[{L}]+|\x20?[{N}]+|` +
			`\x20?[^\s{L}{N}]+|[\s]+(?![^\s])|[\s]+`,
		`\w+|\W`:               `[{regex word}²³¹¼½¾]+|[^{regex word}²³¹¼½¾]`,
		`[^(\s|[.,!?…])]]`:     `[^\x28\s\x7c\x2e\x2c\x21\x3f…\x29]\x5d`,
		`[\w-]`:                `[{regex word}\x2d]`,
		`[a-z\-\]]`:            `[a-z\x2d\x5d]`,
		`(ab)?(?:c)*?(?>d)e++`: `(?:ab)?(?:c)*?(?>d)e++`,
		`(?i:'s|t)x{2,}?y{3}`:  `(?i:\x27s|t)x{2,}?y{3}`,
		`\t\x20\x{6C34}\u6c34`: `\x09\x20水水`,
		`\p{Han}\P{Lu}`:        `[{Han}][^{Lu}]`,
		`[\W]\d[^\W]`:          `[^{regex word}][{Nd}][{regex word}]`,
		`(?>a+){2}`:            `((?>a+)){2}`,
		`(?:(?:ab++)c)*`:       `((?:(?:ab++)c))*`,
		`(a|(b?))+c?`:          `((?:a|(?:b?)))+c?`,
	} {
		got, _, err := translate(source)
		if want = expanded(want); err != nil || got != want {
			t.Errorf("translate(%s)\n got %s, %v\nwant %s", source, got, err, want)
		}
	}
}

func TestTranslateRefuses(t *testing.T) {
	for _, source := range []string{
		`^a`, `a$`, `\bx`, `\h`, `\R`, `\1`, `\A`, `\K`, `(?m:.)`, `(?i)a`, `(?<n>a)`, `(?#x)`, `a)`,
		`\p{N}{1,3}+`, `a{3}?`, `a**`, `a+*`, `a{,3}`, `a{x}`, `a{1`, `a{9999}`,
		`[a&&b]`, `[]a]`, `[^]`, `[[:alpha:]]`, `[a[^b]]`, `[a-\d]`, `[\d-z]`, `[a--]`, `[a`, `[a-[b]]`, `[\s\S]`, `[^\Sa]`,
		`(?<=a+)`, `(?<!(?:a){2})`,
		`\p{Alphabetic}`, `\p{^L}`, `\pL`, `\p{C}`, `\p{L`, `\xff`, `\x{d800}`, `\x{110000}`, `\x{`, `\u12`, `\q`, `\é`, `\`,
		`(?i:é)`, `(?i:ss)`, `(?i:a(?:ST))`, `(?i:f(?:i))`, `(?i:(?:f)l)`, `(?i:[é])`,
		`(?i:\p{L})`, `(?i:[^a])`, `(?i:[\w])`, `(?i:\S)`, `.*`, `.{2}`, `\p{word}`, `\p{regex word}`, `\p{script 41}`,
		strings.Repeat("(", 101) + strings.Repeat(")", 101), strings.Repeat(`\p{L}`, 1000), strings.Repeat("a", maxPattern+1),
	} {
		if got, _, err := translate(source); err == nil {
			t.Errorf("translate(%s) = %s, want an error", source, got)
		}
	}
}
