package workload

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/tokenizer"
)

// goldenCase is a workload drawn by the dataset classes of vllm 0.33.0 (numpy
// 2.4.6, transformers) with a tokenizer of package tokenizer's testdata. Long
// prompts are given by the first 16 hex digits of their SHA-256.
type goldenCase struct {
	Kind, Tokenizer          string
	Seed                     uint64
	Requests                 int
	Input, Output            int
	InputRange, OutputRange  float64
	Prefix                   int
	Prompts, Texts, Pictures []string
	Lens, Outs, Items        []int
}

func goldenCases(t *testing.T, kind string) []goldenCase {
	t.Helper()
	b, err := os.ReadFile("testdata/vllm.json")
	if err != nil {
		t.Fatal(err)
	}
	var all, out []goldenCase
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Kind == kind {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no golden %s", kind)
	}
	return out
}

// local adapts a tokenizer file.
type local struct{ *tokenizer.Tokenizer }

func (l local) Encode(_ context.Context, text string, special bool) ([]int32, error) {
	return l.Tokenizer.Encode(text, special), nil
}

func (l local) Decode(_ context.Context, ids []int32) (string, error) {
	return l.Tokenizer.Decode(ids, false), nil
}

func loadTokenizer(t *testing.T, name string) (local, Vocabulary) {
	t.Helper()
	tok, err := tokenizer.Load(os.DirFS("../tokenizer/testdata"), name)
	if err != nil {
		t.Fatal(err)
	}
	return local{tok}, Vocabulary{
		Size: tok.VocabSize(), Special: tok.SpecialIDs(), AddedSpecial: tok.AddedSpecialIDs(), Around: tok.NumSpecial(),
	}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%x", sum[:8])
}

// drawn converts a workload to the form of a golden case.
func drawn(w Workload) (prompts, texts []string, lens, outs, items []int) {
	for _, r := range w.Requests {
		prompts = append(prompts, digest([]byte(r.Text)))
		texts = append(texts, r.Text)
		lens, outs, items = append(lens, r.PromptTokens), append(outs, r.OutputTokens), append(items, len(r.Media))
	}
	return prompts, texts, lens, outs, items
}

func (c goldenCase) random() Random {
	return Random{
		Requests: len(c.Lens), Input: c.Input, Output: c.Output, InputRange: c.InputRange, OutputRange: c.OutputRange,
		Prefix: c.Prefix, Seed: c.Seed, IDPrefix: "b-",
	}
}

func (c goldenCase) check(t *testing.T, w Workload) {
	t.Helper()
	prompts, texts, lens, outs, items := drawn(w)
	name := fmt.Sprintf("%s, %s, seed %d, %d requests: ", c.Kind, c.Tokenizer, c.Seed, len(c.Lens))
	if diff := cmp.Diff(c.Lens, lens); diff != "" {
		t.Error(name + "prompt lengths: " + diff)
	}
	if diff := cmp.Diff(c.Outs, outs); diff != "" {
		t.Error(name + "output lengths: " + diff)
	}
	if diff := cmp.Diff(c.Prompts, prompts); c.Prompts != nil && diff != "" {
		t.Error(name + "prompts: " + diff)
	}
	if diff := cmp.Diff(c.Texts, texts); c.Texts != nil && diff != "" {
		t.Error(name + "prompts: " + diff)
	}
	if diff := cmp.Diff(c.Items, items); c.Items != nil && diff != "" {
		t.Error(name + "pictures: " + diff)
	}
	for i, r := range w.Requests {
		if want := fmt.Sprint("b-", i); r.ID != want {
			t.Errorf("%sid %q, want %q", name, r.ID, want)
		}
	}
}

func TestRandomEqualsVLLM(t *testing.T) {
	for _, c := range goldenCases(t, "random") {
		tok, v := loadTokenizer(t, c.Tokenizer)
		w, err := c.random().Build(t.Context(), v, tok)
		if err != nil {
			t.Fatal(err)
		}
		c.check(t, w)
	}
}

func (c goldenCase) randomMM() RandomMM {
	return RandomMM{
		Random: c.random(), Items: 2, ItemsRange: 0.5, Limits: map[string]int{"image": 255},
		Buckets: []Bucket{{16, 24, 1, 0.25}, {8, 8, 1, 0.75}},
	}
}

