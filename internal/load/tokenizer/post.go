package tokenizer

import (
	"encoding/json"
	"fmt"
	"slices"
)

// parsePostProcessor parses the post_processor field and returns the ids before and
// after a single sequence.
func parsePostProcessor(raw json.RawMessage, field string) (prefix, suffix []int32, err error) {
	if isNull(raw) {
		return nil, nil, nil
	}
	kind, err := kindOf(raw, field)
	if err != nil {
		return nil, nil, err
	}
	switch kind {
	case "ByteLevel":
		return nil, nil, strict(raw, field, new(byteLevelJSON))
	case "BertProcessing":
		return parseBertProcessing(raw, field)
	case "RobertaProcessing":
		return parseRoberta(raw, field)
	case "TemplateProcessing":
		return parseTemplate(raw, field)
	case "Sequence":
		return parsePostProcessors(raw, field)
	}
	return nil, nil, refuse(field+".type", kind, "")
}

// parsePostProcessors parses a sequence, of which only one member may add tokens:
// the result of a template is not the single sequence that another one expects.
func parsePostProcessors(raw json.RawMessage, field string) (prefix, suffix []int32, err error) {
	var v struct {
		Type       string            `json:"type"`
		Processors []json.RawMessage `json:"processors"`
	}
	if err := strict(raw, field, &v); err != nil {
		return nil, nil, err
	}
	added := false
	for i, raw := range v.Processors {
		here := index(field+".processors", i)
		before, after, err := parsePostProcessor(raw, here)
		if err != nil {
			return nil, nil, err
		}
		if len(before)+len(after) == 0 {
			continue
		}
		if added {
			return nil, nil, fmt.Errorf("%s: a second template is not supported", here)
		}
		prefix, suffix, added = before, after, true
	}
	return prefix, suffix, nil
}

func parseRoberta(raw json.RawMessage, field string) (prefix, suffix []int32, err error) {
	var v struct {
		Type           string    `json:"type"`
		Sep            tokenJSON `json:"sep"`
		Cls            tokenJSON `json:"cls"`
		TrimOffsets    bool      `json:"trim_offsets"`
		AddPrefixSpace bool      `json:"add_prefix_space"`
	}
	err = strict(raw, field, &v)
	return []int32{v.Cls.id}, []int32{v.Sep.id}, err
}

func parseBertProcessing(raw json.RawMessage, field string) (prefix, suffix []int32, err error) {
	var v struct {
		Type string    `json:"type"`
		Sep  tokenJSON `json:"sep"`
		Cls  tokenJSON `json:"cls"`
	}
	err = strict(raw, field, &v)
	return []int32{v.Cls.id}, []int32{v.Sep.id}, err
}

// A tokenJSON is ["</s>", 2].
type tokenJSON struct {
	token string
	id    int32
}

func (t *tokenJSON) UnmarshalJSON(data []byte) error {
	fields := []any{&t.token, &t.id}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	if len(fields) != 2 {
		return fmt.Errorf("%s is not a token and its id", data)
	}
	return nil
}

// templateJSON is a TemplateProcessing. Its template for pairs is not used.
type templateJSON struct {
	Type          string          `json:"type"`
	Single        []templatePiece `json:"single"`
	Pair          json.RawMessage `json:"pair"`
	SpecialTokens map[string]struct {
		ID     string   `json:"id"`
		IDs    []int32  `json:"ids"`
		Tokens []string `json:"tokens"`
	} `json:"special_tokens"`
}

type templatePiece struct {
	SpecialToken *templateItem
	Sequence     *templateItem
}

type templateItem struct {
	ID     string `json:"id"`
	TypeID int    `json:"type_id"`
}

func parseTemplate(raw json.RawMessage, field string) (prefix, suffix []int32, err error) {
	var v templateJSON
	if err := strict(raw, field, &v); err != nil {
		return nil, nil, err
	}
	isText := func(p templatePiece) bool { return p.Sequence != nil && p.Sequence.ID == "A" }
	at := slices.IndexFunc(v.Single, isText)
	if at < 0 {
		return nil, nil, fmt.Errorf("%s.single: sequence A is missing", field)
	}
	if prefix, err = v.ids(v.Single[:at], field); err != nil {
		return nil, nil, err
	}
	suffix, err = v.ids(v.Single[at+1:], field)
	return prefix, suffix, err
}

// ids returns the ids of template pieces that are special tokens.
func (v *templateJSON) ids(pieces []templatePiece, field string) ([]int32, error) {
	var ids []int32
	for _, p := range pieces {
		if p.SpecialToken == nil {
			return nil, fmt.Errorf("%s.single: only special tokens may surround one sequence A", field)
		}
		tok, ok := v.SpecialTokens[p.SpecialToken.ID]
		if !ok {
			return nil, fmt.Errorf("%s.special_tokens: %q is missing", field, p.SpecialToken.ID)
		}
		ids = append(ids, tok.IDs...)
	}
	return ids, nil
}
