package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// A splitter is one stage of the pre-tokenizer: it appends the parts of text,
// which is never empty, to dst.
type splitter interface {
	split(dst []string, text string, s *scratch) []string
}

// parsePreTokenizer reads the pre_tokenizer field.
func parsePreTokenizer(raw json.RawMessage) ([]splitter, error) {
	const field = "pre_tokenizer"
	if isNull(raw) {
		return nil, refuse(field, nil, "byte-level BPE needs ByteLevel")
	}
	stages, err := parseStage(raw, field)
	if err != nil {
		return nil, err
	}
	for i, stage := range stages {
		if _, ok := stage.(byteLevel); ok != (i == len(stages)-1) {
			return nil, fmt.Errorf("%s: ByteLevel must come last and only once", field)
		}
	}
	if len(stages) == 0 {
		return nil, fmt.Errorf("%s: ByteLevel is missing", field)
	}
	return stages, nil
}

func parseStage(raw json.RawMessage, field string) ([]splitter, error) {
	kind, err := kindOf(raw, field)
	if err != nil {
		return nil, err
	}
	var stage splitter
	switch kind {
	case "Sequence":
		return parseStages(raw, field)
	case "ByteLevel":
		stage, err = parseByteLevel(raw, field)
	case "Split":
		stage, err = parseSplit(raw, field)
	case "Digits":
		stage, err = parseDigits(raw, field)
	default:
		err = refuse(field+".type", kind, "")
	}
	return []splitter{stage}, err
}

func parseStages(raw json.RawMessage, field string) ([]splitter, error) {
	var v struct {
		Type          string            `json:"type"`
		Pretokenizers []json.RawMessage `json:"pretokenizers"`
	}
	if err := strict(raw, field, &v); err != nil {
		return nil, err
	}
	var all []splitter
	for i, raw := range v.Pretokenizers {
		stages, err := parseStage(raw, index(field+".pretokenizers", i))
		if err != nil {
			return nil, err
		}
		all = append(all, stages...)
	}
	return all, nil
}

// byteLevel splits by the pattern of GPT-2, if it has one, after putting a space
// in front of the text, if it is to.
type byteLevel struct {
	prefixSpace bool
	words       *matchSplit
}

const gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

func parseByteLevel(raw json.RawMessage, field string) (splitter, error) {
	v := byteLevelJSON{UseRegex: true}
	if err := strict(raw, field, &v); err != nil {
		return nil, err
	}
	if !v.UseRegex {
		return byteLevel{prefixSpace: v.AddPrefixSpace}, nil
	}
	re, err := compilePattern(gpt2Pattern)
	return byteLevel{v.AddPrefixSpace, &matchSplit{re: re, rule: isolated}}, err
}

// byteLevelJSON serves as pre-tokenizer, post-processor and decoder. Its
// trim_offsets concerns offsets, which are of no use here.
type byteLevelJSON struct {
	Type           string `json:"type"`
	AddPrefixSpace bool   `json:"add_prefix_space"`
	TrimOffsets    bool   `json:"trim_offsets"`
	UseRegex       bool   `json:"use_regex"`
}

func (l byteLevel) split(dst []string, text string, s *scratch) []string {
	if l.prefixSpace && !strings.HasPrefix(text, " ") {
		text = " " + text
	}
	if l.words == nil {
		return append(dst, text)
	}
	return l.words.split(dst, text, s)
}

// A rule says what becomes of the matches of a Split.
type rule int

const (
	isolated rule = iota // a part of their own
	removed              // dropped
	mergedWithPrevious
	mergedWithNext
	contiguous // matches in a row are one part
)

var ruleNames = map[string]rule{
	"Isolated":           isolated,
	"Removed":            removed,
	"MergedWithPrevious": mergedWithPrevious,
	"MergedWithNext":     mergedWithNext,
	"Contiguous":         contiguous,
}

// joins reports whether two neighbouring spans are one part.
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

// A span is a stretch of a text, in bytes, that matches a pattern or lies
// between matches.
type span struct {
	start, stop int
	match       bool
}

// A finder covers a text with spans, in order.
type finder interface {
	spans(dst []span, text string, s *scratch) []span
}

// A matchSplit splits at what a finder finds.
type matchSplit struct {
	re     finder
	rule   rule
	invert bool // what lies between matches is the match
}

func parseSplit(raw json.RawMessage, field string) (splitter, error) {
	var v struct {
		Type     string      `json:"type"`
		Pattern  patternJSON `json:"pattern"`
		Behavior string      `json:"behavior"`
		Invert   bool        `json:"invert"`
	}
	if err := strict(raw, field, &v); err != nil {
		return nil, err
	}
	rule, ok := ruleNames[v.Behavior]
	if !ok {
		return nil, refuse(field+".behavior", v.Behavior, "")
	}
	re, err := v.Pattern.compile(field + ".pattern")
	return &matchSplit{re, rule, v.Invert}, err
}

func parseDigits(raw json.RawMessage, field string) (splitter, error) {
	var v struct {
		Type             string `json:"type"`
		IndividualDigits bool   `json:"individual_digits"`
	}
	err := strict(raw, field, &v)
	if v.IndividualDigits {
		return &matchSplit{re: digits{}, rule: isolated}, err
	}
	return &matchSplit{re: digits{}, rule: contiguous}, err
}

func (m *matchSplit) split(dst []string, text string, s *scratch) []string {
	s.spans = m.re.spans(s.spans[:0], text, s)
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

// digits finds each character of a numeric category.
type digits struct{}

func (digits) spans(dst []span, text string, _ *scratch) []span {
	done := 0
	for i, r := range text {
		if !unicode.IsNumber(r) {
			continue
		}
		if done < i {
			dst = append(dst, span{done, i, false})
		}
		done = i + len(string(r))
		dst = append(dst, span{i, done, true})
	}
	if done < len(text) {
		dst = append(dst, span{done, len(text), false})
	}
	return dst
}
