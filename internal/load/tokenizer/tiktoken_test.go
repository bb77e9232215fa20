package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/test/race"
)

// The files under testdata/tiktoken are written by testdata/make_tiktoken.py with
// tiktoken 0.14.0.

// smallRanks is a vocabulary for all encodings, with its special tokens added.
func smallRanks(t testing.TB) (vocabulary, map[int32]addedToken) {
	t.Helper()
	vocab, err := parseRanks(readZipped(t, "../tiktoken/ranks.tiktoken"))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("testdata/tiktoken/special.json")
	if err != nil {
		t.Fatal(err)
	}
	var ids map[string]int32
	if err := json.Unmarshal(data, &ids); err != nil {
		t.Fatal(err)
	}
	special := map[int32]addedToken{}
	for content, id := range ids {
		special[id] = addedToken{Content: content, Special: true}
	}
	return vocab, special
}

func smallEncoding(t testing.TB, name string) *Tokenizer {
	t.Helper()
	vocab, special := smallRanks(t)
	e := encodings[name]
	e.prefix = nil
	e.specials = func(int, *config) (map[int32]addedToken, error) { return special, nil }
	tok, err := e.tokenizer(vocab, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestEqualsTiktoken(t *testing.T) {
	race.Skip(t)
	texts := goldenTexts(t)
	for _, name := range []string{"r50k_base", "cl100k_base", "o200k_base", "qwen", "kimi", "glm4"} {
		t.Run(name, func(t *testing.T) {
			sums := readZipped(t, "../tiktoken/"+name+".sums")
			if len(sums) != 4*len(texts) || len(texts) < 10_000 {
				t.Fatalf("%d bytes of checksums for %d texts", len(sums), len(texts))
			}
			tok := smallEncoding(t, name)
			for i, text := range texts {
				ids := tok.Encode(text, false)
				fields := []string{list(ids), tok.Decode(ids, false), tok.Decode(oddIDs(i, 2000), false)}
				if got := crc32.ChecksumIEEE([]byte(strings.Join(fields, "\x00"))); got != binary.LittleEndian.Uint32(sums[4*i:]) {
					t.Errorf("text %d, %.100q:\n%.300q", i, text, fields)
				}
			}
		})
	}
}

// tinyRanks are the bytes and two more tokens, with ids of any length.
func tinyRanks() string {
	var b strings.Builder
	for i := range 256 {
		fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString([]byte{byte(i)}), i)
	}
	fmt.Fprintf(&b, "%s 256\n%s 257\n", base64.StdEncoding.EncodeToString([]byte("he")),
		base64.StdEncoding.EncodeToString([]byte("hell")))
	return b.String()
}

func TestEncodingsOfModels(t *testing.T) {
	config := func(class, tokens string) string {
		return `{"tokenizer_class": "` + class + `", "bos_token": "[BOS]", "added_tokens_decoder": {` + tokens + `}}`
	}
	for name, c := range map[string]struct {
		files map[string]string
		load  string
		text  string
		ids   []int32 // with special tokens
		size  int
	}{
		"Kimi": {
			map[string]string{
				"tiktoken.model": tinyRanks(), "tokenizer_config.json": config("TikTokenTokenizer",
					`"258": {"content": "[BOS]", "special": true}`),
			},
			".", "[BOS]he<|reserved_token_513|>",
			[]int32{258, 256, 513},
			514,
		},
		"Qwen": {
			map[string]string{"qwen.tiktoken": tinyRanks(), "tokenizer_config.json": config("QWenTokenizer", "")},
			".", "<|im_start|>he<|extra_204|>",
			[]int32{259, 256, 465},
			466,
		},
		"GLM-4": {
			map[string]string{
				"tokenizer.model": tinyRanks(), "tokenizer_config.json": config("ChatGLM4Tokenizer",
					`"300": {"content": "[gMASK]"}, "301": {"content": "<sop>"}`),
			},
			".", "he[gMASK]",
			[]int32{300, 301, 256, 300},
			258,
		},
		"Llama 3": {
			map[string]string{
				"tokenizer.model": tinyRanks(), "tokenizer_config.json": config("PreTrainedTokenizerFast",
					`"300": {"content": "<|begin_of_text|>", "special": true}`),
			},
			"tokenizer.model", "he",
			[]int32{300, 256},
			258,
		},
		"cl100k": {
			map[string]string{"cl100k_base.tiktoken": tinyRanks()},
			"cl100k_base.tiktoken", "he<|endofprompt|>",
			[]int32{256, 100276},
			258,
		},
		"gpt-oss": {
			map[string]string{"o200k_harmony.tiktoken": tinyRanks()},
			".", "<|start|>he<|reserved_201087|>",
			[]int32{200006, 256, 201087},
			258,
		},
		"a whole word comes first": {
			map[string]string{"r50k_base.tiktoken": tinyRanks()}, ".", "hell hello", []int32{257, 32, 256, 108, 108, 111}, 258,
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{}
			for file, data := range c.files {
				fsys[file] = &fstest.MapFile{Data: []byte(data)}
			}
			tok, err := Load(fsys, c.load)
			if err != nil {
				t.Fatal(err)
			}
			if got := tok.Encode(c.text, true); !slices.Equal(got, c.ids) || tok.VocabSize() != c.size {
				t.Errorf("%v of %d, want %v of %d", got, tok.VocabSize(), c.ids, c.size)
			}
			if name == "Kimi" && (tok.BOS() != "[BOS]" || !slices.Equal(tok.SpecialIDs(), []int32{258})) {
				t.Errorf("BOS %q, special %v", tok.BOS(), tok.SpecialIDs())
			}
			if got := tok.AllIDs(); int(got[0]) != 0 || len(got) < 258 {
				t.Errorf("all ids are %v", got)
			}
		})
	}
}

func TestTiktokenFilesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		file, ranks, config, want string
	}{
		"no encoding": {"x.tiktoken", tinyRanks(), "", "x.tiktoken: neither its name nor a tokenizer_config.json"},
		"a class": {
			"x.tiktoken", tinyRanks(), `{"tokenizer_class": "NewTokenizer"}`,
			`tokenizer_class "NewTokenizer" is not supported (for tiktoken files, only QWenTokenizer`,
		},
		"no bytes": {
			"r50k_base.tiktoken", "YQ== 0\n", "", "r50k_base.tiktoken: the file has no token for the single byte 0x0",
		},
		"no base64": {"r50k_base.tiktoken", "YQ== 0\n!! 1\n", "", `line 2: "!!" is not base64`},
		"no rank":   {"r50k_base.tiktoken", "YQ== x\n", "", `line 1: "x" is not a rank`},
		"one field": {"r50k_base.tiktoken", "\nYQ==\n", "", "line 2: not a token and its rank"},
		"twice":     {"r50k_base.tiktoken", "YQ== 0\nYQ== 1\n", "", `line 2: duplicate token "a"`},
		"shared":    {"r50k_base.tiktoken", "YQ== 0\nYg== 0\n", "", "share id 0"},
		"no prefix": {"tokenizer.model", tinyRanks(), `{"tokenizer_class": "ChatGLM4Tokenizer"}`, "has no token [gMASK]"},
		"low id": {
			"tokenizer.model", tinyRanks(),
			`{"tokenizer_class": "ChatGLM4Tokenizer", "added_tokens_decoder": {"3": {"content": "[gMASK]"}}}`,
			"has the id of another token",
		},
		"far id": {
			"tiktoken.model", tinyRanks(),
			`{"tokenizer_class": "TikTokenTokenizer", "added_tokens_decoder": {"600": {"content": "x"}}}`,
			"Kimi's special tokens are 258 to 513",
		},
		"SentencePiece": {"tokenizer.model", "\x0a\x0e\x0a\x05<unk>", `{}`, "is a SentencePiece model"},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{c.file: &fstest.MapFile{Data: []byte(c.ranks)}}
			if c.config != "" {
				fsys["tokenizer_config.json"] = &fstest.MapFile{Data: []byte(c.config)}
			}
			if _, err := Load(fsys, "."); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// Kimi's tokenizer cuts long runs, and never within short ones.
func TestChunks(t *testing.T) {
	for _, c := range []struct {
		text string
		want []int // lengths
	}{
		{strings.Repeat("a", 60_000), []int{25_000, 25_000, 10_000}},
		{strings.Repeat("水", 25_001), []int{75_000, 3}},
		{strings.Repeat("a ", 200_001), []int{400_000, 2}},
		{strings.Repeat(" ", 25_001) + "a", []int{25_000, 2}},
		{"a b", []int{3}},
	} {
		var got []int
		for _, part := range (chunks{}).split(nil, c.text, nil) {
			got = append(got, len(part))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%.10q… is cut into %v, want %v", c.text, got, c.want)
		}
	}
}

func FuzzTiktoken(f *testing.F) {
	for _, text := range []string{"it's  1234\r\n水<|eot_id|> word", "HELLOworld's \xff 🙂", "a [gMASK]<sop>\n\n  b"} {
		f.Add("kimi.tiktoken", []byte(tinyRanks()), []byte(`{"tokenizer_class": "TikTokenTokenizer"}`), text)
		f.Add("o200k_base.tiktoken", []byte("YQ== 0\nYg== 1"), []byte{}, text)
	}
	var small []*Tokenizer
	for _, name := range []string{"r50k_base", "cl100k_base", "o200k_base", "kimi", "glm4"} {
		small = append(small, smallEncoding(f, name))
	}
	f.Fuzz(func(t *testing.T, name string, ranks, config []byte, text string) {
		if tok, err := ParseTiktoken(name, ranks, config); err == nil {
			tok.Decode(tok.Encode(text, true), true)
		}
		want := validUTF8(text)
		if !utf8.ValidString(want) {
			t.Fatalf("validUTF8(%q) = %q", text, want)
		}
		for _, tok := range small {
			if got := tok.Decode(tok.Encode(text, false), false); got != want {
				t.Errorf("%q became %q", want, got)
			}
		}
	})
}
