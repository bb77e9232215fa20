package tokenizer

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A tiktoken file lists tokens by rank, a line "base64 rank" each. Its model is BPE
// on bytes in which any two adjacent tokens merge if their bytes are a token, the
// lowest rank first; a word that is a token needs no merges. The file does not
// define the splitting of text into words, nor the special tokens: an encoding
// does.
type encoding struct {
	words     string // regular expression of its wordPattern
	normalize bool   // to NFC
	chunks    bool   // long texts are cut first; see chunks
	prefix    []string
	specials  func(ranks int, c *config) (map[int32]addedToken, error)
	counted   bool // special tokens count towards the size of the vocabulary
}

// encodings are the known ones, by name.
var encodings = map[string]encoding{
	"r50k_base":     {words: gpt2Pattern, specials: fixed(map[int32]string{50256: "<|endoftext|>"})},
	"p50k_base":     {words: gpt2Pattern, specials: fixed(map[int32]string{50256: "<|endoftext|>"})},
	"cl100k_base":   {words: cl100kOpenAI, specials: fixed(cl100kSpecials)},
	"o200k_base":    {words: o200kWords, specials: fixed(o200kSpecials)},
	"o200k_harmony": {words: o200kWords, specials: fixed(harmonySpecials())},
	"qwen":          {words: qwenWords, normalize: true, specials: qwenSpecials, counted: true},
	"kimi":          {words: kimiWords, chunks: true, specials: kimiSpecials, counted: true},
	"glm4":          {words: cl100kWords, prefix: []string{"[gMASK]", "<sop>"}, specials: configured},
	"llama3":        {words: cl100kWords, prefix: []string{llama3BOS}, specials: configured},
}

// classes are the encodings by tokenizer_class of tokenizer_config.json.
var classes = map[string]string{"QWenTokenizer": "qwen", "TikTokenTokenizer": "kimi", "ChatGLM4Tokenizer": "glm4"}

const llama3BOS = "<|begin_of_text|>"

var (
	cl100kSpecials = map[int32]string{
		100257: "<|endoftext|>", 100258: "<|fim_prefix|>", 100259: "<|fim_middle|>", 100260: "<|fim_suffix|>",
		100276: "<|endofprompt|>",
	}
	o200kSpecials = map[int32]string{199999: "<|endoftext|>", 200018: "<|endofprompt|>"}
)

// harmonySpecials are those of gpt-oss.
func harmonySpecials() map[int32]string {
	named := map[int32]string{
		199998: "<|startoftext|>", 199999: "<|endoftext|>", 200002: "<|return|>", 200003: "<|constrain|>",
		200005: "<|channel|>", 200006: "<|start|>",
		200007: "<|end|>", 200008: "<|message|>", 200012: "<|call|>", 200018: "<|endofprompt|>",
	}
	for id := int32(200000); id < 201088; id++ {
		if named[id] == "" {
			named[id] = fmt.Sprintf("<|reserved_%d|>", id)
		}
	}
	return named
}

// fixed returns the special tokens of an encoding, independent of the file.
func fixed(named map[int32]string) func(int, *config) (map[int32]addedToken, error) {
	tokens := make(map[int32]addedToken, len(named))
	for id, content := range named {
		tokens[id] = addedToken{Content: content, Special: true}
	}
	return func(int, *config) (map[int32]addedToken, error) { return tokens, nil }
}

// qwenSpecials follow the ranks: three named and 205 unnamed ones.
func qwenSpecials(ranks int, _ *config) (map[int32]addedToken, error) {
	names := []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}
	for i := range 205 {
		names = append(names, fmt.Sprintf("<|extra_%d|>", i))
	}
	tokens := map[int32]addedToken{}
	for i, name := range names {
		tokens[int32(ranks+i)] = addedToken{Content: name, Special: true}
	}
	return tokens, nil
}

// kimiSpecials are 256 that follow the ranks, some named in the configuration.
func kimiSpecials(ranks int, c *config) (map[int32]addedToken, error) {
	tokens := map[int32]addedToken{}
	for id := int32(ranks); id < int32(ranks)+256; id++ {
		tokens[id] = addedToken{Content: fmt.Sprintf("<|reserved_token_%d|>", id), Special: true}
	}
	for id, tok := range c.byID {
		if _, ok := tokens[id]; !ok {
			return nil, fmt.Errorf("%s: added_tokens_decoder.%d: Kimi's special tokens are %d to %d", configName, id,
				ranks, ranks+255)
		}
		tokens[id] = addedToken{Content: tok.Content, Special: tok.Special}
	}
	return tokens, nil
}

