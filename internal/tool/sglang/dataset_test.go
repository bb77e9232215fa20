package sglang

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

func number[T any](v T) *T { return &v }

// TestMistakesAreNamed holds what a user reads: the setting, the file, the line.
func TestMistakesAreNamed(t *testing.T) {
	in := data{Data: "f"}
	image := noise{lengths: lengths{5, 5, 0}, Count: 1, Format: "jpeg", Resolution: "8x8", carrier: carrier{"sglang"}}
	with := func(change func(*noise)) *noise { d := image; change(&d); return &d }
	for _, c := range []struct {
		name string
		d    workload.Dataset
		file string // f
		want []string
	}{
		{"settings of random", &random{lengths: lengths{-1, 4, 1.5}}, "", []string{"input_len -1: must not be negative", "range_ratio 1.5: must be between 0 and 1"}},
		{"version", &datasetOpenAI{common: common{"2025"}}, "", []string{`version "2025": unknown name; allowed: main, 2026-01`}},
		{"no file", new(talks), "", []string{"data: a file is needed; name ShareGPT_V3"}},
		{"a file that is not there", &talks{data: data{Data: "none"}}, "", []string{"data none: no such file or directory"}},
		{"a short answer", &talks{data: in, Output: number(3)}, "[]", []string{"output_len 3: must be at least 4"}},
		{"no list", &talks{data: in}, `{"a":1}`, []string{"data f: not a JSON list of conversations"}},
		{"an empty file", &talks{data: in}, "", []string{"data f: the file is empty"}},
		{"cut off", &talks{data: in}, `[{"conversations":[]},{"conv`, []string{"data f: conversation 2, at byte", "unexpected EOF"}},
		{"a number for a text", &talks{data: in}, `[{"conversations":[{"value":"a"},{"value":5}]}]`, []string{`f: conversation 1`, `turn 2: field "value" is not a text`}},
		{"no text", &talks{data: in}, `[{"conversations":[{},{"value":"b"}]}]`, []string{`turn 1: no field "value"`}},
		{"one turn", &talks{data: in}, `[{"conversations":[{"value":"a"}]}]`, []string{"f: no conversation of two turns among 1"}},
		{"too long", &talks{data: data{Data: "talks.json"}, Context: number(2)}, "", []string{"talks.json: none of", "at least 2 tokens each, at most 2 together"}},
		{"no list of turns", &talks{data: in, lines: true}, `{"conversation":"hi"}`, []string{`f: line 1: field "conversation" is not a list`}},
		{"no turn", &talks{data: in, lines: true}, `{"conversation":["hi","ho"]}`, []string{"line 1: turn 1: not a JSON object"}},
		{"random, one turn", &random{lengths: lengths{5, 5, 0}, data: in}, `[]`, []string{"f: no conversation of two turns among 0"}},
		{"a list for an object", &talks{data: in, lines: true}, "\n[1]\n", []string{"data f: line 2: not a JSON object"}},
		{"empty", &talks{data: in, lines: true}, "\n\n", []string{"f: no conversation of two turns among 0 lines"}},
		{"messages of text", &datasetOpenAI{data: in}, `{"messages":"hi"}`, []string{`f: line 1: field "messages": not a list of messages: it is a JSON string`}},
		{"no role", &datasetOpenAI{data: in}, `{"messages":[{"content":"hi"}]}`, []string{"line 1", "message 1 has no role"}},
		{"half a token", &datasetOpenAI{data: in}, `{"messages":[{"role":"user","content":"hi"}],"max_tokens":1.5}`, []string{`line 1: field "max_tokens": 1.5 is not a whole number of tokens`}},
		{"no messages", &datasetOpenAI{data: in}, `{}`, []string{`f: no line has "messages"`}},
		{"groups", &sharedPrefix{PerGroup: 1, Turns: 2, AsIDs: true, Zipf: number(math.Inf(1))}, "", []string{"groups 0: must be at least 1", "zipf_alpha +Inf: must be finite", "turns 2: turns are texts"}},
		{"resolution", with(func(d *noise) { d.Resolution = "8" }), "", []string{"resolution 8: must be 4k, 1080p, 720p, 360p or HEIGHTxWIDTH"}},
		{"bounds", with(func(d *noise) { d.Resolution = "random:9x9-8x10" }), "", []string{"the first bound is above the second"}},
		{"one bound", with(func(d *noise) { d.Resolution = "random:9x9" }), "", []string{"bounds are random:HxW-HxW"}},
		{"too wide", with(func(d *noise) { d.Resolution = "1x70000" }), "", []string{"a JPEG has at most 65535 pixels each way"}},
		{"format", with(func(d *noise) { d.Format = "webp" }), "", []string{`format "webp": must be jpeg or png`}},
		{"backend", with(func(d *noise) { d.Backend = "sglang-oai" }), "", []string{"backend sglang-oai: cannot send pictures; take one of sglang, sglang-native, sglang-oai-chat"}},
		{"no time", &mooncake{data: in, Rounds: 1}, `{"hash_ids":[1]}`, []string{`f: line 1: field "timestamp" is missing`}},
		{"hashes", &mooncake{data: in, Rounds: 1}, `{"timestamp":1,"hash_ids":[[1]]}`, []string{`field "hash_ids": [1] is neither a text nor a number`}},
		{"rounds", &mooncake{Slowdown: -1}, "", []string{"rounds 0", "slowdown -1"}},
		{"no conversations", &agentic{data: in}, `{"metadata":1}`, []string{`f: no "conversations" in it`}},
		{"no content", &agentic{data: in}, `{"conversations":[[{"messages":[{"role":"user"}]}]]}`, []string{"f: conversation 1: turn 1: message 1 needs role and content"}},
		{"no column", &longBench{data: data{Data: "f.jsonl"}}, `{"context":"x","question":"y"}`, []string{"data f.jsonl: line 1", `"choice_A" is missing`}},
		{"no answer fits", &longBench{data: data{Data: "longbench.jsonl"}, Context: number(1)}, "", []string{"context_len 1: none of 16 prompts"}},
		{"category", &speedBench{data: data{Data: "speed.jsonl"}, Category: "none"}, "", []string{"category none: none of 30 lines of speed.jsonl"}},
		{"turns", &speedBench{data: in}, `{"turns":[1]}`, []string{`f: line 1: field "turns": the first is not a text`}},
		{"no picture", &mmmu{data: data{Data: "f.jsonl"}}, `{"question":"q","image_1":{"bytes":"aGk="}}`, []string{"f.jsonl: line 1", `"image_1" holds no picture that can be read`}},
		{"all without", &mmmu{data: data{Data: "f.jsonl"}}, `{"question":"q"}`, []string{"no row has a picture in column image_1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tok, v := loadTokenizer(t, "gpt2")
			s := &workload.Source{
				Requests: 3, Seed: 1, Tokens: tok, Vocab: v, Files: files{"f": c.file, "f.jsonl": c.file}.from(), Ask: workload.Ask{Protocol: "generate"},
			}
			_, err := build(t, c.d, s)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nhas no %q", err, want)
				}
			}
		})
	}
}

