package vllm

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

// reading are files that all hold the same.
func reading(file string) *workload.Source {
	return &workload.Source{Files: workload.Files{Open: func(string) (workload.Reader, error) {
		f, err := fstest.MapFS{"f": {Data: []byte(file)}}.Open("f")
		return f.(workload.Reader), err
	}}}
}

// What is wrong with a file is told with its line and column.
func TestMistakes(t *testing.T) {
	trace := &timedTrace{file: file[traceEntry]{Data: "f"}, Chunk: 4, Multiplier: 1, Timestamp: "t", InputLength: "i", OutputLength: "o", HashIDs: "h"}
	picture, sounds, burst := &CustomImage{file: file[imageLine]{Data: "f"}}, &CustomAudio{file: file[audioLine]{Data: "f"}}, &burstGPT{file: file[datasetLengths]{Data: "f"}}
	custom, always := &Custom{file: file[customLine]{Data: "f"}}, &Custom{file: file[customLine]{Data: "f"}, Output: 2}
	asked := func(category string) questions {
		return questions{file: file[customLine]{Data: "f"}, Category: category}
	}
	for _, c := range []struct {
		dataset workload.Dataset
		file    string
		want    string
	}{
		{picture, `{"prompt":"x"}`, "data f: line 1: must have prompt and image_files, or content"},
		{picture, `{"prompt":"x","image_files":[]}`, `column "image_files" is empty`},
		{picture, `{"prompt":3,"image_files":["a"]}`, `column "prompt" is the number 3: must be text`},
		{picture, `{"content":[]}`, `column "content" must be a list of at least one part`},
		{picture, "\n" + `{"content":[{"type":"text","text":"a"},{"type":"sound"}]}`, `line 2: part 2 of content: type "sound": must be text, image or image_url`},
		{picture, `{"content":[{"type":"image_url","image_url":{}}]}`, `an object with "url"`},
		{sounds, `{"prompt":"x","output_tokens":1}`, `column "audio" is missing`},
		{sounds, `{"prompt":"x","output_tokens":1,"audio":{"array":[1]}}`, `an object with array and sampling_rate`},
		{sounds, `{"prompt":"x","audio":"a.wav","output_tokens":"n"}`, `column "output_tokens" is "n": must be a whole number`},
		{&SpecBench{asked("")}, `{"turns":[]}`, `column "turns" is empty`},
		{&SpecBench{asked("x")}, `{"turns":["a"],"category":"y"}`, `no question of category "x"; there are y`},
		{&SpeedBench{questions: asked("")}, `{"messages":[{}]}`, `must begin with a message that has content`},
		{burst, "a,Model,Response tokens,d\n1,GPT-4,x,2\n", `line 2: column "Response tokens" is "x": must be a number`},
		{burst, "a,Model,b,Response tokens\n1,x,1,2\n", `no row with "GPT-4"`},
		{burst, "Timestamp,Model,Request tokens,Response tokens\n1,GPT-4,-3,2\n", `line 2: column "Request tokens" is -3: must be from 0 to 16777216 tokens`},
		{trace, `{"t":1,"i":1}`, `output_length o: line 1: column "o" is missing; there are t, i; name another`},
		{trace, `{"t":1,"i":1,"o":1,"h":[1.5]}`, `column "h" has 1.5: ids must be whole numbers or texts`},
		{trace, `{"t":1e300,"i":1,"o":1}`, `is 1e+300 seconds when it is multiplied by 1`},
		{&sonnet{file: file[string]{Data: "f"}}, "", "the file is empty"},
		{picture, "", "the file is empty"},
		{custom, `{"messages":[{}],"output_tokens":1}`, `column "prompt" is missing`},
		{custom, `{"prompt":[1],"output_tokens":1}`, `column "prompt" is a list: must be text`},
		{custom, `{"prompt":null,"output_tokens":1}`, `column "prompt" is null`},
		{custom, `{"prompt":"a"}`, `column "output_tokens" is missing, and no output length is given for all requests`},
		{custom, `{"prompt":"a","output_tokens":"n/a"}`, `column "output_tokens" is "n/a"`},
		{custom, `{"prompt":"a","output_tokens":"1.5"}`, `must be a whole number`},
		{custom, `{"prompt":"a","output_tokens":null}`, `must be a whole number`},
		{custom, `{"prompt":"a","output_tokens":-1}`, `not negative`},
		{always, `3`, `object`},
	} {
		if err := c.dataset.Read(t.Context(), reading(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.file, err, c.want)
		}
	}
}

