package tokenizer

import "testing"

func TestTranslate(t *testing.T) {
	for source, want := range map[string]string{
		gpt2Pattern: `\x27s|\x27t|\x27re|\x27ve|\x27m|\x27ll|\x27d|\x20?[\p{L}]+|\x20?[\p{N}]+|` +
			`\x20?[^\s\p{L}\p{N}]+|[\s]+(?![^\s])|[\s]+`,
		`\w+|\W`:               `[\p{L}\p{M}\p{N}\p{Pc}]+|[^\p{L}\p{M}\p{N}\p{Pc}]`,
		`[^(\s|[.,!?…])]]`:     `[^\x28\s\x7c\x2e\x2c\x21\x3f…\x29]\x5d`,
		`[\w-]`:                `[\p{L}\p{M}\p{N}\p{Pc}\x2d]`,
		`[a-z\-\]]`:            `[a-z\x2d\x5d]`,
		`(ab)?(?:c)*?(?>d)e++`: `(?:ab)?(?:c)*?(?>d)e++`,
		`(?i:'s|t)x{2,}?y{3}`:  `(?i:\x27s|t)x{2,}?y{3}`,
		`\t\x20\x{6C34}\u6c34`: `\x09\x20水水`,
		`\p{Han}\P{Lu}`:        `[\p{Han}][^\p{Lu}]`,
	} {
		got, err := translate(source)
		if err != nil || got != want {
			t.Errorf("translate(%s)\n got %s, %v\nwant %s", source, got, err, want)
		}
	}
}

func TestTranslateRefuses(t *testing.T) {
	for _, source := range []string{
		`^a`, `a$`, `\bx`, `\h`, `\R`, `\1`, `\A`, `\K`, `(?m:.)`, `(?i)a`, `(?<n>a)`, `(?#x)`, `a)`,
		`\p{N}{1,3}+`, `a{3}?`, `a**`, `a+*`, `a{,3}`, `a{x}`, `a{1`, `a{9999}`,
		`[a&&b]`, `[]a]`, `[^]`, `[[:alpha:]]`, `[a[^b]]`, `[a-\d]`, `[\d-z]`, `[a--]`, `[a`, `[a-[b]]`, `[\s\S]`, `[^\Sa]`, `(?<=a+)`, `(?<!(?:a){2})`,
		`\p{Alphabetic}`, `\p{^L}`, `\pL`, `\p{C}`, `\p{L`, `\xff`, `\x{d800}`, `\x{110000}`, `\x{`, `\u12`, `\q`, `\é`, `\`,
		`(?i:é)`, `(?i:ss)`, `(?i:a(?:ST))`, `(?i:f(?:i))`, `(?i:(?:f)l)`, `(?i:[é])`,
		`(?i:\p{L})`, `(?i:[^a])`, `(?i:[\w])`, `(?i:\S)`, `(?>a+){2}`, `(?:(?:ab++)c)*`, `(?:a|(?>b))++`, `(?:aa{1,3})+`, `.*`, `.{2}`, `(?:(?:a?))*`,
	} {
		if got, err := translate(source); err == nil {
			t.Errorf("translate(%s) = %s, want an error", source, got)
		}
	}
}
