package vllm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/tokenizer"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/test/golden"
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
	golden.JSON(t, "testdata/golden.json", &all)
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

// source is what a golden case was made with.
func (c goldenCase) source(t *testing.T) *workload.Source {
	t.Helper()
	name := c.Tokenizer
	if name == "" {
		name = "qwen"
	}
	tok, err := tokenizer.Load(os.DirFS("../../load/tokenizer/testdata"), name)
	if err != nil {
		t.Fatal(err)
	}
	return &workload.Source{
		Requests: c.Requests, Seed: c.Seed, IDPrefix: "b-", Tokens: local{tok}, Local: true, Files: testFiles,
		Vocab: workload.Vocabulary{
			Size: tok.VocabSize(), Special: tok.SpecialIDs(), All: tok.AllIDs(), Around: tok.NumSpecial(), Template: turns{},
		},
		Ask: workload.Ask{Protocol: "chat"},
	}
}

// common are the settings that most cases have.
func (c goldenCase) common() Common {
	return Common{SkipTemplate: c.Skip || c.Settings.SkipChatTemplate, NoShuffle: c.Still}
}

// testFiles are those in testdata, by paths from there.
var testFiles = workload.Files{
	Open: func(name string) (workload.Reader, error) {
		if isFolder(name) {
			return nil, errors.New("is a folder")
		}
		return os.Open(filepath.Join("testdata/files", name))
	},
	Folder: func(name string) fs.FS {
		if !isFolder(name) {
			return nil
		}
		return os.DirFS(filepath.Join("testdata/files", name))
	},
	Fetch: func(_ context.Context, address string) (io.ReadCloser, error) {
		return os.Open(strings.Replace(strings.TrimPrefix(address, "file://"), "FILES", "testdata/files", 1))
	},
}

func isFolder(name string) bool {
	info, err := os.Stat(filepath.Join("testdata/files", name))
	return err == nil && info.IsDir()
}

// build makes the workload of a dataset, and holds that its settings and files are good.
func build(t *testing.T, d workload.Dataset, s *workload.Source) (workload.Workload, error) {
	t.Helper()
	if err := d.Check(s).Err(); err != nil {
		return workload.Workload{}, err
	}
	if err := d.Read(t.Context(), s); err != nil {
		return workload.Workload{}, err
	}
	return d.Build(t.Context(), s)
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

// temporary is a file for a spool.
func temporary(t *testing.T) *os.File {
	t.Helper()
	file, err := os.Create(t.TempDir() + "/prompts")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// each holds the golden cases of a kind.
func each(t *testing.T, kind string, make func(c goldenCase, s *workload.Source) workload.Dataset) {
	t.Helper()
	for i, c := range goldenCases(t, kind) {
		s := c.source(t)
		if i%2 == 1 { // what can be is made as it is due, or waits in a file
			s.Window, s.InOrder, s.Spool = 1, true, workload.NewSpool(temporary(t), 0)
		}
		w, err := build(t, make(c, s), s)
		if err == nil {
			err = w.MakeAll(t.Context(), nil)
		}
		c.check(t, w, err)
	}
}

func TestBurstGPTEqualsVLLM(t *testing.T) {
	each(t, "burstgpt", func(goldenCase, *workload.Source) workload.Dataset {
		return &burstGPT{file: file[datasetLengths]{Data: "burstgpt.csv"}}
	})
}

func TestSonnetEqualsItsDescription(t *testing.T) {
	each(t, "sonnet", func(c goldenCase, s *workload.Source) workload.Dataset {
		if !c.Raw {
			s.Ask.Protocol = "completions"
		}
		return &sonnet{file: file[string]{Data: "poem.txt"}, Input: 150, Prefix: 60, Output: 30}
	})
}

func TestSpecBenchEqualsVLLM(t *testing.T) {
	each(t, "spec_bench", func(c goldenCase, s *workload.Source) workload.Dataset {
		s.Seed = 99 // which it does not look at
		return &SpecBench{questions{file[customLine]{Data: "spec_bench.jsonl"}, c.Category, c.Output, c.common()}}
	})
}

func TestSpeedBenchEqualsVLLM(t *testing.T) {
	each(t, "speed_bench", func(c goldenCase, s *workload.Source) workload.Dataset {
		s.Seed = 99
		common := c.common()
		common.Arguments = map[string]json.RawMessage{"mood": json.RawMessage(`"calm"`)}
		return &SpeedBench{questions{file[customLine]{Data: "speed"}, c.Category, c.Output, common}, "qualitative"}
	})
}

func TestCustomEqualsVLLM(t *testing.T) {
	each(t, "custom", func(c goldenCase, _ *workload.Source) workload.Dataset {
		common := c.common()
		if c.Mood != "" {
			common.Arguments = map[string]json.RawMessage{"mood": json.RawMessage(`"` + c.Mood + `"`)}
		}
		return &Custom{file: file[customLine]{Data: "rows.jsonl"}, Output: max(c.Output, 0), Common: common}
	})
}

// sharegpt is package workload's; here its pictures and videos are held too.
func TestShareGPTEqualsVLLM(t *testing.T) {
	each(t, "sharegpt", func(c goldenCase, _ *workload.Source) workload.Dataset {
		return &shareGPT{file: file[string]{Data: "pictured.json"}, Output: c.Output}
	})
}

func TestCustomImageEqualsVLLM(t *testing.T) {
	each(t, "custom_image", func(c goldenCase, _ *workload.Source) workload.Dataset {
		return &CustomImage{file: file[imageLine]{Data: "images.jsonl"}, Output: c.Output, Common: c.common()}
	})
}

func TestCustomAudioEqualsVLLM(t *testing.T) {
	each(t, "custom_audio", func(c goldenCase, _ *workload.Source) workload.Dataset {
		return &CustomAudio{file: file[audioLine]{Data: "sounds.jsonl"}, Output: max(c.Output, 0), Chat: c.Chat, Common: c.common()}
	})
}

func TestTimedTraceEqualsVLLM(t *testing.T) {
	each(t, "timed_trace", func(goldenCase, *workload.Source) workload.Dataset {
		d := newTimedTrace()
		d.Data, d.Multiplier = "trace.jsonl", 0.001
		return d
	})
}

// rooted has its files where the golden script had them.
type rooted struct{ HF }

func (h *rooted) Read(ctx context.Context, s *workload.Source) error {
	err := h.HF.Read(ctx, s)
	h.root = "FILES/" + h.Data
	return err
}

func TestHubEqualsVLLM(t *testing.T) {
	each(t, "hf", func(c goldenCase, _ *workload.Source) workload.Dataset {
		h := rooted{HF{
			Data: c.Folder, Name: c.Name, Subset: c.Subset, Split: c.Split, Gather: c.Gather, Categories: c.Settings.Categories,
			MinDistance: c.Settings.MinDistance, MaxDistance: 1, Common: c.common(),
		}}
		if c.Settings.OutputLen != nil {
			h.Output = *c.Settings.OutputLen
		}
		if c.Settings.MaxDistance != nil {
			h.MaxDistance = *c.Settings.MaxDistance
		}
		return &h
	})
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
	type order struct {
		Form        string
		Sizes       []int
		Seed        uint64
		First, Last []int64
		Digest      string
	}
	var orders []order
	golden.JSON(t, "testdata/orders.json", &orders)
	for _, c := range orders {
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
		h := HF{snapshot: snapshot{fs: files}}
		var err error
		if h.files, err = h.dataFiles(family{}); err != nil {
			t.Fatal(err)
		}
		var got []int64
		for row, err := range h.ordered(c.Seed) {
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