// The output length of a line is what Python's int makes of it, and is not looked at
// where all requests have one.
func TestCustomOutputs(t *testing.T) {
	for _, c := range []struct {
		line   string
		output int
		want   int
	}{
		{`{"prompt":"a","timestamp":"noon","messages":3}`, 2, 2},
		{`{"prompt":"a","output_tokens":"n/a"}`, 2, 2},
		{`{"prompt":"a","output_tokens":"3"}`, 0, 3},
		{`{"prompt":"a","output_tokens":" 3 "}`, 0, 3},
		{`{"prompt":"a","output_tokens":2.9}`, 0, 2},
		{`{"prompt":"a","output_tokens":0}`, 0, 0},
	} {
		d := &Custom{file: file[customLine]{Data: "f"}, Output: c.output, Common: Common{SkipTemplate: true}}
		w, err := build(t, d, reading(c.line))
		if err != nil || w.Requests[0].OutputTokens != c.want || w.Requests[0].At != 0 {
			t.Errorf("%s: %v: %+v", c.line, err, w.Requests)
		}
	}
}

// Which files of a copy are taken follows its card, else their names.
func TestFilesOfACopy(t *testing.T) {
	list := func(names ...string) snapshot {
		files := fstest.MapFS{}
		for _, n := range names {
			name, data, _ := strings.Cut(n, "=")
			files[name] = &fstest.MapFile{Data: []byte(data)}
		}
		return snapshot{fs: files}
	}
	const card = "README.md=---\nconfigs:\n- config_name: a\n  data_files:\n  - split: train\n    path: a/*.jsonl\n- config_name: b\n  default: true\n  data_files: 'b/**'\n---\n"
	for _, c := range []struct {
		copy   snapshot
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
		{list("en/train.csv"), family{}, "fr", "", "subset fr: no folder of that name"},
		{list("en/train.csv"), family{}, "", "test", `split "test": no file is of that split by its name; there are en/train.csv`},
		{list("notes.txt"), family{}, "", "", "the copy has no file whose name ends in"},
		{list(card, "a/1.jsonl", "b/c/2.jsonl"), family{}, "a", "", "a/1.jsonl"},
		{list(card, "a/1.jsonl", "b/c/2.jsonl"), family{}, "", "", "b/c/2.jsonl"},
		{list(card, "a/1.jsonl"), family{}, "a", "test", `README.md has no files of the split "test" for the subset "a"`},
		{list("README.md=---\n\t{\n---\n", "x.csv"), family{}, "", "", "the head is not YAML: README.md"},
	} {
		files, err := (&HF{snapshot: c.copy, Subset: c.subset, Split: c.split}).dataFiles(c.family)
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
	none := &workload.Source{}
	_, err := new(Common).render(none, "x")
	if err == nil || !strings.Contains(err.Error(), "skip_template: the tokenizer has no chat template to render prompts with; name one that has, or send prompts as they are") {
		t.Error(err)
	}
	_, err = new(SpecBench).Build(t.Context(), none)
	if err == nil || strings.Contains(err.Error(), "skip_template") || !strings.Contains(err.Error(), "always rendered") {
		t.Error(err)
	}
	if got, err := (&Common{SkipTemplate: true}).render(none, "x"); got != "x" || err != nil {
		t.Error(got, err)
	}
	_, err = (&HF{Name: "openai/gsm8k", snapshot: snapshot{fs: fstest.MapFS{}}}).Build(t.Context(), none)
	if err == nil || !strings.Contains(err.Error(), "needs a tokenizer") {
		t.Error(err)
	}
	_, err = (&sonnet{file: file[string]{lines: []string{"a\n"}}}).Build(t.Context(), none)
	if err == nil || !strings.Contains(err.Error(), "needs a tokenizer") {
		t.Error(err)
	}
}
