package tokenizer

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/test/race"
)

// The files under testdata/kinds are written by testdata/make_kinds.py with
// tokenizers 0.23.3.

// otherKinds are those that are not byte-level, as kinds are.
var otherKinds = []string{
	"llama2", "mistral", "gemma", "words_bpe", "gpt1", "clip", "prefix_bpe",
	"t5", "xlmr", "albert", "unigram_bytes", "bert", "bert_cased", "word_level",
}

func TestTenThousandTexts(t *testing.T) {
	race.Skip(t)
	texts := goldenTexts(t)
	for _, kind := range append(kinds, otherKinds...) {
		t.Run(kind, func(t *testing.T) {
			sums := readZipped(t, kind+".sums")
			step := 4 * len(texts) / len(sums)
			if len(sums)*step != 4*len(texts) || len(texts) < 10_000 {
				t.Fatalf("%d bytes of checksums for %d texts", len(sums), len(texts))
			}
			tok := loadKind(t, kind)
			for i := 0; 4*i < len(sums); i++ {
				compareSum(t, tok, i, texts[i*step], binary.LittleEndian.Uint32(sums[4*i:]))
			}
		})
	}
}

// TestLongTexts requires linear time for a long text, plus a heap for BPE: a
// quadratic search would take hours.
func TestLongTexts(t *testing.T) {
	race.Skip(t)
	var kinds map[string][]uint32
	if err := json.Unmarshal(readZipped(t, "long.json"), &kinds); err != nil {
		t.Fatal(err)
	}
	var letters strings.Builder
	for _, id := range slices.Repeat(oddIDs(28, 1<<20), 2000) {
		letters.WriteByte(byte('a' + id%26))
	}
	texts := []string{
		strings.Repeat("abcdefghij", 10_000), strings.Repeat("水", 30_000), strings.Repeat(" ", 50_000) + "x",
		strings.Repeat("e\u0301", 20_000), strings.Repeat("▁", 30_000), strings.Repeat("🙂", 20_000),
		strings.Repeat("a1.", 20_000), letters.String(),
	}
	for kind, sums := range kinds {
		t.Run(kind, func(t *testing.T) {
			tok := loadKind(t, kind)
			for i, text := range texts {
				compareSum(t, tok, i, text, sums[i])
			}
		})
	}
}

// TestParts replaces parts of the tokenizers.
func TestParts(t *testing.T) {
	race.Skip(t)
	var rows []struct {
		Kind string
		Part map[string]json.RawMessage
		Sums []uint32
	}
	if err := json.Unmarshal(readZipped(t, "parts.json"), &rows); err != nil {
		t.Fatal(err)
	}
	texts := goldenTexts(t)
	step := len(texts) / 120
	for i, row := range rows {
		t.Run(fmt.Sprint(i, row.Kind), func(t *testing.T) {
			tok, err := Parse(withPart(t, row.Kind, row.Part), nil)
			if err != nil {
				t.Fatal(err)
			}
			for k, sum := range row.Sums {
				compareSum(t, tok, k, texts[k*step], sum)
			}
			if t.Failed() {
				t.Logf("%.600s", row.Part)
			}
		})
	}
}

// TestConfigsOfKinds combines a tokenizer_config.json with the tokenizers, and
// compares with transformers 5.23.0.
func TestConfigsOfKinds(t *testing.T) {
	var rows []struct {
		Kind       string
		Config     json.RawMessage
		BOS        string
		SpecialIDs []int32 `json:"special_ids"`
		Sums       []uint32
	}
	if err := json.Unmarshal(readZipped(t, "configs.json"), &rows); err != nil {
		t.Fatal(err)
	}
	texts := goldenTexts(t)
	step := len(texts) / 120
	for _, row := range rows {
		t.Run(row.Kind+string(row.Config), func(t *testing.T) {
			tok, err := Parse(kindFile(t, row.Kind), row.Config)
			if err != nil {
				t.Fatal(err)
			}
			if tok.BOS() != row.BOS || !slices.Equal(tok.SpecialIDs(), row.SpecialIDs) {
				t.Errorf("BOS %q and special ids %d, want %q and %d", tok.BOS(), tok.SpecialIDs(), row.BOS, row.SpecialIDs)
			}
			for i, sum := range row.Sums {
				compareSum(t, tok, i, texts[i*step], sum)
			}
		})
	}
}

// compareSum compares the encoding of a text and the decoding of some ids with a
// checksum: checksum of make_kinds.py.
func compareSum(t *testing.T, tok *Tokenizer, i int, text string, want uint32) {
	t.Helper()
	ids, special := tok.Encode(text, false), tok.Encode(text, true)
	odd := oddIDs(i, len(tok.allIDs)+20)
	fields := []string{list(ids), list(special)}
	for _, ids := range [][]int32{special, odd} {
		fields = append(fields, tok.Decode(ids, false), tok.Decode(ids, true))
	}
	if got := crc32.ChecksumIEEE([]byte(strings.Join(fields, "\x00"))); got != want {
		t.Errorf("text %d, %.100q:\n%.300q", i, text, fields)
	}
}

func list(ids []int32) string {
	var b []byte
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return string(b)
}

func oddIDs(i, top int) []int32 {
	var ids []int32
	state := uint32(i + 1)
	for range i % 29 {
		state = state*1664525 + 1013904223
		ids = append(ids, int32(state>>8)%int32(top))
	}
	return ids
}

func loadKind(t testing.TB, kind string) *Tokenizer {
	t.Helper()
	tok, err := Parse(kindFile(t, kind), nil)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func kindFile(t testing.TB, kind string) []byte {
	t.Helper()
	if data, err := os.ReadFile("testdata/" + kind + "/tokenizer.json"); err == nil {
		return data
	}
	return readZipped(t, kind+".json")
}

// withPart returns a tokenizer with some fields replaced; of the model, only some
// of its fields.
func withPart(t testing.TB, kind string, part map[string]json.RawMessage) []byte {
	t.Helper()
	var file, model map[string]json.RawMessage
	if err := json.Unmarshal(readZipped(t, kind+".json"), &file); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file["model"], &model); err != nil {
		t.Fatal(err)
	}
	for field, value := range part {
		file[field] = value
	}
	if patch, ok := part["model"]; ok {
		if err := json.Unmarshal(patch, &model); err != nil {
			t.Fatal(err)
		}
		file["model"], _ = json.Marshal(model)
	}
	data, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func goldenTexts(t testing.TB) (texts []string) {
	t.Helper()
	if err := json.Unmarshal(readZipped(t, "texts.json"), &texts); err != nil {
		t.Fatal(err)
	}
	return texts
}

func readZipped(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/kinds/" + name + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
