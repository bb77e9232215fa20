package tokenizer

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/test/race"
)

func FuzzParse(f *testing.F) {
	config := []byte(`{"added_tokens_decoder":{"3":{"content":" "}}}`)
	for _, file := range smallFiles {
		f.Add([]byte(file), config)
	}
	f.Fuzz(func(_ *testing.T, file, config []byte) {
		tok, err := Parse(file, config)
		if err != nil {
			return
		}
		ids := tok.Encode("a b\n<s>1'S \xff水 ab▁İ\r\n", true)
		tok.Decode(ids, true)
		tok.Decode(tok.AllIDs(), false)
		tok.SpecialIDs()
	})
}

// FuzzEncode: no text makes a tokenizer of any kind panic, its encoding consists of
// known ids, and these decode to UTF-8.
func FuzzEncode(f *testing.F) {
	race.Skip(f)
	var toks []*Tokenizer
	for _, kind := range append(kinds, otherKinds...) {
		toks = append(toks, loadKind(f, kind))
	}
	for _, text := range goldenTexts(f)[:300] {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, tok := range toks {
			ids := tok.Encode(text, true)
			for _, id := range ids {
				if tok.piece(id, false) == nil {
					t.Fatalf("%q has the unknown id %d", text, id)
				}
			}
			if got := tok.Decode(ids, false); !utf8.ValidString(got) {
				t.Errorf("%q became %q", text, got)
			}
		}
	})
}

// FuzzFallbackRoundTrip uses character tokenizers with byte fallback. A text
// survives, except that metaspaces become spaces.
func FuzzFallbackRoundTrip(f *testing.F) {
	llama, mistral, gemma := loadKind(f, "llama2"), loadKind(f, "mistral"), loadKind(f, "gemma")
	for _, text := range []string{
		"", " a", "it's  1234\r\n水 ward", "e\u0301\u200d🙂\x00▁", "0x41>", "\u3000 a\t\n b",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "<") || strings.Contains(text, "word") {
			return // the text of a byte's token becomes the byte; an added token loses spaces
		}
		want := strings.ReplaceAll(validUTF8(text), metaspaceMark, " ")
		for tok, want := range map[*Tokenizer]string{
			llama:   want,
			mistral: strings.TrimPrefix(want, " "), // the space it adds is indistinguishable from the text's
			gemma:   want,
		} {
			if got := tok.Decode(tok.Encode(text, false), false); got != want {
				t.Errorf("%q became %q, want %q", text, got, want)
			}
		}
	})
}

// smallFiles has one of each kind of model.
var smallFiles = []string{
	smallFile,
	`{"version":"1.0","added_tokens":[{"id":1,"content":"<s>","special":true,"normalized":true}],
"normalizer":{"type":"Sequence","normalizers":[{"type":"Precompiled","precompiled_charsmap":"CAAAAAAAAAAAAAAAQQA="},
 {"type":"Strip","strip_left":true,"strip_right":true},{"type":"Replace","pattern":{"Regex":" {2,}"},"content":"▁"},
{"type":"Nmt"}]},
"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":true},
"post_processor":{"type":"BertProcessing","sep":["</s>",1],"cls":["<s>",0]},
"decoder":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always"},
"model":{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[["<unk>",0],["a",-1.5],["▁a",-2],["<0xFF>",-3]]}}`,
	`{"version":"1.0","normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,
"strip_accents":null,"lowercase":true},
"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"BertPreTokenizer"},{"type":"FixedLength","length":2}]},
"decoder":{"type":"WordPiece","prefix":"##","cleanup":true},
"model":{"type":"WordPiece","unk_token":"?","continuing_subword_prefix":"##","max_input_chars_per_word":9,
"vocab":{"?":0,"a":1,"##b":2}}}`,
	`{"version":"1.0","normalizer":{"type":"Prepend","prepend":"▁"},
"decoder":{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},
{"type":"ByteFallback"},{"type":"Fuse"},
 {"type":"Strip","content":" ","start":1,"stop":0},{"type":"BPEDecoder","suffix":"</w>"}]},
"model":{"type":"BPE","unk_token":"?","fuse_unk":true,"byte_fallback":true,"continuing_subword_prefix":"#",
"end_of_word_suffix":"</w>",
 "vocab":{"?":0,"a":1,"#b":2,"ab":3,"#b</w>":4,"▁":5},"merges":[["a","#b"]]}}`,
	`{"version":"1.0","pre_tokenizer":{"type":"Whitespace"},"decoder":{"type":"CTC","pad_token":"a",
"word_delimiter_token":"b","cleanup":true},
"model":{"type":"WordLevel","unk_token":"?","vocab":{"?":0,"a":1}}}`,
}

// smallFile is small enough for effective mutations.
const smallFile = `{"version":"1.0","added_tokens":[{"id":2,"content":"<s>","lstrip":true,"special":true}],
"normalizer":{"type":"Replace","pattern":{"Regex":"[a-c]+"},"content":"a"},
"pre_tokenizer":{"type":"Sequence","pretokenizers":[
 {"type":"Split","pattern":{"Regex":"(?i:'s)|\\s+(?!\\S)|\\p{L}{1,3}"},"behavior":"MergedWithNext","invert":true},
 {"type":"ByteLevel","add_prefix_space":true,"use_regex":true}]},
"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"s","type_id":0}},
{"Sequence":{"id":"A","type_id":0}}],
 "special_tokens":{"s":{"id":"s","ids":[2],"tokens":["<s>"]}}},
"decoder":{"type":"ByteLevel"},
"model":{"type":"BPE","ignore_merges":true,"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}`

// FuzzRoundTrip uses tokenizers without a normalizer, a prefix space or stripped
// added tokens, so that a text survives.
func FuzzRoundTrip(f *testing.F) {
	toks := []*Tokenizer{load(f, "gpt2"), load(f, "llama3"), load(f, "deepseek2")}
	for _, text := range []string{"", "it's  1234\r\n水<|eot_id|> word", "e\u0301\u200d🙂\x00", "\u3000 a\t\n b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := validUTF8(text)
		if !utf8.ValidString(want) {
			t.Fatalf("validUTF8(%q) = %q", text, want)
		}
		for _, tok := range toks {
			if got := tok.Decode(tok.Encode(text, false), false); got != want {
				t.Errorf("%q became %q", want, got)
			}
		}
	})
}

func FuzzTranslate(f *testing.F) {
	for _, source := range []string{gpt2Pattern, `(?i:'s)|[^\r\n[ab]]?\p{L}+|\x{6c34}{1,3}?`, `(?<=a)\w*+|[\w-]`} {
		f.Add(source)
	}
	f.Fuzz(func(_ *testing.T, source string) {
		re, err := compilePattern(source)
		if err != nil {
			return
		}
		if re.re.MatchTimeout == slowestMatch {
			re.re.MatchTimeout = 10 * time.Millisecond
			defer new(Tokenizer).slow()
		}
		re.spans(nil, "a'S 12 水\r\n", new(scratch))
	})
}
