package tokenizer

import (
	"encoding/json"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A normalizer rewrites a text.
type normalizer func(string) string

func unchanged(text string) string { return text }

// parseNormalizer reads the normalizer field.
func parseNormalizer(raw json.RawMessage, field string) (normalizer, error) {
	if isNull(raw) {
		return unchanged, nil
	}
	kind, err := kindOf(raw, field)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "Sequence":
		return parseNormalizers(raw, field)
	case "Replace":
		return parseReplace(raw, field)
	case "Prepend":
		return parsePrepend(raw, field)
	case "Lowercase":
		return lowercase, onlyType(raw, field)
	case "NFC":
		return normalForm(norm.NFC), onlyType(raw, field)
	case "NFD":
		return normalForm(norm.NFD), onlyType(raw, field)
	case "NFKC":
		return normalForm(norm.NFKC), onlyType(raw, field)
	case "NFKD":
		return normalForm(norm.NFKD), onlyType(raw, field)
	}
	return nil, refuse(field+".type", kind, "")
}

func parseNormalizers(raw json.RawMessage, field string) (normalizer, error) {
	var v struct {
		Type        string            `json:"type"`
		Normalizers []json.RawMessage `json:"normalizers"`
	}
	if err := strict(raw, field, &v); err != nil {
		return nil, err
	}
	var list []normalizer
	for i, raw := range v.Normalizers {
		n, err := parseNormalizer(raw, index(field+".normalizers", i))
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return func(text string) string {
		for _, n := range list {
			text = n(text)
		}
		return text
	}, nil
}

func parsePrepend(raw json.RawMessage, field string) (normalizer, error) {
	var v struct {
		Type    string `json:"type"`
		Prepend string `json:"prepend"`
	}
	if err := strict(raw, field, &v); err != nil {
		return nil, err
	}
	return func(text string) string {
		if text == "" {
			return text
		}
		return v.Prepend + text
	}, nil
}

func parseReplace(raw json.RawMessage, field string) (normalizer, error) {
	var v struct {
		Type    string      `json:"type"`
		Pattern patternJSON `json:"pattern"`
		Content string      `json:"content"`
	}
	if err := strict(raw, field, &v); err != nil {
		return nil, err
	}
	if v.Pattern.mayBeEmpty() {
		return nil, refuse(field+".pattern.Regex", *v.Pattern.Regex, "it may match without a character")
	}
	re, err := v.Pattern.compile(field + ".pattern")
	if err != nil {
		return nil, err
	}
	return func(text string) string {
		var b strings.Builder
		for _, s := range re.spans(nil, text, new(scratch)) {
			if s.match {
				b.WriteString(v.Content)
			} else {
				b.WriteString(text[s.start:s.stop])
			}
		}
		return b.String()
	}, nil
}

// lowercase maps each character alone to its full lower case. That is the
// simple one, but for the only character with a longer mapping that does not
// depend on its neighbours.
func lowercase(text string) string {
	return strings.Map(unicode.ToLower, strings.ReplaceAll(text, "İ", "i̇"))
}
