package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/rows"
)

// parsers are those of a stage's components, by their type. The field is for
// errors.
type parsers[T any] map[string]func(raw json.RawMessage, field string) (T, error)

// stage parses a stage of the tokenizer, which may be null.
func (p parsers[T]) stage(raw json.RawMessage, field, members string) ([]T, error) {
	if isNull(raw) {
		return nil, nil
	}
	all, err := p.parse(raw, field, members, 0)
	if err == nil {
		err = few(field, all)
	}
	return all, err
}

// parse parses a component, or those of a Sequence, which stand in its field members.
func (p parsers[T]) parse(raw json.RawMessage, field, members string, depth int) ([]T, error) {
	if isNull(raw) {
		return nil, refuse(field, nil, "")
	}
	var v struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("%s: %w", field, rows.WrongType(err))
	}
	if v.Type == "Sequence" {
		if depth == maxSequences {
			return nil, fmt.Errorf("%s: sequences are nested more than %d deep", field, maxSequences)
		}
		return p.sequence(raw, field, members, depth+1)
	}
	parse, ok := p[v.Type]
	if !ok {
		return nil, refuse(field+".type", v.Type, "")
	}
	one, err := parse(raw, field)
	return []T{one}, err
}

func (p parsers[T]) sequence(raw json.RawMessage, field, members string, depth int) ([]T, error) {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(raw, &fields)
	for name := range fields {
		if name != "type" && name != members {
			err = fmt.Errorf("unknown field %q", name)
		}
	}
	var list []json.RawMessage
	if err == nil {
		err = json.Unmarshal(fields[members], &list)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, rows.WrongType(err))
	}
	if err := few(field, list); err != nil {
		return nil, err
	}
	var all []T
	for i, raw := range list {
		some, err := p.parse(raw, index(field+"."+members, i), members, depth)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// settings parses a component that is made from its settings, a V with presets.
func settings[V, T any](preset V, create func(v V, field string) (T, error)) func(json.RawMessage, string) (T, error) {
	return func(raw json.RawMessage, field string) (made T, err error) {
		v := preset
		if err := strict(raw, field, &v); err != nil {
			return made, err
		}
		return create(v, field)
	}
}

// plain parses a component without settings.
func plain[T any](made T) func(json.RawMessage, string) (T, error) {
	type none struct {
		Type string `json:"type"`
	}
	return settings(none{}, func(none, string) (T, error) { return made, nil })
}

// strict decodes a component and rejects unknown fields.
func strict(raw json.RawMessage, field string, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s: %w", field, rows.WrongType(err))
	}
	return nil
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || slices.Equal(raw, []byte("null")) }

func index(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// refuse is the error for an unsupported value; hint, if any, is added in
// parentheses.
func refuse(field string, value any, hint string) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	if hint != "" {
		hint = " (" + hint + ")"
	}
	return fmt.Errorf("%s %s is not supported%s", field, text, hint)
}