func configured(ranks int, c *config) (map[int32]addedToken, error) {
	for id, tok := range c.byID {
		if int(id) < ranks {
			return nil, fmt.Errorf("%s: added_tokens_decoder.%d: %q has the id of another token", configName, id, tok.Content)
		}
	}
	return c.byID, nil
}

// isTiktoken reports whether a file is a tiktoken file, by its name, or by its content if
// SentencePiece uses that name too.
func isTiktoken(fsys fs.FS, file string) (bool, error) {
	name := path.Base(file)
	if name == "tiktoken.model" || path.Ext(name) == ".tiktoken" {
		return true, nil
	}
	if name != "tokenizer.model" {
		return false, nil
	}
	data, err := fs.ReadFile(fsys, file)
	if err == nil && !hasRanks(data) {
		err = fmt.Errorf("%s is a SentencePiece model, which is not supported: use tokenizer.json", name)
	}
	return err == nil, err
}

// ParseTiktoken parses a tokenizer from the contents of a tiktoken file and, unless
// it is empty, of tokenizer_config.json. The tokenizer_class there, or the name of
// the file, determines how text is split; if neither is known the file is refused.
func ParseTiktoken(name string, ranks, configJSON []byte) (*Tokenizer, error) {
	config, err := parseConfig(configJSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configName, err)
	}
	e, err := findEncoding(name, configJSON, config)
	if err != nil {
		return nil, err
	}
	vocab, err := parseRanks(ranks)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t, err := e.tokenizer(vocab, config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

func findEncoding(name string, configJSON []byte, c *config) (encoding, error) {
	if e, ok := encodings[strings.TrimSuffix(name, ".tiktoken")]; ok && (c == nil || strings.Contains(name, "_")) {
		return e, nil
	}
	if c == nil {
		return encoding{}, fmt.Errorf("%s: neither its name nor a %s next to it says how text is split into words", name,
			configName)
	}
	var file struct {
		Class string `json:"tokenizer_class"`
	}
	if err := plan.Unmarshal(configJSON, &file); err != nil {
		return encoding{}, fmt.Errorf("%s: %w", configName, err)
	}
	if e, ok := encodings[classes[file.Class]]; ok {
		return e, nil
	}
	for _, tok := range c.byID {
		if tok.Content == llama3BOS {
			return encodings["llama3"], nil
		}
	}
	return encoding{}, fmt.Errorf("%s: %w", configName,
		refuse("tokenizer_class", file.Class,
			"for tiktoken files, only QWenTokenizer, TikTokenTokenizer of Kimi, ChatGLM4Tokenizer and those of Llama 3 are"))
}

// parseRanks parses the lines of a tiktoken file.
func parseRanks(data []byte) (vocabulary, error) {
	ids := make(map[string]int32, bytes.Count(data, []byte("\n"))+1)
	number := 0
	for line := range bytes.Lines(data) {
		number++
		fields := bytes.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return vocabulary{}, fmt.Errorf("line %d: not a token and its rank", number)
		}
		token, err := base64.StdEncoding.DecodeString(string(fields[0]))
		if err != nil || len(token) == 0 {
			return vocabulary{}, fmt.Errorf("line %d: %.40q is not base64", number, fields[0])
		}
		rank, err := strconv.ParseInt(string(fields[1]), 10, 32)
		if err != nil || rank < 0 || rank >= maxID {
			return vocabulary{}, fmt.Errorf("line %d: %.40q is not a rank", number, fields[1])
		}
		if _, twice := ids[string(token)]; twice {
			return vocabulary{}, fmt.Errorf("line %d: duplicate token %q", number, token)
		}
		ids[string(token)] = int32(rank)
	}
	return newVocabulary(ids)
}

