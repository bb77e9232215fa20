package dataset

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

func number[T any](v T) *T { return &v }

// TestMistakesAreNamed holds what a user reads: the flag, the file, the line.
func TestMistakesAreNamed(t *testing.T) {
	talks := func(file *File) Talks { return Talks{File: file, Requests: 3} }
	image := Image{Requests: 1, Count: 1, Input: 5, Output: 5, Format: "jpeg", Resolution: "8x8", Backend: "sglang"}
	with := func(change func(*Image)) Image { d := image; change(&d); return d }
	for _, c := range []struct {
		name string
		d    Dataset
		want []string
	}{
		{"settings of random", Random{Requests: 0, Input: -1, Output: 4, Ratio: 1.5}, []string{"--num-prompts 0: must be at least 1", "--random-input-len -1: must be at least 0", "--random-range-ratio 1.5: must be within 0 and 1"}},
		{"no file", ShareGPT{talks(nil)}, []string{"sharegpt needs a file with --dataset-path"}},
		{"a short answer", ShareGPT{Talks{File: textFile("a.json", "[]"), Requests: 1, Output: number(3)}}, []string{"--sharegpt-output-len 3: must be at least 4"}},
		{"no list", ShareGPT{talks(textFile("a.json", `{"a":1}`))}, []string{"--dataset-path a.json: not a JSON list of conversations"}},
		{"an empty file", ShareGPT{talks(textFile("a.json", ""))}, []string{"--dataset-path a.json: the file is empty"}},
		{"cut off", ShareGPT{talks(textFile("a.json", `[{"conversations":[]},{"conv`))}, []string{"--dataset-path a.json: conversation 2, at byte", "unexpected EOF"}},
		{"a number for a text", ShareGPT{talks(textFile("a.json", `[{"conversations":[{"value":"a"},{"value":5}]}]`))}, []string{`a.json: conversation 1`, `turn 2: field "value" is not a text`}},
		{"no text", ShareGPT{talks(textFile("a.json", `[{"conversations":[{},{"value":"b"}]}]`))}, []string{`turn 1: no field "value"`}},
		{"one turn", ShareGPT{talks(textFile("a.json", `[{"conversations":[{"value":"a"}]}]`))}, []string{"a.json: no conversation of two turns among 1"}},
		{"too long", ShareGPT{Talks{File: open(t, "talks.json"), Requests: 3, Context: number(2)}}, []string{"talks.json: none of", "at least 2 tokens each, at most 2 together"}},
		{"no list of turns", Custom{talks(textFile("c.jsonl", `{"conversation":"hi"}`))}, []string{`c.jsonl: line 1: field "conversation" is not a list`}},
		{"no turn", Custom{talks(textFile("c.jsonl", `{"conversation":["hi","ho"]}`))}, []string{"line 1: turn 1: not a JSON object"}},
		{"random, one turn", Random{Requests: 1, Input: 5, Output: 5, File: textFile("a.json", `[]`)}, []string{"a.json: no conversation of two turns among 0"}},
		{"a list for an object", Custom{talks(textFile("c.jsonl", "\n[1]\n"))}, []string{"--dataset-path c.jsonl: line 2: not a JSON object"}},
		{"empty", Custom{talks(textFile("c.jsonl", "\n\n"))}, []string{"c.jsonl: no conversation of two turns among 0 lines"}},
		{"messages of text", OpenAI{File: textFile("o.jsonl", `{"messages":"hi"}`)}, []string{`o.jsonl: line 1: field "messages": not a list of messages: it is a JSON string`}},
		{"no role", OpenAI{File: textFile("o.jsonl", `{"messages":[{"content":"hi"}]}`)}, []string{"line 1", "message 1 has no role"}},
		{"half a token", OpenAI{File: textFile("o.jsonl", `{"messages":[{"role":"user","content":"hi"}],"max_tokens":1.5}`)}, []string{`line 1: field "max_tokens": 1.5 is not a whole number of tokens`}},
		{"no messages", OpenAI{File: textFile("o.jsonl", `{}`)}, []string{`o.jsonl: no line has "messages"`}},
		{"groups", SharedPrefix{Groups: 0, PerGroup: 1, Turns: 2, AsIDs: true, Zipf: number(math.Inf(1))}, []string{"--gsp-num-groups 0", "--gsp-zipf-alpha +Inf: must be finite", "--tokenize-prompt", "--gsp-num-turns 1, not 2"}},
		{"resolution", with(func(d *Image) { d.Resolution = "8" }), []string{"--image-resolution 8: must be 4k, 1080p, 720p, 360p or HEIGHTxWIDTH"}},
		{"bounds", with(func(d *Image) { d.Resolution = "random:9x9-8x10" }), []string{"the first bound is above the second"}},
		{"one bound", with(func(d *Image) { d.Resolution = "random:9x9" }), []string{"bounds are random:HxW-HxW"}},
		{"too wide", with(func(d *Image) { d.Resolution = "1x70000" }), []string{"a JPEG has at most 65535 pixels each way"}},
		{"format", with(func(d *Image) { d.Format = "webp" }), []string{`--image-format "webp": must be jpeg or png`}},
		{"backend", with(func(d *Image) { d.Backend = "sglang-oai" }), []string{"--backend sglang-oai cannot send pictures: take one of sglang, sglang-native, sglang-oai-chat"}},
		{"no time", Mooncake{File: textFile("m.jsonl", `{"hash_ids":[1]}`), Requests: 1, Rounds: 1}, []string{`m.jsonl: line 1: field "timestamp" is missing`}},
		{"hashes", Mooncake{File: textFile("m.jsonl", `{"timestamp":1,"hash_ids":[[1]]}`), Requests: 1, Rounds: 1}, []string{`field "hash_ids": [1] is neither a text nor a number`}},
		{"rounds", Mooncake{Requests: 1, Slowdown: -1}, []string{"--mooncake-num-rounds 0", "--mooncake-slowdown-factor -1"}},
		{"no conversations", Agentic{File: textFile("a.json", `{"metadata":1}`)}, []string{`a.json: no "conversations" in it`}},
		{"no content", Agentic{File: textFile("a.json", `{"conversations":[[{"messages":[{"role":"user"}]}]]}`)}, []string{"a.json: conversation 1: turn 1: message 1 needs role and content"}},
		{"no column", LongBench{File: textFile("l.jsonl", `{"context":"x","question":"y"}`), Requests: 1}, []string{"--dataset-path l.jsonl: line 1", `"choice_A" is missing`}},
		{"no answer fits", LongBench{File: open(t, "longbench.jsonl"), Requests: 1, Context: number(1)}, []string{"longbench.jsonl: none of 16 prompts", "--sharegpt-context-len"}},
		{"category", SpeedBench{File: open(t, "speed.jsonl"), Requests: 1, Category: "none"}, []string{"speed.jsonl: none of 30 lines has turns and --speed-bench-category none"}},
		{"turns", SpeedBench{File: textFile("s.jsonl", `{"turns":[1]}`), Requests: 1}, []string{`s.jsonl: line 1: field "turns": the first is not a text`}},
		{"no picture", MMMU{Files: []*File{textFile("m.jsonl", `{"question":"q","image_1":{"bytes":"aGk="}}`)}, Requests: 1, Backend: "sglang"}, []string{"m.jsonl: line 1", `"image_1" holds no picture that can be read`}},
		{"all without", MMMU{Files: []*File{textFile("m.jsonl", `{"question":"q"}`)}, Requests: 1, Backend: "sglang"}, []string{"no row has a picture in column image_1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tok, v := loadTokenizer(t, "gpt2")
			_, err := c.d.Build(t.Context(), NewSource(1, tok, v))
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
	prefix := SharedPrefix{Groups: 2, PerGroup: 2, System: 4, Question: 3, Output: 5, Ratio: 1, Turns: 1}
	for _, c := range []struct {
		name string
		d    Dataset
		v    workload.Vocabulary
		want string // the error, or part of a note
	}{
		{"random", Random{Requests: 2, Input: 5, Output: 5, Ratio: 1, File: open(t, "talks.json")}, size, "ShareGPT's words need a tokenizer"},
		{"random without a size", Random{Requests: 2, Input: 5, Output: 5, IDs: true}, workload.Vocabulary{}, "its size is not known: name a tokenizer by --tokenizer"},
		{"prefixes", prefix, size, "prompts are token ids"},
		{"speed-bench", SpeedBench{File: open(t, "speed.jsonl"), Requests: 2}, size, "their lengths are not known"},
		{"longbench", LongBench{File: open(t, "longbench.jsonl"), Requests: 2}, size, "prompt lengths are not known"},
		{"openai", OpenAI{File: open(t, "openai.jsonl"), Requests: 2}, size, "prompt lengths are not known"},
		{"mooncake", Mooncake{File: open(t, "mooncake.jsonl"), Requests: 2, Rounds: 1, Slowdown: 1}, size, "prompt lengths are not known"},
		{"longbench within a context", LongBench{File: open(t, "longbench.jsonl"), Requests: 2, Context: number(500)}, size, "--sharegpt-context-len: no tokenizer to be had"},
		{"sharegpt", ShareGPT{Talks{File: open(t, "talks.json"), Requests: 2}}, size, "sharegpt takes conversations by their length: no tokenizer to be had"},
		{"chat template", Custom{Talks{File: open(t, "custom.jsonl"), Requests: 2, ChatTemplate: true}}, size, "--apply-chat-template: the tokenizer has no chat template"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := c.d.Build(t.Context(), NewSource(1, nil, c.v))
			said := strings.Join(b.Notes, "\n")
			if err != nil {
				said = err.Error()
			}
			if !strings.Contains(said, c.want) {
				t.Errorf("%q has no %q", said, c.want)
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
	d := Random{Requests: 12, Input: 300, Output: 40}
	without := NewSource(3, tok, v)
	a, err := d.Build(t.Context(), without)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "no ShareGPT file") {
		t.Errorf("notes %q", a.Notes)
	}
	d.File = open(t, "talks.json")
	with := NewSource(3, tok, v)
	b, err := d.Build(t.Context(), with)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Requests {
		one, two := a.Requests[i], b.Requests[i]
		if one.PromptTokens != two.PromptTokens || one.OutputTokens != two.OutputTokens || one.Text == two.Text {
			t.Errorf("request %d: %d and %d tokens, with the file %d and %d", i, one.PromptTokens, one.OutputTokens, two.PromptTokens, two.OutputTokens)
		}
	}
	if x, y := without.Numpy.Exponential(1), with.Numpy.Exponential(1); x != y {
		t.Errorf("the next gap is %v, with the file %v", x, y)
	}
}

// TestTheNotesLengths are the lines that the note on DeepSeek-R1 has, of 1536 prompts.
func TestTheNotesLengths(t *testing.T) {
	s := NewSource(1, nil, workload.Vocabulary{Size: 129280})
	s.Form = January
	b, err := Random{Requests: 1536, Input: 3500, Output: 1500, Ratio: 1}.Build(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"#Input tokens: 5376000", "#Output tokens: 2304000"}, b.Lines); diff != "" {
		t.Error(diff)
	}
}

// TestLengthsAreNumpys are lengths of numpy.random.seed(42), then its next exponential.
func TestLengthsAreNumpys(t *testing.T) {
	s := NewSource(42, nil, workload.Vocabulary{})
	if got, want := fmt.Sprint(s.lengths(1024, 0, 6), s.lengths(1024, 0, 6)), "[103 436 861 271 107 72] [701 21 615 122 467 215]"; got != want {
		t.Errorf("lengths %s, want %s", got, want)
	}
	s = NewSource(1, nil, workload.Vocabulary{})
	if got, want := fmt.Sprint(s.lengths(1000, 0.5, 6), s.lengths(0, 0.5, 2)), "[537 735 896 572 755 893] [0 0]"; got != want {
		t.Errorf("lengths %s, want %s", got, want)
	}
}

func TestMooncakeTimes(t *testing.T) {
	file := textFile("m.jsonl", `{"timestamp":3000,"hash_ids":[7]}
{"timestamp":1000,"hash_ids":["a"],"output_length":2}`)
	s := NewSource(1, nil, workload.Vocabulary{})
	b, err := Mooncake{File: file, Requests: 5, Rounds: 2, Slowdown: 1.5}.Build(t.Context(), s)
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
	if !strings.HasPrefix(b.Warmup.Text, "7hi hi") || b.Warmup.OutputTokens != 32 {
		t.Errorf("warm-up %.20q of %d", b.Warmup.Text, b.Warmup.OutputTokens)
	}
}

// TestDumps holds json.dumps(json.loads(x)) of CPython 3.12.
func TestDumps(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":1,"b":[true,null,"x"],"c":{}}`: `{"a": 1, "b": [true, null, "x"], "c": {}}`,
		`[1.50,1e3,-0,-0.0,1E400,1e16,1e-5]`: `[1.5, 1000.0, 0, -0.0, Infinity, 1e+16, 1e-05]`,
		`"é😀\u007f\u2028</\/\"\\\n"`:         `"\u00e9\ud83d\ude00\u007f\u2028<//\"\\\n"`,
		`0.0001`:                             `0.0001`,
		`123456789012345678901234567890`:     `123456789012345678901234567890`,
	} {
		got, err := dumps(json.RawMessage(raw))
		if err != nil || got != want {
			t.Errorf("dumps(%s) = %s, %v, want %s", raw, got, err, want)
		}
	}
}

func FuzzConversations(f *testing.F) {
	f.Add(`[{"conversations":[{"value":"a"},{"value":"b"}]}]`)
	f.Add(`{"conversation":[{"content":"a"},{}]}` + "\n{")
	f.Fuzz(func(t *testing.T, content string) {
		talks, err := readShareGPT(textFile("f", content), true)
		if err == nil && len(talks) == 0 {
			t.Error("neither conversations nor an error")
		}
		talks, _, err = readCustom(textFile("f", content))
		if err == nil && len(talks) == 0 {
			t.Error("neither conversations nor an error")
		}
	})
}

func FuzzDumps(f *testing.F) {
	f.Add(`{"a":[1,2.5,"x"]}`)
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) {
			return
		}
		once, err := dumps(json.RawMessage(raw))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(once, "Infinity") { // Python's, but not JSON
			return
		}
		if twice, err := dumps(json.RawMessage(once)); err != nil || twice != once {
			t.Errorf("%q becomes %q, %v", once, twice, err)
		}
	})
}
