package vllm

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

func parse(t *testing.T, line string) *Args {
	t.Helper()
	a, err := Parse(strings.Fields(line), "bench-")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Offsets computed by the request generator of vllm 0.33.0 with numpy 2.4.6.
func TestScheduleEqualsVLLM(t *testing.T) {
	for _, tt := range []struct {
		args string
		want []float64
	}{
		{"--request-rate 10", []float64{0.092258660, 0.237847554, 0.344868610, 0.436121845, 0.5}},
		{"--request-rate 10 --burstiness 0.5", []float64{0.078640916, 0.176494368, 0.222924139, 0.272457924, 0.5}},
		{"--request-rate 10 --burstiness 2", []float64{0.170861916, 0.245289591, 0.425737339, 0.448898273, 0.5}},
		{"--request-rate 4 --burstiness inf --seed 3", []float64{0.25, 0.5, 0.75, 1, 1.25, 1.5}},
		{"--seed 3 --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 10", []float64{0.800282387, 1.179207878, 1.241710678, 1.333973944, 1.557417025}},
		{"--seed 42 --burstiness 0.7 --ramp-up-strategy exponential --ramp-up-start-rps 2 --ramp-up-end-rps 20", []float64{0.178494727, 0.564225203, 0.580120438, 0.582299323, 0.624659817}},
		{"--seed 7", []float64{0, 0, 0, 0}},
	} {
		i := 0
		for due := range parse(t, tt.args).Schedule(workload.Workload{Requests: make([]workload.Request, len(tt.want))}) {
			if math.Abs(due.Seconds()-tt.want[i]) > 1e-9 {
				t.Errorf("%s: request %d is due at %v, want %v", tt.args, i, due, tt.want[i])
			}
			i++
		}
		if i != len(tt.want) {
			t.Errorf("%s: %d offsets", tt.args, i)
		}
	}
}

// A trace is sent at its own times, of which one that goes back is at once.
func TestOwnTimes(t *testing.T) {
	w := workload.Workload{Requests: []workload.Request{{At: time.Second}, {At: 3 * time.Second}, {At: 2 * time.Second}, {At: 4 * time.Second}}}
	const line = "--dataset-name timed_trace --dataset-path x"
	var got []time.Duration
	for due := range parse(t, line).Schedule(w) {
		got = append(got, due)
	}
	if diff := cmp.Diff([]time.Duration{time.Second, 3 * time.Second, 3 * time.Second, 4 * time.Second}, got); diff != "" {
		t.Error(diff)
	}
	for due := range parse(t, line+" --no-self-timed").Schedule(w) {
		if due != 0 {
			t.Errorf("due at %v without times of its own", due)
		}
	}
	if traffic := parse(t, line).Traffic(); strings.Count(traffic, "\n") != 1 {
		t.Errorf("%q", traffic)
	}
}

// The generator that prompts were drawn from goes on with the send times.
func TestScheduleGoesOnWithTheGenerator(t *testing.T) {
	a := parse(t, "--request-rate 10 --dataset-name prefix_repetition --num-prompts 5 --prefix-repetition-num-prefixes 2")
	w, err := a.PrefixRepetition().Build(t.Context(), workload.Vocabulary{Size: 100}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Requests) != 5 {
		t.Errorf("%d requests", len(w.Requests))
	}
	drawn := *w.Numpy
	gaps := make([]float64, 5)
	sum := 0.0
	for i := range gaps {
		sum += drawn.Gamma(1, 0.1)
		gaps[i] = sum
	}
	i := 0
	for due := range a.Schedule(w) {
		if want := gaps[i] * 0.5 / sum; math.Abs(due.Seconds()-want) > 1e-9 {
			t.Errorf("request %d is due at %v, want %v", i, due, want)
		}
		i++
	}
	before := parse(t, "--dialect-version 2026-11 --num-prompts 25 --dataset-name prefix_repetition").PrefixRepetition()
	if before.Remainder || !a.PrefixRepetition().Remainder {
		t.Error("the remainder is left out in the release, and sent today")
	}
}

func TestCheckAcceptsWhatRuns(t *testing.T) {
	for _, args := range []string{
		"",
		"--backend openai-chat --endpoint /v1/chat/completions --dataset-name random-mm",
		"--dataset-name sharegpt --dataset-path x.json --ramp-up-strategy exponential --ramp-up-start-rps 1 --ramp-up-end-rps 9",
		"--dataset-name custom --dataset-path x.jsonl --skip-chat-template --num-prompts -1 --custom-output-len -1",
		"--dataset-name custom --dataset-path x.jsonl --skip-tokenizer-init --custom-output-len 0",
		"--goodput ttft:0 tpot:50 --metric-percentiles 0,50,100 --percentile-metrics x --probe-request-rate 2",
		`--random-range-ratio {"input":0.1,"output":0.9}`,
		"--num-warmups -1 --probe-request-rate -1 --random-output-len 0",
		"--dataset-name custom --dataset-path x.jsonl",
		"--dataset-name prefix_repetition --num-prompts 25 --output-len 3",
		"--dataset-name burstgpt --dataset-path x.csv",
		"--dataset-name sonnet --dataset-path poem.txt",
		"--dataset-name spec_bench --dataset-path x.jsonl --num-prompts 0",
		"--dataset-name speed_bench --dataset-path x --speed-bench-dataset-subset throughput_2k",
		"--dataset-name timed_trace --dataset-path x --no-self-timed --request-rate 3",
		"--dataset-name custom_image --dataset-path x.jsonl --backend openai-chat --endpoint /v1/chat/completions",
		"--dataset-name custom_audio --dataset-path x.jsonl --backend openai-chat --endpoint /v1/chat/completions --enable-multimodal-chat",
		"--dataset-name hf --dataset-path openai/gsm8k",
		"--dataset-name hf --dataset-path ./copy --hf-name philschmid/mt-bench",
		"--dataset-name hf --hf-name Lin-Chen/MMStar --backend openai-chat --endpoint /v1/chat/completions",
		"--num-prompts 3 --self-timed --no-self-timed --dataset-name random",
	} {
		err := parse(t, args).Check()
		if strings.Contains(args, "--self-timed --no-self-timed") {
			if err == nil {
				t.Errorf("%s: accepted", args)
			}
		} else if err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestCheckRefusesByName(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--dataset-name sonnet", "--dataset-name sonnet needs --dataset-path"},
		{"--dataset-name hf", "--dataset-name hf needs --dataset-path"},
		{"--dataset-name hf --dataset-path x/y", `"x/y" is not a dataset that vllm bench serve knows`},
		{"--dataset-name hf --dataset-path x --hf-name openai/gsm8k --hf-output-len 0", "--hf-output-len 0"},
		{"--dataset-name hf --hf-name lmarena-ai/VisionArena-Chat", "sends pictures or videos, which --backend openai does not carry"},
		{"--dataset-name hf --hf-name openslr/librispeech_asr", "needs --backend openai-audio"},
		{"--dataset-name hf --hf-name gorilla-llm/Berkeley-Function-Calling-Leaderboard", "has tools with each request and needs --backend openai-chat"},
		{"--dataset-name timed_trace --dataset-path x --backend openai-chat --endpoint /v1/chat/completions", "sends token ids and needs --backend vllm or openai"},
		{"--dataset-name timed_trace --dataset-path x --timed-trace-chunk-hash-size 0", "--timed-trace-chunk-hash-size 0"},
		{"--dataset-name timed_trace --dataset-path x --timed-trace-sec-multiplier 0", "--timed-trace-sec-multiplier 0"},
		{"--self-timed", "only allowed with --dataset-name timed_trace"},
		{"--dataset-name custom_image --dataset-path x.jsonl", "which --backend openai does not carry"},
		{"--dataset-name custom_image --dataset-path x.jsonl --backend openai-chat --endpoint /v1/chat/completions --custom-output-len -1", "--custom-output-len -1: must be positive"},
		{"--dataset-name custom_audio --dataset-path x.jsonl --backend openai-chat --endpoint /v1/chat/completions", "needs --enable-multimodal-chat"},
		{"--dataset-name custom_audio --dataset-path x.jsonl", "needs --backend openai-audio"},
		{"--dataset-name random-rerank", "needs --backend vllm-rerank"},
		{"--dataset-name prefix_repetition --num-prompts 3", "--num-prompts 3: must be at least --prefix-repetition-num-prefixes 10"},
		{"--dataset-name spec_bench --dataset-path x --spec-bench-output-len 0", "--spec-bench-output-len 0: must be positive"},
		{"--dataset-name speed_bench --dataset-path x --speed-bench-output-len 0", "--speed-bench-output-len 0: must be positive"},
		{"--dataset-name sharegpt --dataset-path x --random-batch-size 2", "only --dataset-name random and random-rerank have batches"},
		{"--backend vllm-rerank --endpoint /v1/rerank", "--backend vllm-rerank ranks documents, of which --dataset-name random has none"},
		{"--plot-timeline", "--plot-timeline is not built yet"},
		{"--plot-dataset-stats", "--plot-dataset-stats is not built yet"},
		{"--random-batch-size 2", "--random-batch-size 2: batches"},
		{"--tokenizer-mode mistral", "--tokenizer-mode mistral is not built yet"},
		{"--dataset-name custom --skip-chat-template", "--dataset-name custom needs --dataset-path"},
		{"--dataset-name custom --skip-chat-template --dataset-path x.json", "ends in .jsonl"},
		{"--dataset-name custom --skip-chat-template --dataset-path x.jsonl --custom-output-len 0", "--custom-output-len 0"},
		{"--dataset-name sharegpt", "--dataset-name sharegpt needs --dataset-path"},
		{"--dataset-path x", "--dataset-path cannot be used with --dataset-name random"},
		{"--dataset-name random-mm", "needs --backend openai-chat"},
		{"--backend openai-chat", `needs an --endpoint that ends in "chat/completions"`},
		{"--endpoint /v1/chat/completions", "use --backend openai-chat"},
		{"--endpoint /x", `ends in "completions"`},
		{"--max-concurrency 0", "--max-concurrency must be greater than 0"},
		{"--request-rate 0", "--request-rate 0.0: must be positive"},
		{"--request-rate nan", "--request-rate nan"},
		{"--burstiness -1", "--burstiness -1.0"},
		{"--probe-request-rate inf", "--probe-request-rate inf"},
		{"--num-prompts 0", "--num-prompts 0: must be at least 1"},
		{"--num-prompts 0 --dataset-name sharegpt --dataset-path x", "--num-prompts 0: must be at least 1"},
		{"--seed -1", "--seed -1"},
		{"--request-rate 3 --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 2", "remove --request-rate"},
		{"--ramp-up-strategy linear", "needs --ramp-up-start-rps and --ramp-up-end-rps"},
		{"--ramp-up-strategy linear --ramp-up-start-rps 3 --ramp-up-end-rps 2", "must not be greater"},
		{"--ramp-up-strategy linear --ramp-up-start-rps 0 --ramp-up-end-rps 2", "--ramp-up-start-rps 0"},
		{"--header nope", `--header "nope": must be KEY=VALUE`},
		{"--header =x", `--header "": not a name`},
		{"--header bad/name=x", `--header "bad/name": not a name`},
		{"--header a=\x01", "--header a: its value"},
		{"--metadata nope", `--metadata "nope": must be KEY=VALUE`},
		{"--metric-percentiles 101", `--metric-percentiles "101"`},
		{"--metric-percentiles 50,", `--metric-percentiles "50,"`},
		{"--goodput ttft", `--goodput "ttft": must be NAME:MILLISECONDS`},
		{"--goodput itl:3", "the name must be ttft, tpot or e2el"},
		{"--goodput ttft:-3", "must not be negative"},
		{"--random-range-ratio 1", "--random-range-ratio (input) 1: must be"},
		{`--random-range-ratio {"input":0.1}`, "--random-range-ratio"},
		{"--random-input-len 0", "--random-input-len 0 with range 0 allows an empty prompt"},
		{"--input-len 0", "--input-len 0 with range 0 allows an empty prompt"},
		{"--skip-tokenizer-init", "--skip-tokenizer-init cannot be used with --dataset-name random"},
		{`--backend openai-chat --endpoint /v1/chat/completions --dataset-name random-mm --random-mm-limit-mm-per-prompt {"image":3}`, `--random-mm-limit-mm-per-prompt: no "video"`},
		{"--backend openai-chat --endpoint /v1/chat/completions --dataset-name random-mm --random-mm-bucket-config {(8,8,2):1}", "--random-mm-bucket-config: (8, 8, 2): video is not supported yet"},
	} {
		err := parse(t, tt.args).Check()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %s", tt.args, err, tt.want)
		}
	}
	all := parse(t, "--request-rate 0 --seed -1 --plot-timeline --goodput x").Check()
	if n := strings.Count(all.Error(), "\n") + 1; n != 4 {
		t.Errorf("%d of 4 faults reported:\n%v", n, all)
	}
}

func TestExtraFields(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"", `{"repetition_penalty":1,"logprobs":null}`},
		{"--temperature 0 --extra-body null", `{"repetition_penalty":1,"logprobs":null,"temperature":0}`},
		{"--logprobs 3 --repetition-penalty 1.1", `{"repetition_penalty":1.1,"logprobs":3}`},
		{"--backend openai-chat --logprobs 3 --top-k 5 --temperature 0", `{"top_k":5,"temperature":0}`},
		{`--temperature 0.5 --extra-body {"temperature":1,"max_tokens":9,"logprobs":2}`, `{"repetition_penalty":1,"logprobs":2,"temperature":1,"max_tokens":9}`},
	} {
		fields, err := parse(t, tt.args).ExtraFields()
		if err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(fields)
		var got, want map[string]any
		_ = json.Unmarshal(b, &got)
		_ = json.Unmarshal([]byte(tt.want), &want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.args, diff)
		}
	}
}

