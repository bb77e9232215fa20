package traffic

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// datasetOf decodes a dataset from what a file says of it, and has it checked.
func datasetOf(t *testing.T, text string, ask workload.Ask) (workload.Dataset, error) {
	t.Helper()
	doc, err := plan.Parse("dataset.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var thing plan.Typed
	if p := thing.DecodeNode(doc.Root); p != nil {
		t.Fatal(p)
	}
	d := Datasets()[thing.Kind].New()
	if thing.Settings != nil {
		if p := plan.DecodeJSON(thing.Settings, d); p != nil {
			return d, p
		}
	}
	return d, d.Check(&workload.Source{Requests: 10, Ask: ask}).Err()
}

var (
	completions   = workload.Ask{Protocol: "completions"}
	chats         = workload.Ask{Protocol: "chat", Text: true, Messages: true, Media: true}
	embeddings    = workload.Ask{Protocol: "embeddings", Silent: true, Media: true}
	reranking     = workload.Ask{Protocol: "rerank", Text: true, Silent: true}
	transcription = workload.Ask{Protocol: "transcription"}
)

func TestDatasetsThatCannotBe(t *testing.T) {
	for _, tt := range []struct {
		text string
		ask  workload.Ask
		path string
		why  string
	}{
		{"{kind: random, input_len: 0}", completions, "input_len", "allows an empty prompt"},
		{"{kind: random, output_len: 0}", completions, "output_len", "must be at least 1"},
		{"{kind: random, input_range: 1}", completions, "input_range", "less than 1"},
		{
			"{kind: random, input_len: \"uniform(1,9)\", input_range: 0.5}", completions, "input_range",
			"length that is a number",
		},
		{"{kind: random, lengths: f, output_range: 0.5}", completions, "lengths", "differ already"},
		{"{kind: random, fit: 100, input_range: 0.5}", completions, "fit", "needs distributions"},
		{"{kind: random, fit: 20, prefix_len: 19}", completions, "fit", "room for a prompt and an answer"},
		{"{kind: random, texts: 3}", completions, "texts", "embeddings, pooling and rerank"},
		{"{kind: random}", transcription, "", "audio is needed"},
		{"{kind: random, data: f}", completions, "data", "unknown field"},
		{"{kind: random-mm}", completions, "", "images need the protocol"},
		{"{kind: random-mm, image_sizes: large}", chats, "image_sizes", ""},
		{"{kind: random-mm, image_range: 2}", chats, "image_range", "between 0 and 1"},
		{"{kind: chat, conversations: -1}", chats, "conversations", "negative"},
		{"{kind: chat, think: soon}", chats, "think", ""},
		{"{kind: agent, input_len: 0}", chats, "input_len", "at least 1"},
		{"{kind: chat}", embeddings, "", "a conversation goes on from answers"},
		{"{kind: sharegpt}", chats, "data", "a file is needed"},
		{"{kind: sharegpt, data: f}", reranking, "", "needs a query with documents"},
		{"{kind: custom, data: f, output_len: -1}", completions, "output_len", "negative"},
		{"{kind: trace, data: f, trace_format: csv}", completions, "trace_format", "unknown name"},
		{"{kind: trace, data: f, slice: 5m}", completions, "slice", ""},
		{"{kind: trace, data: f, sample: 2}", completions, "sample", "between 0 and 1"},
		{"{kind: trace, data: f, block_len: -1}", completions, "block_len", "at least 1"},
		{"{kind: conversations, data: f, history: old}", chats, "history", "unknown name"},
	} {
		_, err := datasetOf(t, tt.text, tt.ask)
		var p plan.Problems
		if !errors.As(err, &p) || p[0].Path != tt.path || !strings.Contains(p[0].Why, tt.why) {
			t.Errorf("%s for %s: %v, want %s: %s", tt.text, tt.ask.Protocol, err, tt.path, tt.why)
		}
	}
}

// What a dataset says of itself names what tells it from others.
func TestDatasetsSayWhatTheySend(t *testing.T) {
	for _, tt := range []struct {
		text string
		ask  workload.Ask
		want string
	}{
		{"kind: random", completions, "random 256→64 tokens"},
		{
			"{kind: random, input_len: 100, input_range: 0.5, prefix_len: 20}", completions,
			"random 100±50 %→64 tokens, prefix 20",
		},
		{"{kind: random, input_len: \"uniform(5,9)\", output_len: 7}", completions, "random uniform(5,9)→7 tokens"},
		{"{kind: random, texts: 4}", embeddings, "random 4 × 256 tokens"},
		{"{kind: random, texts: 4}", reranking, "random query and 4 × 256 tokens"},
		{"{kind: random-mm, images: 2}", chats, "random-mm 256→64 tokens, 2 images of 256x256=0.5,1280x720=0.5"},
		{"{kind: chat, turns: 3, think: 2s}", chats, "chat 256, then 64→64 tokens, 3 turns, think 2s"},
		{"{kind: custom, data: a.jsonl}", completions, "custom a.jsonl"},
	} {
		d, err := datasetOf(t, tt.text, tt.ask)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := words.In(words.Default).Say(d.Describe()); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// Two builds of the same seed are the same, and those of two seeds are not.
func TestRandomPromptsComeBack(t *testing.T) {
	for _, text := range []string{
		"kind: random", "{kind: random, input_len: \"uniform(5,300)\", prefix_len: 4}", "{kind: random, input_range: 0.5}",
	} {
		build := func(seed uint64) string {
			d, err := datasetOf(t, text, completions)
			if err != nil {
				t.Fatal(err)
			}
			w, err := d.Build(context.Background(), &workload.Source{
				Requests: 8, Ask: completions, Seed: seed, Vocab: workload.Vocabulary{Size: 1000},
			})
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for i := range w.Requests {
				fmt.Fprintln(&all, w.Requests[i].Tokens, w.Requests[i].OutputTokens)
			}
			return all.String()
		}
		if one := build(1); one != build(1) || one == build(2) || len(one) < 8*5*2 {
			t.Errorf("%s: builds of one seed differ, or those of two do not:\n%.200s", text, one)
		}
	}
}