// hasRanks distinguishes a tiktoken file from others with its name, by its first line.
func hasRanks(data []byte) bool {
	line, _, _ := bytes.Cut(data[:min(len(data), 1<<10)], []byte("\n"))
	_, err := parseRanks(line)
	return err == nil && len(bytes.TrimSpace(line)) > 0
}

// rankModel is BPE in which the rank of a merge is the resulting token. Every split
// of a token into two others is a merge.
func rankModel(v vocabulary) (*bpe, error) {
	m := &bpe{wholeWords: v.ids, pairs: newMergeTable(2 * len(v.ids)), cache: newWordCache()}
	for b := range m.bytes {
		if m.bytes[b] = v.id(string([]byte{byte(b)})); m.bytes[b] == noID {
			return nil, fmt.Errorf("the file has no token for the single byte %#x", b)
		}
	}
	for token, rank := range v.ids {
		for cut := 1; cut < len(token); cut++ {
			left, ok := v.ids[token[:cut]]
			if !ok {
				continue
			}
			if right, ok := v.ids[token[cut:]]; ok {
				m.pairs.put(left, right, merge{rank, rank})
			}
		}
	}
	return m, nil
}

func (e encoding) tokenizer(v vocabulary, c *config) (*Tokenizer, error) {
	model, err := rankModel(v)
	if err != nil {
		return nil, err
	}
	words := wordPatterns[e.words].ready()
	t := &Tokenizer{model: model, pretokenize: []splitter{words}, vocabSize: len(v.ids)}
	t.pool.New = func() any { return new(scratch) }
	if e.chunks {
		t.pretokenize = []splitter{chunks{}, words}
	}
	if e.normalize {
		t.normalize = normalizer{{rewrite: bounded(normalForm(norm.NFC))}}
	}
	if c == nil {
		c = &config{}
	}
	specials, err := e.specials(len(v.ids), c)
	if err != nil {
		return nil, err
	}
	if e.counted {
		t.vocabSize += len(specials)
	}
	return t, t.addRanked(v, specials, c, e.prefix)
}

// addRanked completes t with special tokens with fixed ids.
func (t *Tokenizer) addRanked(v vocabulary, specials map[int32]addedToken, c *config, prefix []string) error {
	list := newAddedList(v)
	for id, tok := range specials {
		if other, taken := v.tokens[id]; taken {
			return fmt.Errorf("the special token %q has the id %d, which is %q in the file", tok.Content, id, other)
		}
		if twice, ok := list.ids[tok.Content]; ok {
			return fmt.Errorf("the special token %q has the ids %d and %d", tok.Content, min(id, twice), max(id, twice))
		}
		if id < 0 || id >= maxID {
			return fmt.Errorf("the special token %q has the id %d, which is out of range", tok.Content, id)
		}
		list.ids[tok.Content], list.byID[id] = id, tok
		list.skipped[tok.Content] = tok.Special
	}
	for _, content := range prefix {
		id, ok := list.ids[content]
		if !ok {
			return fmt.Errorf("%s has no token %s, which begins every sequence", configName, content)
		}
		t.prefix = append(t.prefix, id)
	}
	var err error
	if t.added, err = list.sets(t.normalize); err != nil {
		return err
	}
	t.addedSpecial = list.specialIDs()
	t.specialIDs, t.bos = c.specialIDs(list), c.bos
	if len(t.specialIDs) == 0 {
		t.specialIDs = slices.Clone(t.addedSpecial)
	}
	return t.fillPieces(list)
}

// chunks cuts texts like Kimi's tokenizer: every 400 000 characters, and then runs
// of more than 25 000 characters with or without white space.
type chunks struct{}

const (
	longestChunk   = 400_000
	longestStretch = 25_000
)

func (chunks) split(dst []string, text string, _ *scratch) []string {
	start, taken, stretch := 0, 0, 0
	space := false
	for i, r := range text {
		is := spaces.has(r) || 0x1c <= r && r <= 0x1f // as in Python's isspace
		switch {
		case taken == longestChunk, taken > 0 && is == space && stretch == longestStretch:
			dst = append(dst, text[start:i])
			if start = i; taken == longestChunk {
				taken = 0
			}
			stretch = 0
		case taken > 0 && is != space:
			stretch = 0
		}
		space = is
		taken++
		stretch++
	}
	return append(dst, text[start:])
}