func TestDatasets(t *testing.T) {
	a := parse(t, "--num-prompts 5 --seed 3 --input-len 10 --output-len 20 --random-prefix-len 4 --random-range-ratio 0.25")
	random, err := a.Random()
	random.Names = nil
	want := workload.Random{Requests: 5, Input: 10, Output: 20, InputRange: .25, OutputRange: .25, Prefix: 4, Seed: 3, IDPrefix: "bench-", Batch: 1}
	if diff := cmp.Diff(want, random); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if r, err := parse(t, "--random-output-len 0").Random(); err != nil || r.Output != 1 {
		t.Errorf("%v: %+v", err, r)
	}
	if s := a.ShareGPT(); s.Output != 20 || s.Requests != 5 {
		t.Errorf("%+v", s)
	}
	if c := a.Custom(); c.Output != 20 || !c.Shuffle || !c.AsVLLM {
		t.Errorf("%+v", c)
	}
	if c := parse(t, "--custom-output-len -1 --num-prompts -1 --disable-shuffle").Custom(); c.Output != 0 || c.Requests != 0 || c.Shuffle {
		t.Errorf("%+v", c)
	}
	base, target := parse(t, "--base-url https://h/x --endpoint /v1/completions").URLs()
	if base != "https://h/x" || target != "https://h/x/v1/completions" {
		t.Error(base, target)
	}
	if base, _ := parse(t, "--host [::1] --port 8001").URLs(); base != "http://[::1]:8001" {
		t.Error(base)
	}
	if base, _ := parse(t, "--host ::1 --port 8001").URLs(); base != "http://[::1]:8001" {
		t.Error(base)
	}
}

