package inputs

import (
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

func content(t *testing.T, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// loads are runs, with the files that the controller has of them. Inputs is how many are noted.
func loads(t *testing.T) map[string]load {
	t.Helper()
	qwen := content(t, "load", "tokenizer", "testdata", "qwen", "tokenizer.json")
	talks := strings.Repeat(`{"conversations": [{"from": "human", "value": "What is the capital of France?"}, {"from": "gpt", "value": "The capital of France is Paris."}]},`, 30)
	var lines, times strings.Builder
	for i := range 20 {
		fmt.Fprintf(&lines, "{\"prompt\": \"prompt number %d\", \"output_tokens\": %d, \"timestamp\": %d.5}\n", i, i+1, i)
		fmt.Fprintf(&times, "%d.25\n", i)
	}
	picture := new(strings.Builder)
	if err := png.Encode(picture, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	completions := "request: {protocol: completions, usage: end}\nrequests: 10\n"
	chat := "request: {protocol: chat, usage: end}\nrequests: 10\n"
	tokenizer := map[string]string{
		"models/q/tokenizer.json": qwen, "models/q/tokenizer_config.json": `{"bos_token": null}`, "models/q/chat_template.jinja": "{{ messages[0].content }}",
		"models/q/additional_chat_templates/x.jinja": "x", "models/q/model.safetensors": "weights", "models/q/config.json": "{}", "models/other/tokenizer.json": "no",
	}
	cached := map[string]string{"hub/models--org--q/refs/main": "c1"}
	for name, text := range tokenizer {
		if file, ok := strings.CutPrefix(name, "models/q/"); ok {
			cached["hub/models--org--q/snapshots/c1/"+file] = text
		}
	}
	return map[string]load{
		"sharegpt":          {"{arrival: {kind: poisson, rate: 40}, dataset: {kind: sharegpt, data: /data/talks.json}}", completions + "tokenizer: {where: models/q}", with(tokenizer, "data/talks.json", "["+strings.TrimSuffix(talks, ",")+"]"), 6},
		"custom":            {"{arrival: {kind: replay, file: data}, dataset: {kind: custom, data: lines.jsonl}}", completions + "tokenizer: {where: none}", map[string]string{"lines.jsonl": lines.String()}, 1},
		"trace":             {"{arrival: {kind: replay, file: data}, dataset: {kind: trace, data: trace.jsonl}}", completions, map[string]string{"trace.jsonl": content(t, "load", "traffic", "testdata", "mooncake.jsonl")}, 1},
		"times":             {"{arrival: {kind: replay, file: times.txt, speed: 2}, dataset: {kind: random, input_len: 20, output_len: 8}}", completions + "tokenizer: {where: models/q}", with(tokenizer, "times.txt", times.String()), 6},
		"a name in a cache": {"{arrival: {kind: at-once}, dataset: {kind: random, input_len: \"uniform(10,40)\", output_len: 8}}", completions + "tokenizer: {where: org/q}\ngate: {concurrency: 2}", cached, 5},
		"a tokenizer file":  {"{arrival: {kind: at-once}, dataset: {kind: random, input_len: 20, output_len: 8}}", completions + "tokenizer: {where: models/q/tokenizer.json}\ngate: {concurrency: 2}", tokenizer, 5},
		"images":            {"{arrival: {kind: constant, rate: 20}, dataset: {kind: random-mm, input_len: 20, output_len: 8, images: 2, image_sizes: \"64x64=1\"}}", chat + "tokenizer: {where: models/q}", tokenizer, 5},
		"a folder of a dataset": {
			"{arrival: {kind: constant, rate: 20}, dataset: {kind: vllm.hf, data: copies/gsm8k, name: openai/gsm8k}}", chat + "tokenizer: {where: models/q}",
			with(tokenizer, "copies/gsm8k/data/test-1.jsonl", `{"question": "How many apples are there in the big basket?", "answer": "There are 5 #### 5"}`+"\n",
				"copies/gsm8k/data/train-1.jsonl", strings.Repeat(`{"question": "How many pears are there in the big basket?", "answer": "There are seven #### 7"}`+"\n", 9), "copies/gsm8k/README.md", "# words"), 9,
		},
		"a dataset in a cache": {
			"{arrival: {kind: constant, rate: 20}, dataset: {kind: vllm.hf, data: openai/gsm8k}}", chat + "tokenizer: {where: models/q}",
			with(tokenizer, "hub/datasets--openai--gsm8k/refs/main", "c2", "hub/datasets--openai--gsm8k/snapshots/c2/main/test-1.jsonl", strings.Repeat(`{"question": "How many pears are there in the big basket?", "answer": "There are seven #### 7"}`+"\n", 9)), 8,
		},
		"pictures by address": {
			"{arrival: {kind: constant, rate: 20}, dataset: {kind: vllm.custom_image, data: pictures.jsonl, inline: true}}", chat + "tokenizer: {where: models/q}",
			with(tokenizer, "pictures.jsonl", `{"prompt": "look", "image_files": ["https://example.org/a.png", "/p/b.png"]}`+"\n", "https://example.org/a.png", picture.String(), "/p/b.png", picture.String()), 8,
		},
		"where a tool keeps it": {
			"{arrival: {kind: constant, rate: 20}, dataset: {kind: sglang.sharegpt}}", completions + "tokenizer: {where: models/q}",
			with(tokenizer, "$TMPDIR/ShareGPT_V3_unfiltered_cleaned_split.json", "["+strings.TrimSuffix(talks, ",")+"]"), 6,
		},
	}
}

type load struct {
	stream, more string
	files        map[string]string
	inputs       int
}

// with is a map with further members.
func with(m map[string]string, more ...string) map[string]string {
	out := map[string]string{}
	for name, text := range m {
		out[name] = text
	}
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

// A worker that has none of the controller's files sends the same at the same times.
func TestAWorkerPreparesTheSame(t *testing.T) {
	js := bus(t)
	for name, l := range loads(t) {
		t.Run(name, func(t *testing.T) {
			controller, worker := newMachine(t).write(t, l.files), newMachine(t)
			spec := specOf(t, l.stream, l.more)
			p := ordered(t, spec, controller, worker, js)
			if len(p.inputs) != l.inputs {
				t.Errorf("%d inputs: %q", len(p.inputs), names(p.inputs, every(p.inputs)))
			}
			t.Logf("%d requests, %q", p.told.requests, names(p.inputs, every(p.inputs)))
			needs, differs := p.supply.Check(soon(t))
			if len(needs) != len(p.inputs) || len(differs) > 0 {
				t.Errorf("needs %d of %d, differs %d", len(needs), len(p.inputs), len(differs))
			}
			give(t, p, js, needs)
			got, err := prepare(t, spec, p.supply.Deps())
			if err != nil || got.requests == 0 || got.digest != p.told.digest || !slices.Equal(got.due, p.told.due) {
				t.Fatalf("the worker has %v, %v\nwant %v", got, err, p.told)
			}
			again := NewSupply(p.supply.SupplyOptions)
			if needs, differs := again.Check(soon(t)); len(needs)+len(differs) > 0 {
				t.Errorf("a second run needs %q, differs in %q", names(p.inputs, needs), names(p.inputs, differs))
			}
			worker.write(t, l.files)
			if err := os.RemoveAll(worker.at("kept")); err != nil {
				t.Fatal(err)
			}
			own := NewSupply(p.supply.SupplyOptions)
			if needs, differs := own.Check(soon(t)); len(needs)+len(differs) > 0 {
				t.Errorf("a worker with the same files needs %q, differs in %q", names(p.inputs, needs), names(p.inputs, differs))
			}
			if got, err = prepare(t, spec, own.Deps()); err != nil || got.digest != p.told.digest {
				t.Errorf("with its own files it has %v, %v", got, err)
			}
		})
	}
}

func every[T any](of []T) (all []int) {
	for i := range of {
		all = append(all, i)
	}
	return all
}

// give has the controller offer Inputs while the worker waits for them.
func give(t *testing.T, p pair, js jetstream.JetStream, needs []int) {
	t.Helper()
	taken := make(chan error, 1)
	go func() { taken <- p.supply.FetchAll(soon(t)) }()
	if err := p.ledger.Offer(soon(t), js, "r1", needs); err != nil {
		t.Error(err)
	}
	if err := <-taken; err != nil {
		t.Fatal(err)
	}
	if err := Remove(t.Context(), js, "r1"); err != nil {
		t.Fatal(err)
	}
	if err := Remove(t.Context(), js, "r1"); err != nil {
		t.Errorf("the second time: %v", err)
	}
}
