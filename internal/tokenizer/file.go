package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
)

const (
	tokenizerName = "tokenizer.json"
	configName    = "tokenizer_config.json"
)

// Load reads a tokenizer from fsys. The name is that of a tokenizer.json, or of
// a folder that holds one and perhaps a tokenizer_config.json.
func Load(fsys fs.FS, name string) (*Tokenizer, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		return Parse(data, nil)
	}
	data, err := fs.ReadFile(fsys, path.Join(name, tokenizerName))
	if err != nil {
		return nil, err
	}
	config, err := fs.ReadFile(fsys, path.Join(name, configName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return Parse(data, config)
}

// fileJSON is a tokenizer.json.
type fileJSON struct {
	Version       string          `json:"version"`
	Truncation    json.RawMessage `json:"truncation"`
	Padding       json.RawMessage `json:"padding"`
	AddedTokens   []addedToken    `json:"added_tokens"`
	Normalizer    json.RawMessage `json:"normalizer"`
	PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Decoder       json.RawMessage `json:"decoder"`
	Model         json.RawMessage `json:"model"`
}

// Parse reads a tokenizer from the contents of tokenizer.json and, unless it is
// empty, of tokenizer_config.json. An error names the file, the field and the
// value that is not understood.
func Parse(tokenizerJSON, configJSON []byte) (*Tokenizer, error) {
	config, err := parseConfig(configJSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configName, err)
	}
	t, err := parse(tokenizerJSON, config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tokenizerName, err)
	}
	return t, nil
}

func parse(data []byte, config *config) (*Tokenizer, error) {
	var file fileJSON
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if file.Version != "1.0" {
		return nil, refuse("version", file.Version, "1.0 is")
	}
	model, vocab, err := parseModel(file.Model)
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{model: model, vocabSize: len(vocab)}
	if err := t.parseStages(&file); err != nil {
		return nil, err
	}
	list := newAddedList(vocab)
	list.add(file.AddedTokens)
	t.addTokens(list, config)
	return t, nil
}

// parseStages reads what goes on around the model.
func (t *Tokenizer) parseStages(file *fileJSON) error {
	var err error
	if t.normalize, err = parseNormalizer(file.Normalizer, "normalizer"); err != nil {
		return err
	}
	if t.pretokenize, err = parsePreTokenizer(file.PreTokenizer); err != nil {
		return err
	}
	if t.prefix, t.suffix, err = parsePostProcessor(file.PostProcessor, "post_processor"); err != nil {
		return err
	}
	t.pool.New = func() any { return new(scratch) }
	return parseDecoder(file.Decoder, "decoder")
}

// addTokens completes t with the added tokens, of which config knows more.
func (t *Tokenizer) addTokens(list *addedList, config *config) {
	config.extend(list)
	t.added = list.sets(t.normalize)
	t.addedSpecial = list.specialIDs()
	t.specialIDs = t.addedSpecial
	if config != nil {
		t.specialIDs, t.bos = config.specialIDs(list), config.bos
	}
	t.fillPieces(list)
}

// fillPieces lists what every id decodes to: an added token in its normalised
// form, then what the vocabulary says.
func (t *Tokenizer) fillPieces(list *addedList) {
	tokens := make(map[int32]string, len(list.vocab)+len(list.byID))
	top := int32(-1)
	for content, id := range list.vocab {
		tokens[id] = content
		top = max(top, id)
	}
	for id, tok := range list.byID {
		tokens[id] = tok.Content
		if tok.Normalized {
			tokens[id] = t.normalize(tok.Content)
		}
		top = max(top, id)
	}
	t.pieces = make([]piece, top+1)
	t.allIDs = slices.Sorted(maps.Keys(tokens))
	for id, token := range tokens {
		text, ok := tokenBytes(token)
		if !ok {
			text = token
		}
		t.pieces[id] = piece{text, list.skipped[token]}
	}
}

// parseDecoder checks that the decoder field is ByteLevel, perhaps as the only
// member of a Sequence.
func parseDecoder(raw json.RawMessage, field string) error {
	kind, err := kindOf(raw, field)
	if err != nil {
		return err
	}
	switch kind {
	case "ByteLevel":
		return strict(raw, field, new(byteLevelJSON))
	case "Sequence":
		var v struct {
			Type     string            `json:"type"`
			Decoders []json.RawMessage `json:"decoders"`
		}
		if err := strict(raw, field, &v); err != nil {
			return err
		}
		if len(v.Decoders) != 1 {
			return refuse(field+".decoders", len(v.Decoders), "1 is")
		}
		return parseDecoder(v.Decoders[0], index(field+".decoders", 0))
	}
	return refuse(field+".type", kind, "ByteLevel is")
}

// kindOf returns the type of a component, which must not be null.
func kindOf(raw json.RawMessage, field string) (string, error) {
	if isNull(raw) {
		return "", refuse(field, nil, "")
	}
	var v struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return "", fmt.Errorf("%s: %w", field, err)
	}
	return v.Type, nil
}

// strict decodes a component of which every field is known.
func strict(raw json.RawMessage, field string, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

// onlyType checks that a component has no settings.
func onlyType(raw json.RawMessage, field string) error {
	return strict(raw, field, &struct {
		Type string `json:"type"`
	}{})
}

func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || slices.Equal(raw, []byte("null"))
}

func index(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// refuse is the error for a value that is not supported; hint, if any, says more
// in parentheses.
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
