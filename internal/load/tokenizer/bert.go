package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// bertJSON is a BertNormalizer. By default accents are stripped together with
// lowercasing.
type bertJSON struct {
	Type         string `json:"type"`
	CleanText    bool   `json:"clean_text"`
	ChineseChars bool   `json:"handle_chinese_chars"`
	StripAccents *bool  `json:"strip_accents"`
	Lowercase    bool   `json:"lowercase"`
}

func (v bertJSON) step(string) (step, error) {
	var steps normalizer
	if v.CleanText {
		steps = append(steps, filter(others.has, bertSpace))
	}
	if v.ChineseChars {
		steps = append(steps, step{rewrite: bounded(spaceChinese)})
	}
	if v.StripAccents == nil && v.Lowercase || v.StripAccents != nil && *v.StripAccents {
		steps = append(steps, step{rewrite: bounded(normalForm(norm.NFD))}, filter(nonspacing.has, nil))
	}
	if v.Lowercase {
		steps = append(steps, step{rewrite: bounded(lowercase)})
	}
	return step{rewrite: bounded(func(text string) string {
		if isPrintableASCII(text) {
			if v.Lowercase {
				return strings.ToLower(text)
			}
			return text
		}
		text, _ = steps.apply(text, most(len(text))) // none of them makes much more of it
		return text
	})}, nil
}

func isPrintableASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= 0x7f {
			return false
		}
	}
	return true
}

func bertSpace(r rune) rune {
	if r != ' ' && spaces.has(r) {
		return ' '
	}
	return r
}

// chinese are the ideographs that BERT separates.
var chinese = &unicode.RangeTable{
	R16: []unicode.Range16{{0x3400, 0x4dbf, 1}, {0x4e00, 0x9fff, 1}, {0xf900, 0xfaff, 1}},
	R32: []unicode.Range32{
		{0x20000, 0x2a6df, 1},
		{0x2a700, 0x2b73f, 1},
		{0x2b740, 0x2b81f, 1},
		{0x2b920, 0x2ceaf, 1},
		{0x2f800, 0x2fa1f, 1},
	},
}

// spaceChinese puts spaces around ideographs.
func spaceChinese(text string) string {
	var b strings.Builder
	done := 0
	for i, r := range text {
		if r < 0x3400 || !unicode.Is(chinese, r) {
			continue
		}
		b.WriteString(text[done:i])
		done = i + utf8.RuneLen(r)
		b.WriteByte(' ')
		b.WriteString(text[i:done])
		b.WriteByte(' ')
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}