func TestFinish(t *testing.T) {
	w := workload.Workload{Requests: []workload.Request{{Text: "a", OutputTokens: 3}, {Text: "b"}}}
	parse(t, "").Finish(w)
	want := []workload.Request{{Text: "a", OutputTokens: 3}, {Text: "b", Extra: map[string]json.RawMessage{"max_tokens": json.RawMessage("0")}}}
	if diff := cmp.Diff(want, w.Requests); diff != "" {
		t.Error(diff)
	}
	a := parse(t, "--dataset-name custom --skip-tokenizer-init --custom-output-len -1 --output-len 9 --backend openai-chat --num-prompts 1")
	w, err := a.Custom().Build(t.Context(), strings.NewReader(`{"prompt":"a"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Finish(w)
	if r := w.Requests[0]; r.PromptTokens != 1 || r.OutputTokens != 1 {
		t.Errorf("%+v", r)
	}
	w.Requests[0].OutputTokens = 0
	a.Finish(w)
	if b := w.Requests[0].Extra["max_completion_tokens"]; string(b) != "0" {
		t.Errorf("%+v", w.Requests[0])
	}
	w = workload.Workload{Requests: []workload.Request{{Text: "a"}}}
	parse(t, `--extra-body {"max_tokens":5}`).Finish(w)
	if w.Requests[0].Extra != nil {
		t.Errorf("--extra-body is overridden: %+v", w.Requests[0])
	}
}

// Python: random.seed(0); [random.choice("abc") for _ in range(10)] is
// b b a b c b b b b b.
func TestAssignLoRA(t *testing.T) {
	models := func(args string) string {
		w := workload.Workload{Requests: make([]workload.Request, 10)}
		parse(t, args).assignLoRA(w)
		var s string
		for _, r := range w.Requests {
			s += r.Model
		}
		return s
	}
	if got := models("--lora-modules a b c"); got != "bbabcbbbbb" {
		t.Error(got)
	}
	if got := models("--lora-modules a b c --lora-assignment round-robin"); got != "abcabcabca" {
		t.Error(got)
	}
	if got := models(""); got != "" {
		t.Error(got)
	}
}

// Picks that random.choice made after the dataset classes of vllm 0.33.0 had
// drawn from the same file.
func TestAssignLoRAGoesOnWhereTheDatasetStopped(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"--dataset-name sharegpt --num-prompts 5", "bbbcc"},
		{"--dataset-name sharegpt --num-prompts 5 --disable-shuffle", "bbabc"},
		{"--dataset-name custom --num-prompts 5", "bbcac"},
		{"--dataset-name custom --num-prompts 14", "bbbbbcacabaacb"},
		{"--dataset-name custom --num-prompts 14 --no-oversample", "bbcacabaa"},
		{"--dataset-name custom --num-prompts 14 --disable-shuffle", "bbbbbcacabaacb"},
		{"--dataset-name custom --num-prompts 14 --seed 3", "ccacabbcaacbcc"},
	} {
		a := parse(t, tt.args+" --custom-output-len -1 --lora-modules a b c")
		var w workload.Workload
		var err error
		if a.DatasetName == "sharegpt" {
			w, err = a.ShareGPT().Build(t.Context(), open(t, "talks.json"), characters{})
		} else {
			w, err = a.Custom().Build(t.Context(), open(t, "rows.jsonl"), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		a.assignLoRA(w)
		var got string
		for _, r := range w.Requests {
			got += r.Model
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.args, got, tt.want)
		}
	}
}

// open opens a file of package workload's testdata.
func open(t *testing.T, name string) *os.File {
	t.Helper()
	file, err := os.Open("../../load/workload/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// characters counts ten of them as a token: enough to choose by.
type characters struct{}

func (characters) Encode(_ context.Context, text string, _ bool) ([]int32, error) {
	return make([]int32, len(text)/10), nil
}

func (characters) Decode(context.Context, []int32) (string, error) { return "", nil }

func TestTraffic(t *testing.T) {
	got := parse(t, "--request-rate 10 --burstiness 2 --max-concurrency 3").Traffic()
	if want := "Traffic request rate: 10.0\nBurstiness factor: 2.0 (Gamma distribution)\nMaximum request concurrency: 3\n"; got != want {
		t.Error(got)
	}
	got = parse(t, "").Traffic()
	if want := "Traffic request rate: inf\nBurstiness factor: 1.0 (Poisson process)\nMaximum request concurrency: None\n"; got != want {
		t.Error(got)
	}
}

func TestObjectives(t *testing.T) {
	got, err := parse(t, "--goodput tpot:50.5 ttft:500").Objectives()
	if err != nil || len(got) != 2 || got[0].Metric != "tpot" || got[0].Limit != 50500*time.Microsecond || got[1].Limit != 500*time.Millisecond {
		t.Errorf("%+v, %v", got, err)
	}
}
