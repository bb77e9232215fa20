package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/tokenizer"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// goldenCase is what the classes of vllm 0.33.0 make of the files in testdata.
type goldenCase struct {
	Kind, Tokenizer, Category, Mood string
	Name, Folder, Split, Subset     string
	Requests, Output                int
	Seed                            uint64
	Raw, Skip, Chat, Gather, Still  bool
	Settings                        struct {
		OutputLen        *int     `json:"output_len"`
		SkipChatTemplate bool     `json:"skip_chat_template"`
		MinDistance      float64  `json:"min_distance"`
		MaxDistance      *float64 `json:"max_distance"`
		Categories       []string
	}
	Prompts, IDs, Extra []string
	Lens, Outs          []int
	Media               [][]string
	At                  []float64
}

func goldenCases(t *testing.T, kind string) (out []goldenCase) {
	t.Helper()
	var all []goldenCase
	readJSON(t, "testdata/golden.json", &all)
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

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

func openFile(t *testing.T, name string) io.Reader {
	t.Helper()
	b, err := os.ReadFile("testdata/files/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b)
}

type local struct{ *tokenizer.Tokenizer }

func (l local) Encode(_ context.Context, text string, special bool) ([]int32, error) {
	return l.Tokenizer.Encode(text, special), nil
}

func (l local) Decode(_ context.Context, ids []int32) (string, error) {
	return l.Tokenizer.Decode(ids, false), nil
}

// turns renders as the template of the golden script does.
type turns struct{}

func (turns) Render(messages json.RawMessage, o workload.TemplateOptions) (string, error) {
	var list []struct{ Role, Content string }
	if err := json.Unmarshal(messages, &list); err != nil {
		return "", err
	}
	var b strings.Builder
	if o.Tools != nil {
		var tools []any
		if err := json.Unmarshal(o.Tools, &tools); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "[%d tools]", len(tools))
	}
	for _, m := range list {
		fmt.Fprintf(&b, "<%s>%s\n", m.Role, m.Content)
	}
	if o.GenerationPrompt {
		mood := ""
		if raw, ok := o.Arguments["mood"]; ok {
			if err := json.Unmarshal(raw, &mood); err != nil {
				return "", err
			}
		}
		b.WriteString("<assistant>" + mood)
	}
	return b.String(), nil
}

func (c goldenCase) common(t *testing.T) Common {
	t.Helper()
	name := c.Tokenizer
	if name == "" {
		name = "qwen"
	}
	tok, err := tokenizer.Load(os.DirFS("../../../load/tokenizer/testdata"), name)
	if err != nil {
		t.Fatal(err)
	}
	return Common{
		Requests: c.Requests, Seed: c.Seed, IDPrefix: "b-", SkipTemplate: c.Skip || c.Settings.SkipChatTemplate, NoShuffle: c.Still,
		Tokens: local{tok},
		Vocabulary: workload.Vocabulary{
			Size: tok.VocabSize(), Special: tok.SpecialIDs(), All: tok.AllIDs(), Around: tok.NumSpecial(), Template: turns{},
		},
	}
}

func sha(b []byte) string {
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%x", sum[:8])
}

// prompt is a prompt in the form of the golden file.
func prompt(t *testing.T, r workload.Request) string {
	t.Helper()
	switch {
	case r.Messages != nil:
		return sha(sorted(t, r.Messages))
	case r.Parts != nil:
		return sha(sorted(t, r.Parts))
	case r.Tokens != nil:
		b, err := json.Marshal(r.Tokens)
		if err != nil {
			t.Fatal(err)
		}
		return sha(bytes.ReplaceAll(b, []byte(","), []byte(", ")))
	case len([]rune(r.Text)) < 60:
		return r.Text
	}
	return sha([]byte(r.Text))
}

// sorted is json.dumps with sort_keys.
func sorted(t *testing.T, raw json.RawMessage) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return spaced(bytes.TrimSpace(b.Bytes()))
}

// spaced puts the blanks of Python behind commas and colons that are not in texts.
func spaced(b []byte) []byte {
	var out []byte
	inText := false
	for i, c := range b {
		out = append(out, c)
		if c == '"' && (i == 0 || b[i-1] != '\\') {
			inText = !inText
		}
		if !inText && (c == ',' || c == ':') {
			out = append(out, ' ')
		}
	}
	return out
}

func media(t *testing.T, list []workload.Media) []string {
	t.Helper()
	out := []string{}
	for _, m := range list {
		switch {
		case m.URL != "":
			out = append(out, m.URL)
		case m.MIME == "image/jpeg":
			size, _, err := image.DecodeConfig(bytes.NewReader(m.Data))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("jpeg %dx%d", size.Width, size.Height))
		case m.MIME == "audio/wav":
			out = append(out, "wav "+sha(m.Data))
		default:
			t.Fatalf("medium %q", m.MIME)
		}
	}
	return out
}

