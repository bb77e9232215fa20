package tokenizer

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// A splitter is one stage of the pre-tokenizer: it appends the parts of text,
// which is never empty, to dst.
type splitter interface {
	split(dst []string, text string, s *scratch) []string
}

var splitterKinds = parsers[[]splitter]{
	"BertPreTokenizer":   plain([]splitter{splitAt(spaces, removed), splitAt(punctuation, isolated)}),
	"ByteLevel":          one(settings(byteLevelJSON{UseRegex: true}, byteLevelJSON.split)),
	"CharDelimiterSplit": one(settings(delimiterJSON{}, delimiterJSON.split)),
	"Digits":             one(settings(digitsJSON{}, digitsJSON.split)),
	"FixedLength":        one(settings(fixedLengthJSON{Length: 5}, fixedLengthJSON.split)),
	"Metaspace":          one(parseMetaspace),
	"Punctuation":        one(settings(punctuationJSON{Behavior: "Isolated"}, punctuationJSON.split)),
	"Split":              one(settings(splitJSON{}, splitJSON.split)),
	"UnicodeScripts":     plain([]splitter{unicodeScripts{}}),
	"Whitespace":         plain([]splitter{splitAt(wordGaps{}, removed)}),
	"WhitespaceSplit":    plain([]splitter{splitAt(spaces, removed)}),
}

// one parses a pre-tokenizer that is a single stage.
func one[S splitter](parse func(json.RawMessage, string) (S, error)) func(json.RawMessage, string) ([]splitter, error) {
	return func(raw json.RawMessage, field string) ([]splitter, error) {
		s, err := parse(raw, field)
		return []splitter{s}, err
	}
}

// byteLevel splits by the pattern of GPT-2, if enabled, after adding a space before
// the text, if enabled. For a model on bytes that is all; for others words are
// written in the byte alphabet.
type byteLevel struct {
	prefixSpace bool
	words       *matchSplit
	write       bool
}

const gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

func (v byteLevelJSON) split(string) (*byteLevel, error) {
	l := &byteLevel{prefixSpace: v.AddPrefixSpace, write: true}
	if !v.UseRegex {
		return l, nil
	}
	l.words = splitAt(wordPatterns[gpt2Pattern].ready(), isolated)
	return l, nil
}

// byteLevelJSON is a pre-tokenizer, post-processor or decoder. Its trim_offsets
// only concerns offsets, which are not used here.
type byteLevelJSON struct {
	Type           string `json:"type"`
	AddPrefixSpace bool   `json:"add_prefix_space"`
	TrimOffsets    bool   `json:"trim_offsets"`
	UseRegex       bool   `json:"use_regex"`
}

func (l *byteLevel) split(dst []string, text string, s *scratch) []string {
	if l.prefixSpace && !strings.HasPrefix(text, " ") {
		text = " " + text
	}
	start := len(dst)
	if l.words == nil {
		dst = append(dst, text)
	} else {
		dst = l.words.split(dst, text, s)
	}
	for i := start; l.write && i < len(dst); i++ {
		dst[i] = toByteLevel(dst[i])
	}
	return dst
}

// A rule says how a Split treats its matches.
type rule int

const (
	isolated rule = iota // separate parts
	removed              // dropped
	mergedWithPrevious
	mergedWithNext
	contiguous // consecutive matches are one part
)

var ruleNames = map[string]rule{
	"Isolated":           isolated,
	"Removed":            removed,
	"MergedWithPrevious": mergedWithPrevious,
	"MergedWithNext":     mergedWithNext,
	"Contiguous":         contiguous,
}

// joins reports whether two adjacent spans are one part.
func (r rule) joins(previous, next bool) bool {
	switch r {
	case mergedWithPrevious:
		return next && !previous
	case mergedWithNext:
		return previous && !next
	case contiguous:
		return previous == next
	}
	return false
}

// A span is a range of a text, in bytes, that matches a pattern or lies between
// matches.
type span struct {
	start, stop int
	match       bool
}

// A finder covers a text with spans, in order.
type finder interface {
	spans(dst []span, text string, s *scratch) []span
}

type matchSplit struct {
	re     finder
	rule   rule
	invert bool // the text between matches is the match
}

func splitAt(f finder, r rule) *matchSplit { return &matchSplit{re: f, rule: r} }

type splitJSON struct {
	Type     string      `json:"type"`
	Pattern  patternJSON `json:"pattern"`
	Behavior string      `json:"behavior"`
	Invert   bool        `json:"invert"`
}

func (v splitJSON) split(field string) (*matchSplit, error) {
	rule, err := parseRule(v.Behavior, field)
	if err != nil {
		return nil, err
	}
	re, err := v.Pattern.compile(field + ".pattern")
	return &matchSplit{re, rule, v.Invert}, err
}

func parseRule(behavior, field string) (rule, error) {
	r, ok := ruleNames[behavior]
	if !ok {
		return r, refuse(field+".behavior", behavior, "")
	}
	return r, nil
}

type punctuationJSON struct {
	Type     string `json:"type"`
	Behavior string `json:"behavior"`
}

func (v punctuationJSON) split(field string) (*matchSplit, error) {
	rule, err := parseRule(v.Behavior, field)
	return splitAt(punctuation, rule), err
}

type digitsJSON struct {
	Type             string `json:"type"`
	IndividualDigits bool   `json:"individual_digits"`
}

func (v digitsJSON) split(string) (*matchSplit, error) {
	if v.IndividualDigits {
		return splitAt(numbers, isolated), nil
	}
	return splitAt(numbers, contiguous), nil
}

type delimiterJSON struct {
	Type      string `json:"type"`
	Delimiter string `json:"delimiter"`
}

func (v delimiterJSON) split(field string) (*matchSplit, error) {
	if utf8.RuneCountInString(v.Delimiter) != 1 {
		return nil, refuse(field+".delimiter", v.Delimiter, "only one character is")
	}
	return splitAt(literal(v.Delimiter), removed), nil
}

// fixedLength splits into parts of this many characters.
type fixedLength int

type fixedLengthJSON struct {
	Type   string `json:"type"`
	Length int    `json:"length"`
}

func (v fixedLengthJSON) split(field string) (fixedLength, error) {
	if v.Length < 1 {
		return 0, refuse(field+".length", v.Length, "only 1 or more is")
	}
	return fixedLength(v.Length), nil
}

func (l fixedLength) split(dst []string, text string, _ *scratch) []string {
	start, n := 0, 0
	for i := range text {
		if n == int(l) {
			dst = append(dst, text[start:i])
			start, n = i, 0
		}
		n++
	}
	return append(dst, text[start:])
}

func (m *matchSplit) split(dst []string, text string, s *scratch) []string {
	if words, ok := m.re.(*wordPattern); ok && m.rule == isolated {
		return words.split(dst, text, s)
	}
	s.spans = m.re.spans(s.spans[:0], text, s)
	if m.rule == removed && len(s.spans) > 0 && s.spans[0].match != m.invert {
		s.first = false
	}
	start, stop := 0, 0
	for i, sp := range s.spans {
		if i > 0 && !m.rule.joins(s.spans[i-1].match != m.invert, sp.match != m.invert) {
			dst = appendPart(dst, text[start:stop])
			start = sp.start
		}
		stop = sp.stop
		if m.rule == removed && sp.match != m.invert {
			start = stop
		}
	}
	return appendPart(dst, text[start:stop])
}

func appendPart(dst []string, part string) []string {
	if part == "" {
		return dst
	}
	return append(dst, part)
}
