package vllm

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
)

// compiled is the Spec of a command line, of a run that found out the model.
func compiled(t *testing.T, a *Args) *plan.Spec {
	t.Helper()
	c, err := a.Compile(tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	c.Spec.Request.Root, c.Spec.Tokens.Where = "org/m", "org/tok"
	return &c.Spec
}

// arranged are the times at which a command line sends requests.
func arranged(t *testing.T, a *Args, w *workload.Workload) (due []time.Duration) {
	t.Helper()
	arrival := a.arrival()
	out, err := arrival.Arrange(w, workload.Arranging{Seed: uint64(a.Seed), Adapters: plan.Adapters{Names: a.LoraModules, Assign: a.LoraAssignment}})
	if err != nil || out.Requests != len(w.Requests) {
		t.Fatal(out.Requests, err)
	}
	return slices.Collect(out.Schedule)
}

// built is what the dataset of a command line gives.
func built(t *testing.T, a *Args, s workload.Source) workload.Workload {
	t.Helper()
	d, _, err := a.dataset()
	if err != nil {
		t.Fatal(err)
	}
	s.Requests, s.Seed, s.IDPrefix, s.Ask = a.requests(), uint64(a.Seed), a.RequestIDPrefix, workload.Ask{Protocol: a.protocol()}
	if err := errors.Join(d.Check(&s).Err(), d.Read(t.Context(), &s)); err != nil {
		t.Fatal(err)
	}
	w, err := d.Build(t.Context(), &s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

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
		all := arranged(t, parse(t, tt.args), &workload.Workload{Requests: make([]workload.Request, len(tt.want))})
		for i, due := range all {
			if math.Abs(due.Seconds()-tt.want[i]) > 1e-9 {
				t.Errorf("%s: request %d is due at %v, want %v", tt.args, i, due, tt.want[i])
			}
		}
		if len(all) != len(tt.want) {
			t.Errorf("%s: %d offsets", tt.args, len(all))
		}
	}
}

// A trace is sent at its own times, of which one that goes back is at once.
func TestOwnTimes(t *testing.T) {
	w := &workload.Workload{Requests: []workload.Request{{At: time.Second}, {At: 3 * time.Second}, {At: 2 * time.Second}, {At: 4 * time.Second}}}
	const line = "--dataset-name timed_trace --dataset-path x"
	want := []time.Duration{time.Second, 3 * time.Second, 3 * time.Second, 4 * time.Second}
	if diff := cmp.Diff(want, arranged(t, parse(t, line), w)); diff != "" {
		t.Error(diff)
	}
	for _, due := range arranged(t, parse(t, line+" --no-self-timed"), w) {
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
	a := parse(t, "--request-rate 10 --dataset-name prefix_repetition --num-prompts 6 --prefix-repetition-num-prefixes 2")
	w := built(t, a, workload.Source{Vocab: workload.Vocabulary{Size: 100}})
	if len(w.Requests) != 6 {
		t.Errorf("%d requests", len(w.Requests))
	}
	drawn := *w.Numpy
	gaps := make([]float64, 6)
	sum := 0.0
	for i := range gaps {
		sum += drawn.Gamma(1, 0.1)
		gaps[i] = sum
	}
	for i, due := range arranged(t, a, &w) {
		if want := gaps[i] * 0.6 / sum; math.Abs(due.Seconds()-want) > 1e-9 {
			t.Errorf("request %d is due at %v, want %v", i, due, want)
		}
	}
}

// A number that no run has takes a file as it is, and stands in the result as it was given.
func TestMorePromptsThanAnyFileHas(t *testing.T) {
	for line, want := range map[string]int{
		"--dataset-name custom --dataset-path x.jsonl --skip-chat-template --num-prompts 99999999 --no-oversample":  99999999,
		"--dataset-name hf --dataset-path openai/gsm8k --skip-chat-template --num-prompts 99999999 --no-oversample": 99999999,
		"--dataset-name timed_trace --dataset-path x.jsonl --num-prompts 99999999":                                  99999999,
		"--dataset-name custom --dataset-path x.jsonl --skip-chat-template --num-prompts -1":                        -1,
	} {
		c, err := parse(t, line).Checked(tool.Env{})
		if err != nil || c.Spec.Requests > plan.MaxRequests {
			t.Fatalf("%s: %v", line, err)
		}
		q, err := requestedRunOf(&trace.Run{Plan: trace.Load{Spec: &c.Spec}})
		if err != nil || q.prompts != want {
			t.Errorf("%s: num_prompts %d, %v", line, q.prompts, err)
		}
	}
	if a := parse(t, "--num-prompts 99999999 --no-oversample"); a.requests() != 99999999 {
		t.Errorf("%d random prompts", a.requests())
	}
	if _, err := parse(t, "--dataset-name sharegpt --dataset-path x.json --num-prompts 99999999").Checked(tool.Env{}); err == nil || !strings.Contains(err.Error(), "--no-oversample takes all that the file has") {
		t.Error(err)
	}
}

func TestCheckAcceptsWhatRuns(t *testing.T) {
	for _, args := range []string{
		"",
		"--backend openai-chat --endpoint /v1/chat/completions --dataset-name random-mm",
		`--backend openai-chat --endpoint /v1/chat/completions --dataset-name random-mm --random-mm-bucket-config {(8,8,1):1,(8,8,2):1} --random-mm-limit-mm-per-prompt {"image":1,"video":0}`,
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
		{"--dataset-name hf --dataset-path x/y", `--dataset-path "x/y": is not a dataset that vllm bench serve knows`},
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
		{"--dataset-name prefix_repetition --num-prompts 3", "--prefix-repetition-num-prefixes 10: must not be more than the requests, 3"},
		{"--dataset-name spec_bench --dataset-path x --spec-bench-output-len 0", "--spec-bench-output-len 0: must be positive"},
		{"--dataset-name speed_bench --dataset-path x --speed-bench-output-len 0", "--speed-bench-output-len 0: must be positive"},
		{"--dataset-name sharegpt --dataset-path x --random-batch-size 2", "only --dataset-name random and random-rerank have batches"},
		{"--backend vllm-rerank --endpoint /v1/rerank", "--backend vllm-rerank ranks documents, of which --dataset-name random has none"},
		{"--plot-timeline --timeline-itl-thresholds 25", `--timeline-itl-thresholds "25": must be two numbers`},
		{"--random-batch-size 2", "--random-batch-size 2: only applies to requests to embed or pool"},
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
		{"--random-input-len 0", "--random-input-len 0: with range 0 allows an empty prompt"},
		{"--input-len 0", "--input-len 0: with range 0 allows an empty prompt"},
		{`--extra-body {"x":[NaN]}`, "--extra-body: NaN and Infinity are not JSON and cannot be sent"},
		{"--skip-tokenizer-init", "--skip-tokenizer-init cannot be used with --dataset-name random"},
		{`--backend openai-chat --endpoint /v1/chat/completions --dataset-name random-mm --random-mm-limit-mm-per-prompt {"image":3}`, `--random-mm-limit-mm-per-prompt: no "video"`},
		{"--backend openai-chat --endpoint /v1/chat/completions --dataset-name random-mm --random-mm-bucket-config {(8,8,2):1}", "--random-mm-bucket-config: (8, 8, 2): video is not supported; give it probability 0"},
	} {
		err := parse(t, tt.args).Check()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %s", tt.args, err, tt.want)
		}
	}
	all := parse(t, "--request-rate 0 --seed -1 --plot-timeline --timeline-itl-thresholds 1,x --goodput x").Check()
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
		fields, err := parse(t, tt.args).extraFields()
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
	settings := func(args string) workload.Dataset {
		d, _, err := parse(t, args).dataset()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	sending := Sending{Limit: "max_tokens"}
	want := &Random{Input: 10, Output: 20, InputRange: .25, OutputRange: .25, Prefix: 4, Batch: 1, Sending: sending}
	const line = "--num-prompts 5 --seed 3 --input-len 10 --output-len 20 --random-prefix-len 4 --random-range-ratio 0.25"
	if diff := cmp.Diff(workload.Dataset(want), settings(line), cmpopts.IgnoreUnexported(Random{})); diff != "" {
		t.Error(diff)
	}
	if w := built(t, parse(t, "--random-output-len 0 --num-prompts 1"), workload.Source{Vocab: workload.Vocabulary{Size: 9}}); w.Requests[0].OutputTokens != 1 {
		t.Errorf("%+v", w.Requests)
	}
	if s := settings("--dataset-name sharegpt --sharegpt-output-len 3 --output-len 20"); reflect.ValueOf(s).Elem().FieldByName("Output").Int() != 20 {
		t.Errorf("%+v", s)
	}
	if c := settings("--dataset-name custom --output-len 20").(*Custom); c.Output != 20 || c.NoShuffle {
		t.Errorf("%+v", c)
	}
	if c := settings("--dataset-name custom --custom-output-len -1 --num-prompts -1 --disable-shuffle").(*Custom); c.Output != 0 || !c.NoShuffle {
		t.Errorf("%+v", c)
	}
	uncounted := settings("--dataset-name custom --skip-tokenizer-init --custom-output-len -1 --output-len 9 --backend openai-chat").(*Custom)
	if !uncounted.Uncounted || uncounted.Output != 1 || !uncounted.SkipTemplate || uncounted.Limit != "max_completion_tokens" {
		t.Errorf("%+v", uncounted)
	}
	if b := settings("--dataset-name speed_bench --dataset-path x --speed-bench-dataset-subset throughput_2k").(*SpeedBench); b.Subset != "throughput_2k" {
		t.Errorf("%+v", b)
	}
	if r := settings(`--extra-body {"max_tokens":5}`).(*Random); r.Limit != "" {
		t.Errorf("--extra-body is overridden: %+v", r)
	}
	base, target := parse(t, "--base-url https://h/x --endpoint /v1/completions").urls()
	if base != "https://h/x" || target != "https://h/x/v1/completions" {
		t.Error(base, target)
	}
	if base, _ := parse(t, "--host [::1] --port 8001").urls(); base != "http://[::1]:8001" {
		t.Error(base)
	}
	if base, _ := parse(t, "--host ::1 --port 8001").urls(); base != "http://[::1]:8001" {
		t.Error(base)
	}
}

// Python: random.seed(0); [random.choice("abc") for _ in range(10)] is
// b b a b c b b b b b.
func TestAssignLoRA(t *testing.T) {
	models := func(args string) string {
		w := &workload.Workload{Requests: make([]workload.Request, 10)}
		arranged(t, parse(t, args), w)
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
		a := parse(t, tt.args+" --custom-output-len -1 --lora-modules a b c --skip-chat-template --dataset-path "+map[bool]string{true: "talks.json", false: "rows.jsonl"}[strings.Contains(tt.args, "sharegpt")])
		w := built(t, a, workload.Source{Tokens: characters{}, Files: workload.Files{Open: open}})
		arranged(t, a, &w)
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
func open(name string) (workload.Reader, error) {
	return os.Open("../../load/workload/testdata/" + name)
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
	got := parse(t, "--goodput tpot:50.5 ttft:500").settings().objectives()
	want := []plan.Objective{{Metric: "tpot", Limit: plan.Duration(50500 * time.Microsecond)}, {Metric: "ttft", Limit: plan.Duration(500 * time.Millisecond)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A command line as a Spec: complete, in good form, and without secrets.
func TestCompile(t *testing.T) {
	a := parse(t, "--base-url https://h/v --endpoint /v1/completions --header X-Api-Key=s3cretvalue A=1 a=2 --model org/m --served-model-name m --tokenizer ./tok.json "+
		"--num-prompts 7 --seed 3 --request-rate 4 --burstiness inf --max-concurrency 5 --goodput ttft:100 --metadata x=y --label l --save-detailed "+
		"--lora-modules a b --lora-assignment round-robin --num-warmups 2 --ready-check-timeout-sec 9 --profile --insecure --probe-request-rate 0.5 --temperature 0")
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	c, err := a.Compile(tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Spec.Check().Err(); err != nil {
		t.Error(err)
	}
	nine := plan.Duration(9 * time.Second)
	want := plan.Spec{
		Version: 1, Name: "l",
		Target: plan.Target{
			URL: "https://h/v", Route: "/v1/completions", Key: &plan.Source{Env: "OPENAI_API_KEY", Optional: true}, Insecure: true,
			Headers: []plan.Header{{Name: "X-Api-Key", From: &plan.Source{Given: true}}, {Name: "a", Value: "2"}},
		},
		Request: plan.Request{
			Protocol: "completions", Model: "m", Root: "org/m", Stream: true, Usage: plan.UsageAtEnd, IgnoreEOS: true, IDs: "bench-", PartsAlways: true,
			Body: json.RawMessage(`{"logprobs":null,"repetition_penalty":1.0,"temperature":0.0}`),
		},
		Requests: 7, Seed: 3,
		Load: []plan.Stream{{
			Arrival: plan.Typed{Kind: "vllm", Settings: json.RawMessage(`{"rate":4,"burstiness":0}`)},
			Dataset: plan.Typed{Kind: "vllm.random", Settings: json.RawMessage(`{"input_len":1024,"output_len":128,"batch":1,"limit":"max_tokens"}`)},
		}},
		Gate: plan.Gate{Concurrency: 5}, Adapters: plan.Adapters{Names: []string{"a", "b"}, Assign: "round-robin"},
		Tokens: plan.Tokenizer{Where: "./tok.json", Required: true},
		Before: plan.Before{
			Ready: plan.Ready{Connect: nine, Timeout: nine, Ask: plan.AskFirst, Insist: true}, WarmUp: plan.WarmUp{Requests: 2, From: plan.WarmFirst},
			Profiler: plan.Profiler{Start: plan.Call{Route: "/start_profile"}, Stop: plan.Call{Route: "/stop_profile"}},
		},
		Probe: plan.Probe{Rate: 0.5}, Objectives: []plan.Objective{{Metric: "ttft", Limit: plan.Duration(100 * time.Millisecond)}}, KeepText: true,
		Client: plan.Client{Timeout: plan.Duration(6 * time.Hour), KeepReusing: true, KeepAlive: plan.Duration(time.Minute)},
		Dialect: plan.Dialect{Name: "vllm", Version: "2026-11", Settings: json.RawMessage(
			`{"backend":"openai","label":"l","metadata":["x=y"],"goodput":["ttft:100"],"metric_percentiles":"99","save_detailed":true}`)},
	}
	if diff := cmp.Diff(want, c.Spec); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"target.headers[0]": "s3cretvalue"}, c.Given); diff != "" {
		t.Error(diff)
	}
	if c.Front.NameOf("load[0].dataset.input_len") != "--random-input-len" || c.Front.NameOf("target.url") != "--base-url" {
		t.Error(c.Front)
	}
}

// Every dataset and every backend makes a Spec in good form, with settings that its kind
// takes.
func TestEveryDatasetCompiles(t *testing.T) {
	kinds := Kinds()
	for _, name := range datasets {
		args := "--dataset-name " + name
		if !slices.Contains(drawnDatasets, name) {
			args += " --dataset-path openai/gsm8k"
		}
		c, err := parse(t, args).Compile(tool.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Spec.Check().Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		kind, ok := kinds["vllm."+name]
		if !ok {
			t.Errorf("%s is no kind", name)
			continue
		}
		d := kind.New()
		if err := plan.DecodeJSON(c.Spec.Load[0].Dataset.Settings, d).Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		defaults := kind.New()
		again := plan.Make("vllm."+name, d)
		if diff := cmp.Diff(string(c.Spec.Load[0].Dataset.Settings), string(again.Settings)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if m := defaults.Describe(); m.IsZero() {
			t.Errorf("%s does not describe itself", name)
		}
	}
	for _, name := range backends {
		c, err := parse(t, "--goodput ttft:1 e2el:2 --backend "+name).Compile(tool.Env{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Spec.Check().Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