func (c goldenCase) check(t *testing.T, w workload.Workload, err error) {
	t.Helper()
	name := fmt.Sprintf("%s %s, %s, seed %d, %d requests", c.Kind, c.Name, c.Tokenizer, c.Seed, c.Requests)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var prompts, ids, extra []string
	var lens, outs []int
	var carried [][]string
	var at []float64
	for _, r := range w.Requests {
		prompts, ids = append(prompts, prompt(t, r)), append(ids, r.ID)
		lens, outs = append(lens, r.PromptTokens), append(outs, r.OutputTokens)
		carried, at = append(carried, media(t, r.Media)), append(at, r.At.Seconds())
		digest := ""
		if r.Extra != nil {
			b, err := json.Marshal(r.Extra)
			if err != nil {
				t.Fatal(err)
			}
			digest = sha(sorted(t, b))
		}
		extra = append(extra, digest)
	}
	differ := func(what string, want, got any) {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s: %s", name, what, diff)
		}
	}
	differ("prompts", c.Prompts, prompts)
	differ("prompt lengths", c.Lens, lens)
	differ("output lengths", c.Outs, outs)
	differ("ids", c.IDs, ids)
	if c.Media != nil {
		differ("media", c.Media, carried)
	}
	if c.Extra != nil {
		differ("fields of the body", c.Extra, extra)
	}
	if c.At != nil {
		differ("times", c.At, at)
	}
}

func TestBurstGPTEqualsVLLM(t *testing.T) {
	for _, c := range goldenCases(t, "burstgpt") {
		w, err := BurstGPT{c.common(t)}.Build(t.Context(), openFile(t, "burstgpt.csv"))
		c.check(t, w, err)
	}
}

func TestSonnetEqualsItsDescription(t *testing.T) {
	for _, c := range goldenCases(t, "sonnet") {
		w, err := Sonnet{Common: c.common(t), Input: 150, Prefix: 60, Output: 30, Raw: c.Raw}.Build(t.Context(), openFile(t, "poem.txt"))
		c.check(t, w, err)
	}
}

func TestSpecBenchEqualsVLLM(t *testing.T) {
	for _, c := range goldenCases(t, "spec_bench") {
		common := c.common(t)
		common.Seed = 99 // which it does not look at
		w, err := SpecBench{common, c.Category, c.Output}.Build(t.Context(), openFile(t, "spec_bench.jsonl"))
		c.check(t, w, err)
	}
}

func TestSpeedBenchEqualsVLLM(t *testing.T) {
	for _, c := range goldenCases(t, "speed_bench") {
		common := c.common(t)
		common.Seed, common.Arguments = 99, map[string]json.RawMessage{"mood": json.RawMessage(`"calm"`)}
		w, err := SpeedBench{common, c.Category, c.Output}.Build(t.Context(), openFile(t, "speed/qualitative.jsonl"))
		c.check(t, w, err)
	}
}

// custom is package workload's, with the rendering of this one.
func TestCustomEqualsVLLM(t *testing.T) {
	for _, c := range goldenCases(t, "custom") {
		common := c.common(t)
		if c.Mood != "" {
			common.Arguments = map[string]json.RawMessage{"mood": json.RawMessage(`"` + c.Mood + `"`)}
		}
		custom := workload.Custom{
			Requests: c.Requests, Output: max(c.Output, 0), Shuffle: true, Seed: c.Seed, IDPrefix: "b-", AsVLLM: true, Render: common.Render(),
		}
		w, err := custom.Build(t.Context(), openFile(t, "rows.jsonl"), common.Tokens)
		c.check(t, w, err)
	}
}

// sharegpt is package workload's; here its pictures and videos are held too.
func TestShareGPTEqualsVLLM(t *testing.T) {
	for _, c := range goldenCases(t, "sharegpt") {
		s := workload.ShareGPT{Requests: c.Requests, Output: c.Output, Seed: c.Seed, IDPrefix: "b-", Media: true}
		w, err := s.Build(t.Context(), openFile(t, "pictured.json"), c.common(t).Tokens)
		c.check(t, w, err)
	}
}

func TestCustomImageEqualsVLLM(t *testing.T) {
	for _, c := range goldenCases(t, "custom_image") {
		w, err := CustomImage{Common: c.common(t), Output: c.Output}.Build(t.Context(), openFile(t, "images.jsonl"))
		c.check(t, w, err)
	}
}

