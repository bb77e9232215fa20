package tokenizer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/plan"
)

const (
	tokenizerName = "tokenizer.json"
	configName    = "tokenizer_config.json"
)

// Load reads a tokenizer from fsys. name is a tokenizer.json, a tiktoken file, or a
// folder that contains one of them and optionally a tokenizer_config.json.
func Load(fsys fs.FS, name string) (*Tokenizer, error) {
	info, err := fs.Stat(fsys, name)
	file := name
	if err == nil && info.IsDir() {
		file, err = tokenizerIn(fsys, name)
	}
	if err != nil {
		return nil, err
	}
	ranks, err := isTiktoken(fsys, file)
	if err != nil {
		return nil, err
	}
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, err
	}
	var config []byte
	if ranks || info.IsDir() {
		config, err = fs.ReadFile(fsys, path.Join(path.Dir(file), configName))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if ranks {
		return ParseTiktoken(path.Base(file), data, config)
	}
	return Parse(data, config)
}

// tokenizerIn finds the tokenizer.json in a folder, or else a tiktoken file.
func tokenizerIn(fsys fs.FS, dir string) (string, error) {
	file := path.Join(dir, tokenizerName)
	_, missing := fs.Stat(fsys, file)
	if !errors.Is(missing, fs.ErrNotExist) {
		return file, missing
	}
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		file := path.Join(dir, entry.Name())
		if ranks, err := isTiktoken(fsys, file); ranks || err != nil {
			return file, err
		}
	}
	return "", fmt.Errorf("the folder has neither %s nor a tiktoken file: %w", tokenizerName, missing)
}

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

// Parse parses a tokenizer from the contents of tokenizer.json and, unless it is
// empty, of tokenizer_config.json. An error names the file, the field and the
// unsupported value.
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
	if bytes.HasPrefix(data, []byte("version https://git-lfs")) {
		return nil, errors.New("the file is only a Git LFS pointer; run git lfs pull to fetch its content")
	}
	var file fileJSON
	if err := plan.Unmarshal(data, &file); err != nil {
		return nil, rows.WrongType(err)
	}
	if file.Version != "1.0" {
		return nil, refuse("version", file.Version, "1.0 is")
	}
	t := new(Tokenizer)
	if err := t.parseStages(&file); err != nil {
		return nil, err
	}
	ends, isByteLevel := t.lastStage().(*byteLevel)
	model, vocab, isRaw, err := parseModel(file.Model, isByteLevel)
	if err != nil {
		return nil, err
	}
	if isRaw {
		ends.write = false
	}
	t.model, t.vocabSize = model, len(vocab.tokens)
	list := newAddedList(vocab)
	list.add(file.AddedTokens)
	return t, t.inTime(func() error { return t.addTokens(list, config) })
}

// parseStages parses the stages around the model.
func (t *Tokenizer) parseStages(file *fileJSON) error {
	var err error
	if t.normalize, err = stepKinds.stage(file.Normalizer, "normalizer", "normalizers"); err != nil {
		return err
	}
	stages, err := splitterKinds.stage(file.PreTokenizer, "pre_tokenizer", "pretokenizers")
	if err != nil {
		return err
	}
	t.pretokenize = slices.Concat(stages...)
	if err := fewByteLevels(t.pretokenize); err != nil {
		return err
	}
	if t.prefix, t.suffix, err = parsePostProcessor(file.PostProcessor); err != nil {
		return err
	}
	t.marksFirst = slices.ContainsFunc(t.pretokenize, func(s splitter) bool {
		m, ok := s.(metaspaceSplit)
		return ok && m.scheme == schemeFirst
	})
	t.pool.New = func() any { return new(scratch) }
	t.decoders, err = decoderKinds.stage(file.Decoder, "decoder", "decoders")
	if isNull(file.Decoder) {
		t.decoders = []decoder{joined(" ")}
	}
	return err
}

// fewByteLevels refuses a pre-tokenizer that doubles texts again and again.
func fewByteLevels(stages []splitter) error {
	n := 0
	for _, s := range stages {
		if _, ok := s.(*byteLevel); ok {
			n++
		}
	}
	if n > maxByteLevels {
		return fmt.Errorf("pre_tokenizer has %d stages ByteLevel; at most %d are supported", n, maxByteLevels)
	}
	return nil
}

// lastStage is the last stage of the pre-tokenizer, or nil.
func (t *Tokenizer) lastStage() splitter {
	if n := len(t.pretokenize); n > 0 {
		return t.pretokenize[n-1]
	}
	return nil
}

// addTokens completes t with the added tokens and those of config.
func (t *Tokenizer) addTokens(list *addedList, config *config) (err error) {
	config.extend(list)
	if t.added, err = list.sets(t.normalize); err != nil {
		return err
	}
	t.addedSpecial = list.specialIDs()
	t.specialIDs = t.addedSpecial
	if config != nil {
		t.specialIDs, t.bos = config.specialIDs(list), config.bos
		_, isBPE := t.model.(*bpe)
		t.cleansUp = config.cleanUp.Wanted && (config.cleanUp.Insist || !isBPE)
	}
	return t.fillPieces(list)
}

// fillPieces lists the piece of every id: an added token in its normalised form,
// else that of the vocabulary.
func (t *Tokenizer) fillPieces(list *addedList) error {
	tokens := maps.Clone(list.vocab.tokens)
	for id, tok := range list.byID {
		tokens[id] = tok.Content
		if tok.Normalized {
			tokens[id], _ = t.normalize.apply(tok.Content, most(len(tok.Content))) // it fits, as in its set
		}
	}
	t.allIDs = slices.Sorted(maps.Keys(tokens))
	if n := len(t.allIDs); n > 0 {
		t.pieces = make([]piece, t.allIDs[n-1]+1)
	}
	for id, token := range tokens {
		t.pieces[id] = piece{token, token, true, list.skipped[token]}
	}
	return t.decodePieces()
}

// decodePieces applies tokenDecoders to each piece in advance, and removes them.
func (t *Tokenizer) decodePieces() error {
	for len(t.decoders) > 0 {
		d, ok := t.decoders[0].(tokenDecoder)
		if !ok {
			break
		}
		sum := total{what: "decoder", limit: maxPieces, longest: maxPiece}
		for i, p := range t.pieces {
			t.pieces[i].text, t.pieces[i].first = d(p.text, false), d(p.first, true)
			if err := cmp.Or(sum.add(t.pieces[i].text), sum.add(t.pieces[i].first)); err != nil {
				return err
			}
		}
		t.decoders = t.decoders[1:]
	}
	if len(t.decoders) == 1 && t.decoders[0] == (byteLevelDecoder{}) {
		for i, p := range t.pieces {
			t.pieces[i].text = byteLevelText(p.text)
		}
		t.decoders = nil
	}
	return nil
}