// TestWithoutATokenizer: what can be sent is sent, as token ids or uncounted; the rest
// names what is missing.
func TestWithoutATokenizer(t *testing.T) {
	size := workload.Vocabulary{Size: 900}
	prefix := sharedPrefix{Groups: 2, PerGroup: 2, System: 4, Question: 3, Output: 5, Ratio: 1, Turns: 1}
	turns := prefix
	turns.Turns = 2
	for _, c := range []struct {
		name string
		d    workload.Dataset
		v    workload.Vocabulary
		want string // the error, or the code of a note
	}{
		{"random", &random{lengths: lengths{5, 5, 1}, data: data{Data: "talks.json"}}, size, "sglang.unread-sharegpt"},
		{"random without a size", &random{lengths: lengths{5, 5, 0}, ids: true}, workload.Vocabulary{}, "its size is not known; name a tokenizer"},
		{"prefixes", &prefix, size, "sglang.ids-for-text"},
		{"speed-bench", &speedBench{data: data{Data: "speed.jsonl"}}, size, "sglang.uncounted"},
		{"longbench", &longBench{data: data{Data: "longbench.jsonl"}}, size, "sglang.uncounted"},
		{"openai", &datasetOpenAI{data: data{Data: "openai.jsonl"}}, size, "sglang.uncounted-chats"},
		{"mooncake", &mooncake{data: data{Data: "mooncake.jsonl"}, Rounds: 1, Slowdown: 1}, size, "sglang.uncounted"},
		{"longbench within a context", &longBench{data: data{Data: "longbench.jsonl"}, Context: number(500)}, size, "held against context_len, and there is no tokenizer"},
		{"turns", &turns, size, "the turns of a conversation are texts, and there is no tokenizer"},
		{"sharegpt", &talks{data: data{Data: "talks.json"}}, size, "conversations are taken by their length, and there is no tokenizer"},
		{"chat template", &talks{data: data{Data: "custom.jsonl"}, lines: true, ChatTemplate: true}, size, "chat_template: the tokenizer has no chat template"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := build(t, c.d, &workload.Source{Requests: 2, Seed: 1, Vocab: c.v, Files: files{}.from()})
			text := fmt.Sprint(b.Notes)
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, c.want) {
				t.Errorf("%q has no %q", text, c.want)
			}
			for i, r := range b.Requests {
				if r.Text == "" && r.Tokens == nil && r.Messages == nil {
					t.Errorf("request %d is empty", i)
				}
			}
		})
	}
}

