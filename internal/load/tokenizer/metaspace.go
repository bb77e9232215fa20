package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// metaspace is SentencePiece's character for a space.
const (
	metaspace     = '▁'
	metaspaceMark = string(metaspace)
)

// A metaspaceSplit writes spaces as a mark and splits before each. It is a
// pre-tokenizer and, inverted, a decoder.
type metaspaceSplit struct {
	mark    string
	scheme  string // which texts get a mark at the beginning
	unsplit bool   // without splitting
}

const (
	schemeAlways = "always"
	schemeFirst  = "first" // the one at the start of the text
	schemeNever  = "never"
)

type metaspaceJSON struct {
	Type        string  `json:"type"`
	Replacement string  `json:"replacement"`
	PrefixSpace *bool   `json:"add_prefix_space"`
	Scheme      string  `json:"prepend_scheme"`
	Split       *bool   `json:"split"`
	StrRep      *string `json:"str_rep"`
}

var parseMetaspace = settings(metaspaceJSON{Scheme: schemeAlways}, metaspaceJSON.split)

func (v metaspaceJSON) split(field string) (m metaspaceSplit, err error) {
	if utf8.RuneCountInString(v.Replacement) != 1 {
		return m, refuse(field+".replacement", v.Replacement, "only one character is")
	}
	switch v.Scheme {
	case schemeAlways, schemeFirst, schemeNever:
	default:
		return m, refuse(field+".prepend_scheme", v.Scheme, "only always, first and never are")
	}
	if v.PrefixSpace != nil && !*v.PrefixSpace && v.Scheme != schemeNever {
		return m, refuse(field+".add_prefix_space", false, "prepend_scheme is "+v.Scheme)
	}
	return metaspaceSplit{v.Replacement, v.Scheme, v.Split != nil && !*v.Split}, nil
}

func (m metaspaceSplit) split(dst []string, text string, s *scratch) []string {
	text = strings.ReplaceAll(text, " ", m.mark)
	if (m.scheme == schemeAlways || m.scheme == schemeFirst && s.first) && !strings.HasPrefix(text, m.mark) {
		text = m.mark + text
	}
	for !m.unsplit {
		start := 0
		if strings.HasPrefix(text, m.mark) {
			start = len(m.mark)
		}
		next := strings.Index(text[start:], m.mark)
		if next < 0 {
			break
		}
		dst = append(dst, text[:start+next])
		text = text[start+next:]
	}
	return append(dst, text)
}

// token writes marks as spaces, except one that marks the beginning.
func (m metaspaceSplit) token(text string, first bool) string {
	if first && m.scheme != schemeNever {
		return strings.ReplaceAll(text, m.mark, "")
	}
	return strings.ReplaceAll(text, m.mark, " ")
}
