package tokenizer

import (
	"testing"
	"unicode/utf8"
)

func FuzzParse(f *testing.F) {
	f.Add([]byte(smallFile), []byte(`{"added_tokens_decoder":{"3":{"content":" "}}}`))
	f.Fuzz(func(_ *testing.T, file, config []byte) {
		tok, err := Parse(file, config)
		if err != nil {
			return
		}
		ids := tok.Encode("a b\n<s>1'S \xff水", true)
		tok.Decode(ids, true)
		tok.SpecialIDs()
	})
}

// smallFile is small enough for the fuzzer to change it to effect.
const smallFile = `{"version":"1.0","added_tokens":[{"id":2,"content":"<s>","lstrip":true,"special":true}],
"normalizer":{"type":"Replace","pattern":{"Regex":"[a-c]+"},"content":"a"},
"pre_tokenizer":{"type":"Sequence","pretokenizers":[
 {"type":"Split","pattern":{"Regex":"(?i:'s)|\\s+(?!\\S)|\\p{L}{1,3}"},"behavior":"MergedWithNext","invert":true},
 {"type":"ByteLevel","add_prefix_space":true,"use_regex":true}]},
"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"s","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],
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
		if re, err := compilePattern(source); err == nil {
			re.spans(nil, "a'S 12 水\r\n", new(scratch))
		}
	})
}
