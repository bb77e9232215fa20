package sglang

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pitot-bench/pitot/internal/load/tokenizer"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// local adapts a tokenizer file.
type local struct{ *tokenizer.Tokenizer }

func (l local) Encode(_ context.Context, text string, special bool) ([]int32, error) {
	return l.Tokenizer.Encode(text, special), nil
}

func (l local) Decode(_ context.Context, ids []int32) (string, error) {
	return l.Tokenizer.Decode(ids, false), nil
}

// vocabularies are of the tokenizers of package tokenizer's testdata, as the Hugging
// Face library has them with that BOS.
var vocabularies = map[string]workload.Vocabulary{
	"gpt2":   {Size: 1600, All: upTo(1601), Special: []int32{1600}, BOS: "<|endoftext|>"},
	"llama3": {Size: 2000, All: upTo(2023), Special: []int32{2000}, BOS: "<|begin_of_text|>", Around: 1},
}

func upTo(n int32) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i)
	}
	return ids
}

func loadTokenizer(t testing.TB, name string) (local, workload.Vocabulary) {
	t.Helper()
	tok, err := tokenizer.Load(os.DirFS("../../load/tokenizer/testdata"), name)
	if err != nil {
		t.Fatal(err)
	}
	v := vocabularies[name]
	if v.Size != tok.VocabSize() || v.Around != tok.NumSpecial() {
		t.Fatalf("%s has %d ids and %d special tokens around a text", name, tok.VocabSize(), tok.NumSpecial())
	}
	v.Template = roles{v.BOS}
	return local{tok}, v
}

// roles is the chat template of golden.py.
type roles struct{ bos string }

func (r roles) Render(messages json.RawMessage, o workload.TemplateOptions) (string, error) {
	var list []struct {
		Role    string
		Content json.RawMessage
	}
	if err := json.Unmarshal(messages, &list); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(r.bos)
	for _, m := range list {
		b.WriteString("<|" + m.Role + "|>\n" + content(m.Content))
	}
	if o.GenerationPrompt {
		b.WriteString("<|assistant|>\n")
	}
	return b.String(), nil
}

// content is text, or a list of pictures and texts.
func content(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var items []struct{ Type, Text string }
	if err := json.Unmarshal(raw, &items); err != nil {
		return err.Error()
	}
	for _, item := range items {
		if item.Type == "image" {
			text += "<|picture|>"
		}
		text += item.Text
	}
	return text
}

// A files is what a test has, by name.
type files map[string]string

// from is what datasets find: files, and below them those of testdata.
func (f files) from() workload.Files {
	return workload.Files{
		Open: func(name string) (workload.Reader, error) {
			content, ok := f[name]
			if !ok {
				return os.Open("testdata/" + name)
			}
			file, err := fstest.MapFS{"f": {Data: []byte(content)}}.Open("f")
			return file.(workload.Reader), err
		},
		Folder: func(string) fs.FS { return nil },
		Temp:   "none",
	}
}

// build makes the workload of a dataset, and holds that its settings and files are good.
func build(t testing.TB, d workload.Dataset, s *workload.Source) (workload.Workload, error) {
	t.Helper()
	if err := d.Check(s).Err(); err != nil {
		return workload.Workload{}, err
	}
	if err := d.Read(t.Context(), s); err != nil {
		return workload.Workload{}, err
	}
	return d.Build(t.Context(), s)
}

// An args is the flags of a golden case, by their names, over the defaults of
// golden.py.
type args struct {
	t testing.TB
	m map[string]any
}

func (a args) int(name string, otherwise int) int {
	if v := a.optional(name); v != nil {
		return *v
	}
	return otherwise
}

func (a args) optional(name string) *int {
	v, ok := a.m[name].(float64)
	if !ok {
		return nil
	}
	n := int(v)
	return &n
}

func (a args) float(name string, otherwise float64) float64 {
	if v, ok := a.m[name].(float64); ok {
		return v
	}
	return otherwise
}

func (a args) text(name, otherwise string) string {
	if v, ok := a.m[name].(string); ok {
		return v
	}
	return otherwise
}

func (a args) is(name string) bool {
	v, _ := a.m[name].(bool)
	return v
}

func (a args) data() data { return data{Data: a.text("dataset_path", "")} }

// dataset is the settings of a case.
func (c goldenCase) dataset(t *testing.T) workload.Dataset {
	t.Helper()
	a := args{t, c.Args}
	output := a.optional("sharegpt_output_len")
	common := common{map[string]string{"january": January}[c.Form]}
	drawn := lengths{a.int("random_input_len", 200), a.int("random_output_len", 50), a.float("random_range_ratio", 0)}
	switch name := a.text("dataset_name", ""); name {
	case "random", "random-ids":
		return &random{common: common, data: a.data(), lengths: drawn, ids: name == "random-ids", AsIDs: a.is("tokenize_prompt")}
	case "sharegpt", "custom":
		return &talks{
			common: common, data: a.data(), Output: output, Context: a.optional("sharegpt_context_len"), Suffix: a.text("prompt_suffix", ""),
			ChatTemplate: a.is("apply_chat_template"), lines: name == "custom",
		}
	case "openai":
		return &datasetOpenAI{common: common, data: a.data(), Output: output}
	case "longbench_v2":
		return &longBench{common: common, data: a.data(), Output: output, Context: a.optional("sharegpt_context_len")}
	case "speed-bench":
		return &speedBench{common: common, data: a.data(), Category: a.text("speed_bench_category", ""), Output: a.int("speed_bench_output_len", 512)}
	case "agentic-trace":
		return &agentic{common: common, data: a.data(), Output: output, Offset: a.int("dataset_offset", 0), MaxTurns: a.optional("agentic_max_turns")}
	case "mooncake":
		return &mooncake{common: common, data: a.data(), Rounds: a.int("mooncake_num_rounds", 1), Slowdown: a.float("mooncake_slowdown_factor", 1)}
	case "mmmu":
		return &mmmu{common: common, data: data{Data: "mmmu.parquet"}, Output: drawn.Output, carrier: carrier{a.text("backend", "sglang")}}
	case "image":
		pad := 17
		return &noise{
			common: common, Count: a.int("image_count", 1), RandomCount: a.is("random_image_count"), lengths: drawn,
			Content: a.text("image_content", "random"), Format: "png", Resolution: a.text("image_resolution", "5x7"), carrier: carrier{a.text("backend", "sglang")}, Pad: &pad,
		}
	case "generated-shared-prefix":
		d := &sharedPrefix{
			common: common, Groups: 4, PerGroup: 3, System: 40, Question: 15, Output: 9, Ratio: a.float("gsp_range_ratio", 1), Turns: a.int("gsp_num_turns", 1),
			Ordered: a.is("gsp_ordered"), Fast: a.is("gsp_fast_prepare"), AsIDs: a.is("tokenize_prompt"),
		}
		if a.is("gsp_send_routing_key") {
			d.RoutingKey = "0a1b2c3d_20260102030405"
		}
		if alpha := a.float("gsp_zipf_alpha", 0); alpha != 0 {
			d.Zipf = &alpha
		}
		return d
	}
	t.Fatalf("no dataset %v", c.Args)
	return nil
}