// TestRandomWithoutShareGPT: the lengths, and when requests are sent, are the same with
// the file and without.
func TestRandomWithoutShareGPT(t *testing.T) {
	tok, v := loadTokenizer(t, "llama3")
	made := func(file string) workload.Workload {
		d := &random{lengths: lengths{300, 40, 0}, data: data{Data: file}}
		w, err := build(t, d, &workload.Source{Requests: 12, Seed: 3, Tokens: tok, Vocab: v, Files: files{}.from()})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	a, b := made(""), made("talks.json")
	if diff := cmp.Diff([]plan.Message{plan.Msg(noShareGPT)}, a.Notes); diff != "" {
		t.Error(diff)
	}
	for i := range a.Requests {
		one, two := a.Requests[i], b.Requests[i]
		if one.PromptTokens != two.PromptTokens || one.OutputTokens != two.OutputTokens || one.Text == two.Text {
			t.Errorf("request %d: %d and %d tokens, with the file %d and %d", i, one.PromptTokens, one.OutputTokens, two.PromptTokens, two.OutputTokens)
		}
	}
	if x, y := a.Numpy.Exponential(1), b.Numpy.Exponential(1); x != y {
		t.Errorf("the next gap is %v, with the file %v", x, y)
	}
}

// TestUsualFiles holds where a file is looked for that is not named: among the temporary
// ones, else in a dataset of the hub.
func TestUsualFiles(t *testing.T) {
	const talks = `[{"conversations":[{"value":"kept here"},{"value":"b"}]}]`
	s := &workload.Source{Files: files{"none/" + shareGPT: talks}.from()}
	d := new(random)
	if err := d.Read(t.Context(), s); err != nil || len(d.turns) != 1 {
		t.Error(d.turns, err)
	}
	hub := fstest.MapFS{"Math/test-1.parquet": {}, "Math/test-0.parquet": {}, "Math/train-0.parquet": {}}
	s.Files.Repository = func(_ context.Context, name string) (fs.FS, string, error) {
		if name != "MMMU/MMMU" {
			return nil, "", fs.ErrNotExist
		}
		return hub, "", nil
	}
	err := new(mmmu).Read(t.Context(), s)
	if err == nil || !strings.Contains(err.Error(), "data Math/test-0.parquet") {
		t.Error(err)
	}
	s.Files.Folder = func(string) fs.FS { return fstest.MapFS{"notes.txt": {}} }
	if err := (&mmmu{data: data{Data: "dir"}}).Read(t.Context(), s); err == nil || !strings.Contains(err.Error(), "data dir: a folder without Parquet or JSON files") {
		t.Error(err)
	}
	if err := new(longBench).Read(t.Context(), s); err == nil || !strings.Contains(err.Error(), "data: a file is needed; name one of Parquet or JSON Lines") {
		t.Error(err)
	}
}

// TestPicturesGoAsTheProtocolHasThem: in a field of their own, or not at all; spooled ones
// too, and those to warm up with.
func TestPicturesGoAsTheProtocolHasThem(t *testing.T) {
	tok, v := loadTokenizer(t, "gpt2")
	file, err := os.Create(t.TempDir() + "/prompts")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, spool := range []*workload.Spool{nil, workload.NewSpool(file, 0)} {
		for protocol, want := range map[string]string{"completions": `{"image_data":["data:image/png;base64,`, "trt": `null`, "generate": `null`} {
			d := Kinds()["sglang.image"].New().(*noise)
			d.Version, d.Format, d.Resolution, d.Input = January, "png", "2x2", 3
			s := &workload.Source{Requests: 2, Seed: 1, Tokens: tok, Vocab: v, Spool: spool, Ask: workload.Ask{Protocol: protocol}}
			w, err := build(t, d, s)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range []workload.Request{w.Requests[1], w.Warmup[0]} {
				whole, err := r.Unspooled()
				if err != nil {
					t.Fatal(err)
				}
				extra, err := json.Marshal(whole.Extra)
				if err != nil || !strings.HasPrefix(string(extra), want) || len(r.Media) != len(whole.Media) || (len(whole.Media) == 1) != (protocol == "generate") || whole.Text == "" {
					t.Errorf("%s: %s, %d pictures, %d before; %v", protocol, extra, len(whole.Media), len(r.Media), err)
				}
			}
		}
	}
}

// TestTheNotesLengths are the lines that the note on DeepSeek-R1 has, of 1536 prompts.
func TestTheNotesLengths(t *testing.T) {
	d := &random{common: common{January}, lengths: lengths{3500, 1500, 1}}
	b, err := build(t, d, &workload.Source{Requests: 1536, Seed: 1, Vocab: workload.Vocabulary{Size: 129280}, Files: files{}.from()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"#Input tokens: 5376000", "#Output tokens: 2304000"}, b.Lines); diff != "" {
		t.Error(diff)
	}
}

// TestLengthsAreNumpys are lengths of numpy.random.seed(42), then its next exponential.
func TestLengthsAreNumpys(t *testing.T) {
	s := new(common).source(&workload.Source{Seed: 42})
	if got, want := fmt.Sprint(s.lengths(1024, 0, 6), s.lengths(1024, 0, 6)), "[103 436 861 271 107 72] [701 21 615 122 467 215]"; got != want {
		t.Errorf("lengths %s, want %s", got, want)
	}
	s = new(common).source(&workload.Source{Seed: 1})
	if got, want := fmt.Sprint(s.lengths(1000, 0.5, 6), s.lengths(0, 0.5, 2)), "[537 735 896 572 755 893] [0 0]"; got != want {
		t.Errorf("lengths %s, want %s", got, want)
	}
}

// Times that cannot be milliseconds are told.
func TestTimesThatAreSeconds(t *testing.T) {
	for lines, want := range map[string]bool{
		`{"timestamp":0.5,"hash_ids":[7]}|{"timestamp":1.5,"hash_ids":[8]}`:                                                                                             true,
		`{"timestamp":0,"hash_ids":[7]}|{"timestamp":90,"hash_ids":[8]}`:                                                                                                true,
		`{"timestamp":0,"hash_ids":[7]}|{"timestamp":3000,"hash_ids":[8]}`:                                                                                              false,
		`{"timestamp":0,"hash_ids":[7]}|{"timestamp":0,"hash_ids":[8]}|{"timestamp":0,"hash_ids":[8]}|{"timestamp":0,"hash_ids":[8]}|{"timestamp":3000,"hash_ids":[8]}`: false, // of which four are read
	} {
		d := &mooncake{data: data{Data: "m.jsonl"}, Rounds: 1, Slowdown: 1}
		w, err := build(t, d, &workload.Source{Requests: 4, Files: files{"m.jsonl": strings.ReplaceAll(lines, "|", "\n")}.from()})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(w.Notes, func(n plan.Message) bool { return n.Code == milliseconds }); got != want {
			t.Errorf("%s: %v", lines, w.Notes)
		}
	}
}

func TestMooncakeTimes(t *testing.T) {
	lines := files{"m.jsonl": `{"timestamp":3000,"hash_ids":[7]}
{"timestamp":1000,"hash_ids":["a"],"output_length":2}`}
	d := &mooncake{data: data{Data: "m.jsonl"}, Rounds: 2, Slowdown: 1.5}
	b, err := build(t, d, &workload.Source{Requests: 5, Seed: 1, Files: lines.from()})
	if err != nil {
		t.Fatal(err)
	}
	var at []time.Duration
	for _, r := range b.Requests {
		at = append(at, r.At)
	}
	if diff := cmp.Diff([]time.Duration{0, 0, 3 * time.Second, 3 * time.Second}, at); diff != "" {
		t.Error(diff)
	}
	hi := strings.TrimSpace(strings.Repeat("hi ", 128))
	want := "user: Round 1: a" + hi + "Tell me a story based on this context.\nassistant: story story\nuser: Round 2: a" + hi + "Tell me a story based on this context."
	if got := b.Requests[1].Text; got != want {
		t.Errorf("second round %q", got)
	}
	if want := "Starting Mooncake trace replay. Sessions: 2, Rounds per session: 2. Slowdown factor: 1.5"; b.Start[1] != want {
		t.Errorf("%q, want %q", b.Start[1], want)
	}
	if warm := b.Warmup[0]; !strings.HasPrefix(warm.Text, "7hi hi") || warm.OutputTokens != 32 {
		t.Errorf("warm-up %.20q of %d", warm.Text, warm.OutputTokens)
	}
}

// textFile is a file of that content.
func textFile(content string) *file {
	r, _ := files{"f": content}.from().Open("f") // it is there
	return &file{"f", r}
}

func FuzzConversations(f *testing.F) {
	f.Add(`[{"conversations":[{"value":"a"},{"value":"b"}]}]`)
	f.Add(`{"conversation":[{"content":"a"},{}]}` + "\n{")
	f.Fuzz(func(t *testing.T, content string) {
		talks, err := readShareGPT(textFile(content), true)
		if err == nil && len(talks) == 0 {
			t.Error("neither conversations nor an error")
		}
		talks, _, err = readCustom(textFile(content))
		if err == nil && len(talks) == 0 {
			t.Error("neither conversations nor an error")
		}
	})
}
