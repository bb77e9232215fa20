package dataset

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

func one(t *testing.T, line string) (first rows.Row) {
	t.Helper()
	if err := eachLine(strings.NewReader(line), func(r rows.Row) error { first = r; return nil }); err != nil {
		t.Fatal(err)
	}
	return first
}

// What is wrong with a file is told with its line and column.
func TestMistakes(t *testing.T) {
	trace := TimedTrace{Chunk: 4, Multiplier: 1, Timestamp: "t", InputLength: "i", OutputLength: "o", HashIDs: "h"}
	for _, c := range []struct {
		check func(file string) error
		file  string
		want  string
	}{
		{imageCheck, `{"prompt":"x"}`, "line 1: must have prompt and image_files, or content"},
		{imageCheck, `{"prompt":"x","image_files":[]}`, `column "image_files" is empty`},
		{imageCheck, `{"prompt":3,"image_files":["a"]}`, `column "prompt" is the number 3: must be text`},
		{imageCheck, `{"content":[]}`, `column "content" must be a list of at least one part`},
		{imageCheck, "\n" + `{"content":[{"type":"text","text":"a"},{"type":"sound"}]}`, `line 2: part 2 of content: type "sound": must be text, image or image_url`},
		{imageCheck, `{"content":[{"type":"image_url","image_url":{}}]}`, `an object with "url"`},
		{audioCheck, `{"prompt":"x","output_tokens":1}`, `column "audio" is missing`},
		{audioCheck, `{"prompt":"x","output_tokens":1,"audio":{"array":[1]}}`, `an object with array and sampling_rate`},
		{audioCheck, `{"prompt":"x","audio":"a.wav","output_tokens":"n"}`, `column "output_tokens" is "n": must be a whole number`},
		{func(f string) error { return SpecBench{}.Check(strings.NewReader(f)) }, `{"turns":[]}`, `column "turns" is empty`},
		{func(f string) error { return SpecBench{Category: "x"}.Check(strings.NewReader(f)) }, `{"turns":["a"],"category":"y"}`, `no question of category "x"; there are y`},
		{func(f string) error { return SpeedBench{}.Check(strings.NewReader(f)) }, `{"messages":[{}]}`, `must begin with a message that has content`},
		{func(f string) error { return BurstGPT{}.Check(strings.NewReader(f)) }, "a,Model,Response tokens,d\n1,GPT-4,x,2\n", `line 2: column "Response tokens" is "x": must be a number`},
		{func(f string) error { return BurstGPT{}.Check(strings.NewReader(f)) }, "a,Model,b,Response tokens\n1,x,1,2\n", `no row with "GPT-4"`},
		{func(f string) error { return BurstGPT{}.Check(strings.NewReader(f)) }, "Timestamp,Model,Request tokens,Response tokens\n1,GPT-4,-3,2\n", `line 2: column "Request tokens" is -3: must be from 0 to 16777216 tokens`},
		{func(f string) error { return trace.Check(strings.NewReader(f)) }, `{"t":1,"i":1}`, `column "o" is missing; there are t, i; --timed-trace-label-output-length names another`},
		{func(f string) error { return trace.Check(strings.NewReader(f)) }, `{"t":1,"i":1,"o":1,"h":[1.5]}`, `column "h" has 1.5: ids must be whole numbers or texts`},
		{func(f string) error { return trace.Check(strings.NewReader(f)) }, `{"t":1e300,"i":1,"o":1}`, `seconds with --timed-trace-sec-multiplier`},
		{func(f string) error { return Sonnet{}.Check(strings.NewReader(f)) }, "", "the file is empty"},
		{imageCheck, "", "the file is empty"},
	} {
		if err := c.check(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.file, err, c.want)
		}
	}
}

func imageCheck(file string) error { return CustomImage{}.Check(strings.NewReader(file)) }
func audioCheck(file string) error { return CustomAudio{}.Check(strings.NewReader(file)) }

// Which files of a copy are taken follows its card, else their names.
func TestFilesOfACopy(t *testing.T) {
	list := func(names ...string) Copy {
		files := fstest.MapFS{}
		for _, n := range names {
			name, data, _ := strings.Cut(n, "=")
			files[name] = &fstest.MapFile{Data: []byte(data)}
		}
		return Folder{files}
	}
	const card = "README.md=---\nconfigs:\n- config_name: a\n  data_files:\n  - split: train\n    path: a/*.jsonl\n- config_name: b\n  default: true\n  data_files: 'b/**'\n---\n"
	for _, c := range []struct {
		copy   Copy
		family family
		subset string
		split  string
		want   string
	}{
		{list("x.jsonl", "y.jsonl", "config.json", ".hidden/z.jsonl"), family{}, "", "", "x.jsonl y.jsonl"},
		{list("train.csv", "test.csv"), family{}, "", "", "train.csv"},
		{list("train.csv", "test.csv"), family{split: "test"}, "", "", "test.csv"},
		{list("data/dev-a.parquet", "data/train-a.parquet"), family{}, "", "validation", "data/dev-a.parquet"},
		{list("gen-00000-of-00002.parquet", "gen-00001-of-00002.parquet", "test.parquet"), family{}, "", "gen", "gen-00000-of-00002.parquet gen-00001-of-00002.parquet"},
		{list("en/train.csv", "de/train.csv"), family{}, "de", "", "de/train.csv"},
		{list("en/train.csv", "de/train.csv"), family{subset: "fr"}, "", "", "de/train.csv en/train.csv"},
		{list("en/train.csv"), family{}, "fr", "", "--hf-subset fr: no folder of that name"},
		{list("en/train.csv"), family{}, "", "test", `no file is of the split "test" by its name; there are en/train.csv`},
		{list("notes.txt"), family{}, "", "", "the copy has no file whose name ends in"},
		{list(card, "a/1.jsonl", "b/c/2.jsonl"), family{}, "a", "", "a/1.jsonl"},
		{list(card, "a/1.jsonl", "b/c/2.jsonl"), family{}, "", "", "b/c/2.jsonl"},
		{list(card, "a/1.jsonl"), family{}, "a", "test", `README.md has no files of the split "test" for the subset "a"`},
		{list("README.md=---\n\t{\n---\n", "x.csv"), family{}, "", "", "README.md: its head is not YAML"},
	} {
		files, err := HF{Copy: c.copy, Subset: c.subset, Split: c.split}.dataFiles(c.family)
		got := strings.Join(files, " ")
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("subset %q, split %q: %q, want %q", c.subset, c.split, got, c.want)
		}
	}
}

func TestNoTemplate(t *testing.T) {
	_, err := Common{}.render("x")
	if err == nil || !strings.Contains(err.Error(), "or add --skip-chat-template") {
		t.Error(err)
	}
	if err := withoutSkip(err); strings.Contains(err.Error(), "--skip-chat-template") {
		t.Error(err)
	}
	if got, err := (Common{SkipTemplate: true}).render("x"); got != "x" || err != nil {
		t.Error(got, err)
	}
	_, err = HF{Name: "openai/gsm8k", Copy: Folder{fstest.MapFS{}}}.Build(t.Context())
	if err == nil || !strings.Contains(err.Error(), "needs a tokenizer") {
		t.Error(err)
	}
	_, err = Sonnet{Common: Common{Vocabulary: workload.Vocabulary{}}}.Build(t.Context(), strings.NewReader("a\n"))
	if err == nil || !strings.Contains(err.Error(), "needs a tokenizer") {
		t.Error(err)
	}
}
