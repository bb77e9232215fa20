package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// A replacement replaces each match of a pattern by a text. It is a normalizer and
// a decoder.
type replacement struct {
	re      finder
	content string
}

type replaceJSON struct {
	Type    string      `json:"type"`
	Pattern patternJSON `json:"pattern"`
	Content string      `json:"content"`
}

func (v replaceJSON) replacement(field string) (r replacement, err error) {
	if v.Pattern.mayBeEmpty() {
		return r, refuse(field+".pattern.Regex", *v.Pattern.Regex, "it may match the empty string")
	}
	r.content = v.Content
	r.re, err = v.Pattern.compile(field + ".pattern")
	return r, err
}

func (v replaceJSON) step(field string) (step, error) {
	r, err := v.replacement(field)
	return step{r.rewrite, r.head}, err
}

func (v replaceJSON) decoder(field string) (decoder, error) {
	r, err := v.replacement(field)
	return tokenDecoder(func(text string, _ bool) string { return r.rewrite(text) }), err
}

func (r replacement) rewrite(text string) string {
	if s, ok := r.re.(literal); ok {
		return strings.ReplaceAll(text, string(s), r.content)
	}
	spans := r.re.spans(nil, text, new(scratch))
	if len(spans) == 1 && !spans[0].match {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for _, s := range spans {
		if s.match {
			b.WriteString(r.content)
		} else {
			b.WriteString(text[s.start:s.stop])
		}
	}
	return b.String()
}

// head: the new text comes from the last character of the match.
func (r replacement) head(text string, h int) int {
	n := 0
	for _, s := range r.re.spans(nil, text, new(scratch)) {
		if s.start >= h {
			break
		}
		if !s.match {
			n += min(s.stop, h) - s.start
			continue
		}
		if _, size := utf8.DecodeLastRuneInString(text[:s.stop]); s.stop-size >= h {
			break
		}
		n += len(r.content)
	}
	return n
}
