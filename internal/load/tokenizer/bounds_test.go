package tokenizer

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// hostileFile is a tokenizer.json around some of its fields.
func hostileFile(fields string) string {
	return `{"version": "1.0", ` + fields +
		`, "model": {"type": "WordLevel", "vocab": {"a": 0, "[UNK]": 1}, "unk_token": "[UNK]"}}`
}

// sequence is a Sequence of n times a member.
func sequence(members, member string, n int) string {
	return `{"type": "Sequence", "` + members + `": [` + strings.TrimSuffix(strings.Repeat(member+", ", n), ", ") + `]}`
}

// nested is n sequences in each other.
func nested(members string, n int) string {
	text := `{"type": "Sequence", "` + members + `": []}`
	for range n {
		text = sequence(members, text, 1)
	}
	return text
}

func TestFilesBeyondTheBoundsAreRefused(t *testing.T) {
	long := strings.Repeat("x", maxToken+1)
	many := strings.TrimSuffix(strings.Repeat("1, ", maxAround+1), ", ")
	for _, c := range []struct{ name, file, want string }{
		{
			"stages", hostileFile(`"normalizer": ` + sequence("normalizers", `{"type": "NFC"}`, 65)),
			"normalizer has 65 stages; at most 64",
		},
		{"nesting", hostileFile(`"normalizer": ` + nested("normalizers", 9)), "nested more than 8 deep"},
		{
			"deep nesting", hostileFile(`"normalizer": ` + nested("normalizers", 1000)),
			"more than 200 brackets are open at once",
		},
		{
			"doubling", hostileFile(`"pre_tokenizer": ` +
				sequence("pretokenizers",
					`{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}`, 3)),
			"3 stages ByteLevel",
		},
		{
			"decoder", hostileFile(`"decoder": {"type": "Replace", "pattern": {"String": "a"}, "content": "` + long + `"}`),
			"longer than 16 bytes",
		},
		{
			"ids around",
			hostileFile(`"post_processor": {"type": "TemplateProcessing", "pair": [],
			"single": [{"SpecialToken": {"id": "x", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
			"special_tokens": {"x": {"id": "x", "ids": [` + many + `], "tokens": []}}}`), "more than 1024 tokens around",
		},
		{"token", strings.Replace(hostileFile(`"decoder": null`), `"a": 0`, `"`+long+`": 0`, 1), "is longer than 4096 bytes"},
		{
			"added token", hostileFile(`"added_tokens": [{"id": 5, "content": "` + long + `", "normalized": false}]`),
			"is longer than 4096 bytes",
		},
		{
			"grown token", hostileFile(`"added_tokens": [{"id": 5, "content": "aaaa", "normalized": true}], "normalizer": ` +
				replaces(strings.Repeat("a", 1000), 3)), "more than 8 times as long",
		},
	} {
		if _, err := Parse([]byte(c.file), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.200v, want %q", c.name, err, c.want)
		}
	}
}

// replaces replaces each a, n times over.
func replaces(fresh string, n int) string {
	return sequence("normalizers", fmt.Sprintf(`{"type": "Replace", "pattern": {"String": "a"}, "content": %q}`, fresh), n)
}

// TestTextsThatGrow encodes with normalizers that make much of little: they are stopped
// before there is much more than the text and a mebibyte.
func TestTextsThatGrow(t *testing.T) {
	text := strings.Repeat("a b ", 500)
	regex := `{"type": "Replace", "pattern": {"Regex": "[ab]"}, "content": "` + strings.Repeat("a", 100_000) + `"}`
	for name, stages := range map[string]string{
		"replace": replaces(strings.Repeat("a", 10), 9),
		"little":  replaces("aaaa", 20),
		"regex":   sequence("normalizers", regex, 3),
		"prepend": sequence("normalizers", `{"type": "Prepend", "prepend": "`+strings.Repeat("a", 30_000)+`"}`, 60),
		"longer":  replaces(strings.Repeat("a", 10_000), 1),
	} {
		tok, err := Parse([]byte(hostileFile(`"normalizer": `+stages)), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tok.Encode(text, false)
		runtime.ReadMemStats(&after)
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; made > 100 {
			t.Errorf("%s makes %d MiB of %d bytes", name, made, len(text))
		}
		if !errors.Is(tok.Err(), ErrTooLong) {
			t.Errorf("%s: %v", name, tok.Err())
		}
	}
}

// TestTextsThatGrowInParts has a text of small parts and a large sum.
func TestTextsThatGrowInParts(t *testing.T) {
	tok, err := Parse([]byte(hostileFile(`"added_tokens": [{"id": 5, "content": "|", "normalized": false}],
		"normalizer": `+replaces(strings.Repeat("a", 100_000), 1))), nil)
	if err != nil {
		t.Fatal(err)
	}
	if tok.Encode("a|a", false); tok.Err() != nil {
		t.Error(tok.Err())
	}
	if tok.Encode(strings.Repeat("a|", 1000), false); tok.Err() == nil {
		t.Error("100 MB of 2000 bytes are not too long")
	}
}

// TestSpaceIsStrippedOnce has tokens that strip the space around them in a text that is
// nothing else: looked at once, not once for each.
func TestSpaceIsStrippedOnce(t *testing.T) {
	tok, err := Parse([]byte(hostileFile(`"added_tokens": [
		{"id": 5, "content": "\n", "normalized": false, "lstrip": false, "rstrip": true},
		{"id": 6, "content": "\t", "normalized": false, "lstrip": true, "rstrip": false}]`)), nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("\n", 200_000) + strings.Repeat("\t", 200_000)
	if ids := tok.Encode(text, false); len(ids) != 200_000 || slices.Max(ids) != 2 {
		t.Errorf("%d ids up to %d", len(ids), slices.Max(ids))
	}
	if ids := tok.Encode("a"+strings.Repeat("\t", 200_000)+"a", false); len(ids) != 200_002 {
		t.Errorf("%d ids", len(ids))
	}
}

func TestDecoderThatGrows(t *testing.T) {
	stage := `{"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaaaaaaaaaa"}`
	file := hostileFile(`"decoder": ` + sequence("decoders", `{"type": "Fuse"}, `+
		strings.TrimSuffix(strings.Repeat(stage+", ", 20), ", "), 1))
	tok, err := Parse([]byte(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := tok.Decode(make([]int32, 10_000), false); len(text) > most(10_000) || tok.Err() == nil {
		t.Errorf("%d bytes, %v", len(text), tok.Err())
	}
	if _, err := Parse([]byte(strings.Replace(file, `{"type": "Fuse"}, `, "", 1)), nil); err == nil ||
		!strings.Contains(err.Error(), "is longer than 65536 bytes") {
		t.Error(err)
	}
}

// TestSlowPattern: steps that double with each letter come to an end, with an error.
func TestSlowPattern(t *testing.T) {
	re, err := compilePattern(`(a|a)*b`)
	if err != nil || re.re.MatchTimeout != slowestMatch {
		t.Fatal(err, re)
	}
	if re, err = compilePattern(`(a+)+b`); err != nil || re.re.MatchTimeout != slowestMatch {
		t.Fatal(err, re)
	}
	re.re.MatchTimeout = time.Millisecond
	tok, err := Parse([]byte(smallFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	tok.pretokenize = []splitter{splitAt(re, isolated)}
	if ids := tok.Encode("aab", false); len(ids) == 0 || tok.Err() != nil {
		t.Error(ids, tok.Err())
	}
	tok.normalize = nil
	tok.Encode(strings.Repeat("a", 60), false)
	if !errors.Is(tok.Err(), ErrTooSlow) {
		t.Error(tok.Err())
	}
}
