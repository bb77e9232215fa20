package tokenizer

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/pitot-bench/pitot/internal/test/race"
)

// The tokenizers and goldens under testdata are written by testdata/make_golden.py
// with tokenizers 0.23.3.

var kinds = []string{"gpt2", "llama3", "qwen", "deepseek2", "deepseek3", "roberta"}

// A golden is the output of Hugging Face for texts and ids.
type golden struct {
	VocabSize  int              `json:"vocab_size"`
	NumSpecial int              `json:"num_special"`
	SpecialIDs []int32          `json:"special_ids"`
	Encode     []goldenEncoding `json:"encode"`
	Decode     []goldenDecoding `json:"decode"`
}

// A goldenEncoding is [text, ids, ids with special tokens].
type goldenEncoding struct {
	text         string
	ids, special []int32
}

func (g *goldenEncoding) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&g.text, &g.ids, &g.special})
}

// A goldenDecoding is [ids, text, text without special tokens].
type goldenDecoding struct {
	ids           []int32
	text, skipped string
}

func (g *goldenDecoding) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&g.ids, &g.text, &g.skipped})
}

func TestEqualsHuggingFace(t *testing.T) {
	race.Skip(t)
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			var g golden
			readGolden(t, kind, &g)
			tok, err := Load(os.DirFS("testdata"), kind+"/tokenizer.json")
			if err != nil {
				t.Fatal(err)
			}
			g.compare(t, tok)
		})
	}
}

// TestVariantsEqualHuggingFace replaces parts of one tokenizer.json.
func TestVariantsEqualHuggingFace(t *testing.T) {
	race.Skip(t)
	var rows []struct {
		golden
		Patch map[string]json.RawMessage
	}
	readGolden(t, "variants", &rows)
	for i, row := range rows {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			tok, err := Parse(patched(t, row.Patch), nil)
			if err != nil {
				t.Fatal(err)
			}
			row.compare(t, tok)
			if t.Failed() {
				for field, value := range row.Patch {
					t.Logf("%s: %s", field, value)
				}
			}
		})
	}
}

// TestLateCharacters: characters of all Unicode versions, and repetitions of repetitions.
func TestLateCharacters(t *testing.T) {
	race.Skip(t)
	var rows []struct {
		golden
		Patch map[string]json.RawMessage
	}
	readGolden(t, "late", &rows)
	for _, row := range rows {
		tok, err := Parse(patched(t, row.Patch), nil)
		if err != nil {
			t.Fatal(err)
		}
		row.compareTexts(t, tok)
	}
	if len(rows) < 28 {
		t.Errorf("%d tokenizers", len(rows))
	}
}

// TestConfigsEqualTransformers combines tokenizer_config.json files with one
// tokenizer.json, and compares with transformers 5.23.0.
func TestConfigsEqualTransformers(t *testing.T) {
	var rows []struct {
		golden
		Patch json.RawMessage
	}
	readGolden(t, "configs", &rows)
	file, err := os.ReadFile("testdata/qwen/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		t.Run(string(row.Patch), func(t *testing.T) {
			tok, err := Parse(file, row.Patch)
			if err != nil {
				t.Fatal(err)
			}
			if got := tok.SpecialIDs(); !slices.Equal(got, row.SpecialIDs) {
				t.Errorf("SpecialIDs() = %d, want %d", got, row.SpecialIDs)
			}
			row.compareTexts(t, tok)
		})
	}
}

func TestNormalForms(t *testing.T) {
	var rows [][5]string
	readGolden(t, "forms", &rows)
	for i, form := range []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD} {
		for _, row := range rows {
			if got := normalForm(form)(row[0]); got != row[i+1] {
				t.Errorf("form %d of %+q\n got %+q\nwant %+q", form, row[0], got, row[i+1])
			}
			if got := normalizeByRule(form, row[0]); got != row[i+1] {
				t.Errorf("form %d of %+q by rule\n got %+q\nwant %+q", form, row[0], got, row[i+1])
			}
		}
	}
}

func (g *golden) compare(t *testing.T, tok *Tokenizer) {
	t.Helper()
	if got := tok.VocabSize(); got != g.VocabSize {
		t.Errorf("VocabSize() = %d, want %d", got, g.VocabSize)
	}
	if got := tok.NumSpecial(); got != g.NumSpecial {
		t.Errorf("NumSpecial() = %d, want %d", got, g.NumSpecial)
	}
	if got := tok.AddedSpecialIDs(); !slices.Equal(got, g.SpecialIDs) {
		t.Errorf("AddedSpecialIDs() = %d, want %d", got, g.SpecialIDs)
	}
	g.compareTexts(t, tok)
}

func (g *golden) compareTexts(t *testing.T, tok *Tokenizer) {
	t.Helper()
	for _, e := range g.Encode {
		compareIDs(t, tok, e.text, false, e.ids)
		compareIDs(t, tok, e.text, true, e.special)
	}
	for _, d := range g.Decode {
		compareText(t, tok, d.ids, false, d.text)
		compareText(t, tok, d.ids, true, d.skipped)
	}
}

func compareIDs(t *testing.T, tok *Tokenizer, text string, special bool, want []int32) {
	t.Helper()
	if got := tok.Encode(text, special); !slices.Equal(got, want) {
		t.Errorf("Encode(%.200q, %v)\n got %d\nwant %d", text, special, got, want)
	}
}

func compareText(t *testing.T, tok *Tokenizer, ids []int32, skip bool, want string) {
	t.Helper()
	if got := tok.Decode(ids, skip); got != want {
		t.Errorf("Decode(%d, %v)\n got %q\nwant %q", ids, skip, got, want)
	}
}

func readGolden(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".golden.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(v); err != nil {
		t.Fatal(err)
	}
}

// patched returns llama3/tokenizer.json with some fields replaced.
func patched(t testing.TB, patch map[string]json.RawMessage) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/llama3/tokenizer.json")
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	for field, value := range patch {
		fields[field] = value
	}
	data, err = json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