func TestCustomAudioEqualsVLLM(t *testing.T) {
	open := func(_ context.Context, address string) (io.ReadCloser, error) {
		return os.Open(strings.Replace(strings.TrimPrefix(address, "file://"), "FILES", "testdata/files", 1))
	}
	for _, c := range goldenCases(t, "custom_audio") {
		w, err := CustomAudio{Common: c.common(t), Output: max(c.Output, 0), Chat: c.Chat, Fetch: open}.Build(t.Context(), openFile(t, "sounds.jsonl"))
		c.check(t, w, err)
	}
}

func TestTimedTraceEqualsVLLM(t *testing.T) {
	for _, c := range goldenCases(t, "timed_trace") {
		trace := TimedTrace{
			Common: c.common(t), Chunk: 16, Multiplier: 0.001,
			Timestamp: "timestamp", InputLength: "input_length", OutputLength: "output_length", HashIDs: "hash_ids",
		}
		w, err := trace.Build(t.Context(), openFile(t, "trace.jsonl"))
		c.check(t, w, err)
	}
}

func TestHubEqualsVLLM(t *testing.T) {
	for _, c := range goldenCases(t, "hf") {
		h := HF{
			Common: c.common(t), Name: c.Name, Copy: Folder{os.DirFS(filepath.Join("testdata/files", c.Folder))}, Root: "FILES/" + c.Folder,
			Subset: c.Subset, Split: c.Split, Gather: c.Gather, Output: c.Settings.OutputLen,
			Categories: strings.Join(c.Settings.Categories, ","), MinDistance: c.Settings.MinDistance, MaxDistance: 1, MaxAudio: math.Inf(1),
		}
		if c.Settings.MaxDistance != nil {
			h.MaxDistance = *c.Settings.MaxDistance
		}
		w, err := h.Build(t.Context())
		c.check(t, w, err)
	}
}

// Every family of the table has a golden case, or is another name of one that has.
func TestFamiliesAreHeld(t *testing.T) {
	held := map[string]bool{}
	for _, c := range goldenCases(t, "hf") {
		held[c.Name] = true
	}
	alike := map[string]string{
		"AI-MO/NuminaMath-1.5": "AI-MO/NuminaMath-CoT", "vdaita/edit_10k_char": "vdaita/edit_5k_char",
		"facebook/voxpopuli": "openslr/librispeech_asr", "LIUM/tedlium": "openslr/librispeech_asr", "edinburghcstr/ami": "openslr/librispeech_asr",
		"speechcolab/gigaspeech": "openslr/librispeech_asr", "kensho/spgispeech": "openslr/librispeech_asr",
		"D4nt3/esb-datasets-earnings22-validation-tiny-filtered": "openslr/librispeech_asr",
	}
	for _, name := range Families() {
		if !held[name] && !held[alike[name]] && name != "ArtificialAnalysis/Earnings22-Cleaned-AA" {
			t.Errorf("%s has no golden case", name)
		}
	}
}

// Rows of several files come in the order of IterableDataset.shuffle.
func TestOrderEqualsDatasets(t *testing.T) {
	var cases []struct {
		Form        string
		Sizes       []int
		Seed        uint64
		First, Last []int64
		Digest      string
	}
	readJSON(t, "testdata/orders.json", &cases)
	for _, c := range cases {
		files := fstest.MapFS{}
		n := 0
		for i, size := range c.Sizes {
			var b strings.Builder
			if c.Form == "csv" {
				b.WriteString("n\n")
			}
			for range size {
				if c.Form == "csv" {
					fmt.Fprintln(&b, n)
				} else {
					fmt.Fprintf(&b, "{\"n\":%d}\n", n)
				}
				n++
			}
			files[fmt.Sprintf("train-%05d-of-%05d.%s", i, len(c.Sizes), c.Form)] = &fstest.MapFile{Data: []byte(b.String())}
		}
		h := HF{Common: Common{Seed: c.Seed}, Copy: Folder{files}}
		names, err := h.dataFiles(family{})
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for row, err := range h.ordered(names) {
			if err != nil {
				t.Fatal(err)
			}
			k, err := row.Int("n")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, k)
		}
		if len(got) != n {
			t.Fatalf("%d rows of %d", len(got), n)
		}
		text := strings.Trim(fmt.Sprint(got), "[]")
		if diff := cmp.Diff([][]int64{c.First, c.Last}, [][]int64{got[:8], got[n-8:]}); diff != "" || sha([]byte(text)) != c.Digest {
			t.Errorf("%s %v, seed %d: %s", c.Form, c.Sizes, c.Seed, diff)
		}
	}
}
