package tokenizer

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

func load(t testing.TB, kind string) *Tokenizer {
	t.Helper()
	tok, err := Load(os.DirFS("testdata"), kind)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestLoad(t *testing.T) {
	file, err := os.ReadFile("testdata/qwen/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{
		"model/tokenizer.json":        {Data: file},
		"model/tokenizer_config.json": {Data: []byte(`{"eos_token": "<|im_end|>"}`)},
		"plain/tokenizer.json":        {Data: file},
		"empty/readme":                {},
	}
	for name, want := range map[string][]int32{
		"model":                {2202},
		"model/tokenizer.json": {2200, 2201, 2202},
		"plain":                {2200, 2201, 2202},
	} {
		tok, err := Load(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.SpecialIDs(); !slices.Equal(got, want) {
			t.Errorf("special ids of %s: %d, want %d", name, got, want)
		}
	}
	for _, name := range []string{"empty", "absent"} {
		if _, err := Load(fsys, name); err == nil {
			t.Errorf("Load(%q) succeeded", name)
		}
	}
}

func TestEncodeReplacesInvalidUTF8(t *testing.T) {
	tok := load(t, "llama3")
	for text, valid := range map[string]string{
		"a\xffb":                   "a\ufffdb",
		"\xe6\xb0":                 "\ufffd",
		"\xe6\xb0\xb4\xe6\xb0":     "水\ufffd",
		"\xed\xa0\x80":             "\ufffd\ufffd\ufffd",
		"\xf0\x9f\x99x\xc0\xaf":    "\ufffdx\ufffd\ufffd",
		"\xf5\x80\xe0\x80\x80z":    "\ufffd\ufffd\ufffd\ufffd\ufffdz",
		"\xf4\x90\x80\x80\xe2\x82": "\ufffd\ufffd\ufffd\ufffd\ufffd",
	} {
		if got := validUTF8(text); got != valid {
			t.Errorf("validUTF8(%q) = %q, want %q", text, got, valid)
		}
		if got, want := tok.Encode(text, false), tok.Encode(valid, false); !slices.Equal(got, want) {
			t.Errorf("Encode(%q) = %d, want %d", text, got, want)
		}
	}
}

// The results of tokenizers 0.23.3 for tokens of white space next to tokens that
// strip the white space around them.
func TestTokensOfWhiteSpace(t *testing.T) {
	tok, err := Parse([]byte(`{"version":"1.0","added_tokens":[
		{"id":3,"content":"<r>","rstrip":true},{"id":4,"content":"\n\n","lstrip":true},{"id":5,"content":"\t\t"}],
		"pre_tokenizer":{"type":"WhitespaceSplit"},
		"model":{"type":"WordLevel","vocab":{"?":0,"a":1,"b":2},"unk_token":"?"}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]int32{
		"<r>\n\n":          {3},
		"a<r>\n\nb":        {1, 3, 2},
		"<r>\n\na\n\n":     {3, 1, 4},
		"\n\n\n\na":        {4, 4, 1},
		"a \n\n":           {1, 4},
		"<r>\t\ta":         {3, 5, 1},
		"<r><r>\n\n<r>\n":  {3, 3, 3},
		"<r>  \n\n\n\n b ": {3, 2}, // there the library panics
	} {
		if got := tok.Encode(text, false); !slices.Equal(got, want) {
			t.Errorf("Encode(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestDecodeLeavesOutUnknownIDs(t *testing.T) {
	tok := load(t, "gpt2")
	ids := tok.Encode("pump", false)
	ids = append(ids, -1, 1<<30, int32(len(tok.pieces)))
	if got := tok.Decode(ids, false); got != "pump" {
		t.Errorf("Decode(%d) = %q", ids, got)
	}
}

func TestConcurrentUse(t *testing.T) {
	tok := load(t, "deepseek3")
	var g golden
	readGolden(t, "deepseek3", &g)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, e := range g.Encode[:200] {
				if got := tok.Encode(e.text, false); !slices.Equal(got, e.ids) {
					t.Errorf("Encode(%q) = %d, want %d", e.text, got, e.ids)
				}
			}
		})
	}
	wg.Wait()
}

var refusals = []struct{ field, value, want string }{
	{"version", `"2.0"`, `tokenizer.json: version "2.0" is not supported (1.0 is)`},
	{"model", `{"type":"Unigram","vocab":[]}`, `tokenizer.json: model.unk_id null is not supported`},
	{"model", `{"vocab":{"a":0}}`, `model.type "" is not supported`},
	{"model", `null`, `model null is not supported`},
	{"model", `{"type":"BPE"}`, `model: vocab or merges is missing`},
	{"model", `{"type":"BPE","vocab":{},"merges":[],"dropout":0.1}`, `model.dropout 0.1 is not supported`},
	{
		"model", `{"type":"BPE","vocab":{},"merges":[],"unk_token":"?"}`,
		`model.unk_token "?" is not supported (it is not in model.vocab)`,
	},
	{
		"model", `{"type":"SentencePiece"}`,
		`model.type "SentencePiece" is not supported (only BPE, Unigram, WordPiece and WordLevel are)`,
	},
	{
		"model", `{"type":"Unigram","unk_id":1,"vocab":[["a",0]]}`,
		`model.unk_id 1 is not supported (it is not in model.vocab)`,
	},
	{"model", `{"type":"Unigram","unk_id":0,"vocab":[["a"]]}`, `["a"] is not a token and a number`},
	{
		"model", `{"type":"WordPiece","vocab":{}}`,
		`model: vocab, unk_token, continuing_subword_prefix or max_input_chars_per_word is missing`,
	},
	{
		"model",
		`{"type":"WordPiece","vocab":{},"unk_token":"?","continuing_subword_prefix":"","max_input_chars_per_word":9}`,
		`model.unk_token "?" is not`,
	},
	{"model", `{"type":"WordLevel","vocab":{"a":0,"b":0},"unk_token":"a"}`, `model.vocab: "a" and "b" share id 0`},
	{"model", `{"type":"WordLevel","vocab":{"a":0},"unk_token":"b"}`, `model.unk_token "b" is not`},
	{"model", `{"type":"BPE","vocab":{"a":0,"b":0},"merges":[]}`, `model.vocab: "a" and "b" share id 0`},
	{"model", `{"type":"BPE","vocab":{"a":-1},"merges":[]}`, `model.vocab["a"] -1 is not supported`},
	{"model", `{"type":"BPE","vocab":{"a":5000000},"merges":[]}`, `model.vocab["a"] 5000000 is not supported`},
	{"model", `{"type":"BPE","vocab":{"a":0},"merges":["a a"]}`, `model.merges[0]: "a" and "a" and what they merge to`},
	{"model", `{"type":"BPE","vocab":{"a":0},"merges":["a"]}`, `merge "a" is not two tokens`},
	{"model", `{"type":"BPE","vocab":{"a":0},"merges":[["a","a","a"]]}`, `merge ["a","a","a"] is not two tokens`},
	{"model", `{"type":"BPE","vocab":{},"merges":[],"magic":1}`, `model: json: unknown field "magic"`},
	{"model", `{"type":"BPE","vocab":{"a":"0"},"merges":[]}`, `tokenizer.json: model: field "vocab" is a JSON string`},
	{"model", `{"type":5}`, `tokenizer.json: model: field "type" is a JSON number`},
	{"added_tokens", `[{"content":5}]`, `tokenizer.json: field "added_tokens.content" is a JSON number`},
	{"normalizer", `{"type":5}`, `tokenizer.json: normalizer: field "type" is a JSON number`},
	{"normalizer", `{"type":"Precompiled"}`, `normalizer.precompiled_charsmap null is not supported`},
	{"normalizer", `{"type":"NFC","strict":true}`, `normalizer: json: unknown field "strict"`},
	{
		"normalizer", `{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Trim"}]}`,
		`normalizer.normalizers[1].type "Trim" is not`,
	},
	{
		"normalizer", `{"type":"Replace","pattern":{"Regex":"e?"},"content":"E"}`,
		`normalizer.pattern.Regex "e?" is not supported`,
	},
	{
		"normalizer", `{"type":"Replace","pattern":{"Regex":"(?=e)"},"content":"E"}`,
		`normalizer.pattern.Regex "(?=e)" is not`,
	},
	{"normalizer", `{"type":"Replace","pattern":{"String":""},"content":"E"}`, `normalizer.pattern`},
	{
		"normalizer", `{"type":"Precompiled","precompiled_charsmap":"AAAA"}`,
		`normalizer.precompiled_charsmap "AAAA" is not supported (it is not a trie with replacements)`,
	},
	{
		"normalizer", `{"type":"Precompiled","precompiled_charsmap":"%"}`,
		`normalizer.precompiled_charsmap "%" is not supported (illegal base64`,
	},
	{
		"pre_tokenizer", `{"type":"Metaspace","replacement":"ab"}`,
		`pre_tokenizer.replacement "ab" is not supported (only one character is)`,
	},
	{
		"pre_tokenizer", `{"type":"Metaspace","replacement":"_","prepend_scheme":"last"}`,
		`pre_tokenizer.prepend_scheme "last" is not`,
	},
	{
		"pre_tokenizer", `{"type":"Metaspace","replacement":"_","add_prefix_space":false}`,
		`pre_tokenizer.add_prefix_space false is not supported (prepend_scheme is always)`,
	},
	{"pre_tokenizer", `{"type":"UnicodeScript"}`, `pre_tokenizer.type "UnicodeScript" is not`},
	{"pre_tokenizer", `{"type":"FixedLength","length":0}`, `pre_tokenizer.length 0 is not`},
	{"pre_tokenizer", `{"type":"CharDelimiterSplit","delimiter":""}`, `pre_tokenizer.delimiter "" is not`},
	{"pre_tokenizer", `{"type":"Punctuation","behavior":"Odd"}`, `pre_tokenizer.behavior "Odd" is not`},
	{
		"pre_tokenizer", `{"type":"Split","pattern":{"Regex":"x"},"behavior":"Odd","invert":false}`,
		`pre_tokenizer.behavior "Odd" is not`,
	},
	{
		"pre_tokenizer", `{"type":"Split","pattern":{"Regex":"\\bx"},"behavior":"Isolated","invert":false}`,
		`pre_tokenizer.pattern.Regex "\\bx" is not supported (\b is unknown)`,
	},
	{
		"pre_tokenizer", `{"type":"Split","pattern":{"Glob":"x"},"behavior":"Isolated","invert":false}`,
		`unknown field "Glob"`,
	},
	{"post_processor", `{"type":"PairProcessing"}`, `post_processor.type "PairProcessing" is not`},
	{
		"post_processor", `{"type":"TemplateProcessing","single":[],"special_tokens":{}}`,
		`post_processor.single: sequence A is missing`,
	},
	{
		"post_processor",
		`{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x","type_id":0}},` +
			`{"Sequence":{"id":"A","type_id":0}}],"special_tokens":{}}`, `post_processor.special_tokens: "x" is missing`,
	},
	{
		"post_processor",
		`{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":0}},` +
			`{"Sequence":{"id":"A","type_id":0}}],"special_tokens":{}}`, `only special tokens may surround`,
	},
	{
		"post_processor",
		`{"type":"Sequence","processors":[{"type":"RobertaProcessing","sep":["a",1],"cls":["b",2]},` +
			`{"type":"RobertaProcessing","sep":["a",1],"cls":["b",2]}]}`, `post_processor.processors[1]: a second template`,
	},
	{"decoder", `{"type":"Morse"}`, `decoder.type "Morse" is not supported`},
	{"decoder", `{"type":"Sequence","decoders":[{"type":"Fuse"},null]}`, `decoder.decoders[1] null is not supported`},
	{"decoder", `{"type":"BPEDecoder","suffix":""}`, `decoder.suffix "" is not supported`},
	{
		"decoder", `{"type":"Strip","content":"","start":1,"stop":0}`,
		`decoder.content "" is not supported (only one character is)`,
	},
	{
		"decoder", `{"type":"CTC","pad_token":"","word_delimiter_token":"|","cleanup":true}`,
		`decoder "CTC" is not supported (without pad_token`,
	},
}

func TestRefusals(t *testing.T) {
	for _, c := range refusals {
		data := patched(t, map[string]json.RawMessage{c.field: json.RawMessage(c.value)})
		_, err := Parse(data, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s\n got %v\nwant %s", c.field, c.value, err, c.want)
		}
	}
}

func TestPointersOfGitLFS(t *testing.T) {
	_, err := Parse([]byte("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"), nil)
	if want := "tokenizer.json: the file is only a Git LFS pointer; run git lfs pull to fetch its content"; err == nil ||
		err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestConfigErrors(t *testing.T) {
	file := patched(t, nil)
	for config, want := range map[string]string{
		`[]`:                            "tokenizer_config.json: [] is not an object",
		`{"bos_token": 3}`:              "tokenizer_config.json: bos_token: it is a JSON number",
		`{"bos_token": {"content": 3}}`: `tokenizer_config.json: bos_token: field "content" is a JSON number`,
		`{"clean_up_tokenization_spaces": ""}`: `tokenizer_config.json: field "clean_up_tokenization_spaces" is a JSON ` +
			`string`,
		`{"extra_special_tokens": 3}`:          "extra_special_tokens:",
		`{"added_tokens_decoder": {"x": {}}}`:  "added_tokens_decoder:",
		`{"additional_special_tokens": [[1]]}`: "additional_special_tokens:",
	} {
		_, err := Parse(file, []byte(config))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", config, err, want)
		}
	}
}

func TestAllIDsAndBOS(t *testing.T) {
	file := patched(t, map[string]json.RawMessage{
		"added_tokens": json.RawMessage(`[{"id":2000,"content":"<s>"},{"id":0,"content":"!"}]`),
	})
	for config, want := range map[string]string{
		``:                                      "",
		`{"bos_token":null,"eos_token":"</s>"}`: "",
		`{"bos_token":"<s>"}`:                   "<s>",
		`{"bos_token":{"content":"<s>","lstrip":false}}`: "<s>",
	} {
		tok, err := Parse(file, []byte(config))
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.BOS(); got != want {
			t.Errorf("%s: BOS() = %q, want %q", config, got, want)
		}
		ids := tok.AllIDs()
		if n := len(ids); n < 2001 || ids[0] != 0 || int(ids[n-1]) != n-1 {
			t.Errorf("%s: AllIDs() has %d ids, %d to %d", config, n, ids[0], ids[n-1])
		}
	}
}
