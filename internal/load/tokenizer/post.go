package tokenizer

import (
	"encoding/json"
	"fmt"
	"slices"
)

// An ends is what a post-processor puts around a single sequence: ids before and
// after it.
type ends struct {
	field          string
	prefix, suffix []int32
}

var processorKinds = parsers[ends]{
	"BertProcessing":     settings(bertProcessing{}, bertProcessing.ends),
	"ByteLevel":          settings(byteLevelJSON{}, func(byteLevelJSON, string) (ends, error) { return ends{}, nil }),
	"RobertaProcessing":  settings(robertaProcessing{}, robertaProcessing.ends),
	"TemplateProcessing": settings(templateJSON{}, templateJSON.ends),
}

// parsePostProcessor parses the post_processor field. Only one member of a sequence may
// add tokens: the result of a template is not the single sequence that another expects.
func parsePostProcessor(raw json.RawMessage) (prefix, suffix []int32, err error) {
	all, err := processorKinds.stage(raw, "post_processor", "processors")
	adding := slices.DeleteFunc(all, func(e ends) bool { return len(e.prefix)+len(e.suffix) == 0 })
	switch {
	case err != nil || len(adding) == 0:
		return nil, nil, err
	case len(adding) > 1:
		return nil, nil, fmt.Errorf("%s: a second template is not supported", adding[1].field)
	}
	if n := len(adding[0].prefix) + len(adding[0].suffix); n > maxAround {
		return nil, nil, fmt.Errorf("%s puts %d tokens around a text; at most %d are supported", adding[0].field,
			n, maxAround)
	}
	return adding[0].prefix, adding[0].suffix, nil
}

type robertaProcessing struct {
	bertProcessing
	TrimOffsets    bool `json:"trim_offsets"`
	AddPrefixSpace bool `json:"add_prefix_space"`
}

type bertProcessing struct {
	Type string           `json:"type"`
	Sep  tokenWith[int32] `json:"sep"`
	Cls  tokenWith[int32] `json:"cls"`
}

func (b bertProcessing) ends(field string) (ends, error) {
	return ends{field, []int32{b.Cls.with}, []int32{b.Sep.with}}, nil
}

// A tokenWith is a token with its id or its score: ["</s>", 2], ["▁the", -3.25].
type tokenWith[T any] struct {
	text string
	with T
}

func (t *tokenWith[T]) UnmarshalJSON(data []byte) error {
	fields := []any{&t.text, &t.with}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	if len(fields) != 2 {
		return fmt.Errorf("%s is not a token and a number", data)
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

func (v templateJSON) ends(field string) (e ends, err error) {
	isText := func(p templatePiece) bool { return p.Sequence != nil && p.Sequence.ID == "A" }
	at := slices.IndexFunc(v.Single, isText)
	if at < 0 {
		return e, fmt.Errorf("%s.single: sequence A is missing", field)
	}
	e.field = field
	if e.prefix, err = v.ids(v.Single[:at], field); err != nil {
		return e, err
	}
	e.suffix, err = v.ids(v.Single[at+1:], field)
	return e, err
}

func (v templateJSON) ids(pieces []templatePiece, field string) ([]int32, error) {
	var ids []int32
	for _, p := range pieces {
		if p.SpecialToken == nil {
			return nil, fmt.Errorf("%s.single: only special tokens may surround one sequence A", field)
		}
		tok, ok := v.SpecialTokens[p.SpecialToken.ID]
		if !ok {
			return nil, fmt.Errorf("%s.special_tokens: %q is missing", field, p.SpecialToken.ID)
		}
		if ids = append(ids, tok.IDs...); len(ids) > maxAround {
			return nil, fmt.Errorf("%s.single puts more than %d tokens around a text", field, maxAround)
		}
	}
	return ids, nil
}
