package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// maxID bounds token ids, as there is a table by id.
const maxID = 1 << 22

// modelJSON is the model field for BPE.
type modelJSON struct {
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

// parseModel reads the model field and returns its vocabulary with it.
func parseModel(raw json.RawMessage) (model, map[string]int32, error) {
	kind, err := modelKind(raw)
	if err != nil {
		return nil, nil, err
	}
	if kind != "BPE" {
		return nil, nil, refuse("model.type", kind, "byte-level BPE is")
	}
	var v modelJSON
	if err := strict(raw, "model", &v); err != nil {
		return nil, nil, err
	}
	if err := v.validate(); err != nil {
		return nil, nil, err
	}
	m := &bpe{cache: newWordCache()}
	if err := m.loadVocab(&v); err != nil {
		return nil, nil, err
	}
	return m, v.Vocab, m.loadMerges(&v)
}

// modelKind is the type of the model. The oldest files leave it out, and of
// their models only BPE has merges.
func modelKind(raw json.RawMessage) (string, error) {
	if isNull(raw) {
		return "", refuse("model", nil, "")
	}
	var v struct {
		Type   *string         `json:"type"`
		Merges json.RawMessage `json:"merges"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return "", fmt.Errorf("model: %w", err)
	}
	switch {
	case v.Type != nil:
		return *v.Type, nil
	case v.Merges != nil:
		return "BPE", nil
	}
	return "", nil
}

func (v *modelJSON) validate() error {
	var errs []error
	if v.Vocab == nil || v.MergePairs == nil {
		errs = append(errs, errors.New("model: vocab or merges is missing"))
	}
	if v.Dropout != 0 {
		errs = append(errs, refuse("model.dropout", v.Dropout, ""))
	}
	if v.Prefix != "" {
		errs = append(errs, refuse("model.continuing_subword_prefix", v.Prefix, ""))
	}
	if v.Suffix != "" {
		errs = append(errs, refuse("model.end_of_word_suffix", v.Suffix, ""))
	}
	return errors.Join(errs...)
}

// loadVocab fills the tables by bytes. What stands for an unknown byte only
// matters when there is one.
func (m *bpe) loadVocab(v *modelJSON) error {
	seen := make(map[int32]string, len(v.Vocab))
	for token, id := range v.Vocab {
		if id < 0 || id >= maxID {
			return refuse(fmt.Sprintf("model.vocab[%q]", token), id, "")
		}
		if other, ok := seen[id]; ok {
			return fmt.Errorf("model.vocab: %q and %q share id %d", min(token, other), max(token, other), id)
		}
		seen[id] = token
	}
	for b, r := range byteRunes {
		id, ok := v.Vocab[string(r)]
		if !ok {
			id = noID
			if v.UnkToken != nil || v.Fallback {
				return fmt.Errorf("model.vocab has no token for byte %#x, and unk_token and byte_fallback are not supported", b)
			}
		}
		m.bytes[b] = id
	}
	if v.IgnoreAll {
		m.loadWhole(v.Vocab)
	}
	return nil
}

func (m *bpe) loadWhole(vocab map[string]int32) {
	m.whole = make(map[string]int32, len(vocab))
	for token, id := range vocab {
		if text, ok := tokenBytes(token); ok {
			m.whole[text] = id
		}
	}
}

// loadMerges ranks the merges by their order. Of two merges of a pair the later
// one counts.
func (m *bpe) loadMerges(v *modelJSON) error {
	m.pairs = make(map[pair]merge, len(v.MergePairs))
	var rank int32
	for i, tokens := range v.MergePairs {
		if tokens == (mergeJSON{versionLine}) {
			continue
		}
		left, okLeft := v.Vocab[tokens[0]]
		right, okRight := v.Vocab[tokens[1]]
		id, ok := v.Vocab[tokens[0]+tokens[1]]
		if !okLeft || !okRight || !ok {
			return fmt.Errorf("%s: %q and %q and what they merge to are not all in model.vocab",
				index("model.merges", i), tokens[0], tokens[1])
		}
		m.pairs[pair{left, right}] = merge{rank, id}
		if rank++; rank == math.MaxInt32 {
			return errors.New("model.merges: too many")
		}
	}
	return nil
}