func TestRandomMMEqualsVLLM(t *testing.T) {
	for _, c := range goldenCases(t, "random-mm") {
		tok, v := loadTokenizer(t, c.Tokenizer)
		w, err := c.randomMM().Build(t.Context(), v, tok)
		if err != nil {
			t.Fatal(err)
		}
		c.check(t, w)
	}
}

// The pixels equal numpy's, independent of the JPEG encoder.
func TestPixelsEqualVLLM(t *testing.T) {
	for _, c := range goldenCases(t, "random-mm") {
		tok, v := loadTokenizer(t, c.Tokenizer)
		got := pictured(t, c.randomMM(), v, tok)
		if diff := cmp.Diff(c.Pictures, got); diff != "" {
			t.Error(diff)
		}
	}
}

// A bucket of video with limit 0 is drawn, and skipped. The pixels are those of vLLM
// 0.33.0 with GPT-2's tokenizer, by seed.
func TestVideoOverItsLimitEqualsVLLM(t *testing.T) {
	for seed, want := range map[uint64][]string{
		0: {
			"8x8:3d2f5a1e60dd343e", "24x16:fdcd9743f90d5114", "8x8:ebb3edae315a3f54", "24x16:c5b63b886e7140fb",
			"24x16:2e26bf583c96fff0", "8x8:fb2d6ec041e2cc80",
			"24x16:c7f0330e990e57ca", "24x16:b3bec05e0c12ac2c", "8x8:51506efc816fdd98", "24x16:efbfaf9b7092c7d1",
			"24x16:4ba2b5b0e51dec62",
		},
		1: {
			"8x8:2c2d4a10dab65e19", "24x16:6ac8c2e9f3f1aa1d", "24x16:abd1b2574bf29c04", "24x16:0fc97aafe4284d7e",
			"8x8:187cbfe9adb91e54", "24x16:ed97f54830037a2a",
			"24x16:f459ade841c00e11", "24x16:66badb3ec12ff9ee", "24x16:52b71353ab99343c", "8x8:e310faabab53b975",
			"8x8:bb42b9014303dcfa", "24x16:648bae295440fc72",
		},
	} {
		tok, v := loadTokenizer(t, "gpt2")
		if got := pictured(t, RandomMM{
			Random: Random{Requests: 6, Input: 8, Output: 2, Seed: seed}, Items: 2, ItemsRange: 0.5,
			Limits:  map[string]int{"image": 3, "video": 0},
			Buckets: []Bucket{{16, 24, 1, 0.3}, {8, 8, 1, 0.2}, {8, 8, 4, 0.5}},
		}, v, tok); !cmp.Equal(want, got) {
			t.Errorf("seed %d: %q", seed, got)
		}
	}
}

// pictured are the sizes and the digests of all images.
func pictured(t *testing.T, r RandomMM, v Vocabulary, tok Tokenizer) (got []string) {
	t.Helper()
	if err := r.Check().Err(); err != nil {
		t.Fatal(err)
	}
	d, err := r.begin(t.Context(), v, v.AddedSpecial, tok)
	if err != nil {
		t.Fatal(err)
	}
	err = d.each(t.Context(), func(int, Request) error {
		sizes, pixels := r.images(d)
		for i, size := range sizes {
			got = append(got, fmt.Sprintf("%dx%d:%s", size.Width, size.Height, digest(pixels[i])))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestShareGPTEqualsVLLM(t *testing.T) {
	for _, c := range goldenCases(t, "sharegpt") {
		tok, _ := loadTokenizer(t, c.Tokenizer)
		file, err := os.Open("testdata/talks.json")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		w, err := ShareGPT{Requests: c.Requests, Output: c.Output, Seed: c.Seed, IDPrefix: "b-"}.build(t.Context(), file, tok)
		if err != nil {
			t.Fatal(err)
		}
		c.check(t, w)
	}
}

func TestCustomEqualsVLLM(t *testing.T) {
	for _, c := range goldenCases(t, "custom") {
		tok, _ := loadTokenizer(t, c.Tokenizer)
		file, err := os.Open("testdata/rows.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		w, err := Custom{
			Requests: c.Requests, Output: max(c.Output, 0), Shuffle: true, Seed: c.Seed, IDPrefix: "b-",
		}.build(t.Context(), file, tok)
		if err != nil {
			t.Fatal(err)
		}
		c.check(t, w)
	}
}
