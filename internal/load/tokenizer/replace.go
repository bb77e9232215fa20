package tokenizer

import (
	"fmt"
	"math"
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
	if len(v.Content) > maxDecoded {
		return nil, refuse(field+".content", shortened(v.Content), fmt.Sprintf("it is longer than %d bytes", maxDecoded))
	}
	r, err := v.replacement(field)
	return tokenDecoder(func(text string, _ bool) string { return r.rewrite(text, math.MaxInt) }), err
}

func (r replacement) rewrite(text string, most int) string {
	if s, ok := r.re.(literal); ok {
		return s.replace(text, r.content, most)
	}
	spans := r.re.spans(nil, text, new(scratch))
	if len(spans) == 1 && !spans[0].match {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for _, s := range spans {
		if b.Len() > most {
			break
		}
		if s.match {
			b.WriteString(r.content)
		} else {
			b.WriteString(text[s.start:s.stop])
		}
	}
	return b.String()
}

// replace replaces each match, until there are more than most bytes if it grows much.
func (l literal) replace(text, by string, most int) string {
	const little = 4
	if len(by) <= little*len(l) {
		return strings.ReplaceAll(text, string(l), by)
	}
	var b strings.Builder
	for b.Len() <= most {
		before, after, found := strings.Cut(text, string(l))
		b.WriteString(before)
		if text = after; !found {
			break
		}
		b.WriteString(by)
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
