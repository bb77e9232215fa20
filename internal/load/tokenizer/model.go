package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/rows"
)

// maxID bounds token ids, since there is a table by id.
const maxID = 1 << 22

// A vocabulary is the model's own tokens. If two entries of a list have the same
// text, the text means the later one, and both ids decode.
type vocabulary struct {
	ids    map[string]int32
	tokens map[int32]string
}

// newVocabulary checks that every id is in range and unique.
func newVocabulary(ids map[string]int32) (vocabulary, error) {
	v := vocabulary{ids, make(map[int32]string, len(ids))}
	sum := total{what: "model.vocab", limit: maxVocabulary, longest: maxToken}
	for token, id := range ids {
		if err := sum.add(token); err != nil {
			return v, err
		}
		if id < 0 || id >= maxID {
			return v, refuse(fmt.Sprintf("model.vocab[%q]", token), id, "")
		}
		if other, ok := v.tokens[id]; ok {
			return v, fmt.Errorf("model.vocab: %q and %q share id %d", min(token, other), max(token, other), id)
		}
		v.tokens[id] = token
	}
	return v, nil
}

// id returns the id of a token, or noID.
func (v vocabulary) id(token string) int32 {
	if id, ok := v.ids[token]; ok {
		return id
	}
	return noID
}

// byteTokens returns the ids of <0x00> to <0xFF>, noID if missing.
func (v vocabulary) byteTokens() *[256]int32 {
	var ids [256]int32
	for b := range ids {
		ids[b] = v.id(fmt.Sprintf("<0x%02X>", b))
	}
	return &ids
}

// parseModel parses the model field. With byteLevel its words are bytes written in
// the alphabet of GPT-2. isRaw reports whether the model takes them as raw bytes.
func parseModel(raw json.RawMessage, byteLevel bool) (m model, v vocabulary, isRaw bool, err error) {
	kind, err := modelKind(raw)
	if err != nil {
		return nil, v, false, err
	}
	switch kind {
	case "BPE":
		return parseBPE(raw, byteLevel)
	case "Unigram":
		m, v, err = parseUnigram(raw)
	case "WordPiece":
		m, v, err = parseWordPiece(raw)
	case "WordLevel":
		m, v, err = parseWordLevel(raw)
	default:
		err = refuse("model.type", kind, "only BPE, Unigram, WordPiece and WordLevel are")
	}
	return m, v, false, err
}

// modelKind is the type of the model. The oldest files omit it; the other fields of
// the model then identify it.
func modelKind(raw json.RawMessage) (string, error) {
	if isNull(raw) {
		return "", refuse("model", nil, "")
	}
	var v struct {
		Type   *string         `json:"type"`
		Merges json.RawMessage `json:"merges"`
		Prefix *string         `json:"continuing_subword_prefix"`
		Limit  *int            `json:"max_input_chars_per_word"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return "", fmt.Errorf("model: %w", rows.WrongType(err))
	}
	switch {
	case v.Type != nil:
		return *v.Type, nil
	case v.Merges != nil:
		return "BPE", nil
	case v.Prefix != nil && v.Limit != nil:
		return "WordPiece", nil
	}
	return "", nil
}

// bpeJSON is the model field for BPE.
type bpeJSON struct {
	Type       *string          `json:"type"`
	Dropout    float64          `json:"dropout"`
	UnkToken   *string          `json:"unk_token"`
	Prefix     string           `json:"continuing_subword_prefix"`
	Suffix     string           `json:"end_of_word_suffix"`
	FuseUnk    bool             `json:"fuse_unk"`
	Fallback   bool             `json:"byte_fallback"`
	IgnoreAll  bool             `json:"ignore_merges"`
	Vocab      map[string]int32 `json:"vocab"`
	MergePairs []mergeJSON      `json:"merges"`
}

// A mergeJSON is ["a", "b"], or "a b" in older files.
type mergeJSON [2]string

func (m *mergeJSON) UnmarshalJSON(data []byte) error {
	var parts []string
	if data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		if strings.HasPrefix(text, versionLine) {
			*m = mergeJSON{versionLine}
			return nil
		}
		parts = strings.Split(text, " ")
	} else if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if len(parts) != 2 {
		return fmt.Errorf("merge %s is not two tokens", data)
	}
	*m = mergeJSON(parts)
	return nil
}

// versionLine starts a comment among the merges of old files.
const versionLine = "#version"

func parseBPE(raw json.RawMessage, byteLevel bool) (model, vocabulary, bool, error) {
	var j bpeJSON
	if err := strict(raw, "model", &j); err != nil {
		return nil, vocabulary{}, false, err
	}
	if err := j.validate(); err != nil {
		return nil, vocabulary{}, false, err
	}
	v, err := newVocabulary(j.Vocab)
	if err != nil {
		return nil, v, false, err
	}
	m := &bpe{cache: newWordCache()}
	isRaw := byteLevel && j.startsFromBytes()
	if isRaw {
		m.loadBytes(v)
	} else if m.chars, err = newCharSymbols(&j, v); err != nil {
		return nil, v, false, err
	}
	if j.IgnoreAll {
		m.loadWholeWords(v, isRaw)
	}
	return m, v, isRaw, m.loadMerges(&j)
}

func (j *bpeJSON) validate() error {
	var errs []error
	if j.Vocab == nil || j.MergePairs == nil {
		errs = append(errs, errors.New("model: vocab or merges is missing"))
	}
	if j.Dropout != 0 {
		errs = append(errs, refuse("model.dropout", j.Dropout, ""))
	}
	return errors.Join(errs...)
}

// startsFromBytes reports whether words can be taken as bytes: each byte has its
// own token or no replacement, and tokens are not marked by their place in the
// word.
func (j *bpeJSON) startsFromBytes() bool {
	if j.Prefix != "" || j.Suffix != "" {
		return false
	}
	for _, r := range byteRunes {
		if _, ok := j.Vocab[string(r)]; !ok && (j.UnkToken != nil || j.Fallback) {
			return false
		}
	}
	return true
}
