package sglang

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/test/golden"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

func parsed(t *testing.T, line string) *Args {
	t.Helper()
	a, err := Parse(strings.Fields(line))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// arranged are when a command line sends requests, and its arrangement.
func arranged(t *testing.T, a *Args, w *workload.Workload) ([]time.Duration, workload.Arrangement) {
	t.Helper()
	c, err := a.Compile(tool.Env{})
	if err != nil {
		t.Fatal(err)
	}
	arrival := a.arrival()
	out, err := arrival.Arrange(w, workload.Arranging{Seed: c.Spec.Seed, Adapters: c.Spec.Adapters})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(out.Schedule), out
}

func TestAdaptersAndGapsOfSGLangAreNumpys(t *testing.T) {
	var cases []struct {
		Seed             int
		Distribution     string
		Alpha, Rate, End float64
		Names            []string
		Times            []float64
	}
	golden.JSON(t, "testdata/dispatch.json", &cases)
	for _, c := range cases {
		a := parsed(t, "--lora-name a b c d")
		a.Seed, a.LoraRequestDistribution, a.LoraZipfAlpha, a.RequestRate = c.Seed, c.Distribution, c.Alpha, c.Rate
		w := &workload.Workload{Requests: make([]workload.Request, len(c.Names))}
		due, got := arranged(t, a, w)
		for i := range due {
			if math.Abs(due[i].Seconds()-c.Times[i]) > 1e-9 {
				t.Errorf("%+v: request %d is due at %v", c, i, due[i])
			}
		}
		var names []string
		for _, r := range w.Requests {
			names = append(names, strings.Trim(string(r.Extra["lora_path"]), `"`))
		}
		if !slices.Equal(names, c.Names) || math.Abs(got.End.Seconds()-c.End) > 1e-9 || len(due) != len(c.Times) {
			t.Errorf("%+v: %v until %v", c, names, got.End)
		}
	}
}

// Of a conversation the first request is drawn for, and the others have its adapter, as
// those to warm up with have the first of all.
func TestAConversationOfSGLangIsDrawnForOnce(t *testing.T) {
	a := parsed(t, "--backend vllm-chat --request-rate 1 --lora-name a b --lora-request-distribution distinct")
	w := &workload.Workload{Requests: make([]workload.Request, 4), Warmup: make([]workload.Request, 2)}
	w.Requests[1].After, w.Requests[3].After = 1, 3
	if due, _ := arranged(t, a, w); len(due) != 2 {
		t.Errorf("%d due times", len(due))
	}
	var models []string
	for _, r := range append(w.Requests, w.Warmup...) {
		models = append(models, string(r.Extra["model"])+string(r.Extra["lora_path"]))
	}
	if want := []string{`"a""a"`, `"a""a"`, `"b""b"`, `"b""b"`, `"a""a"`, `"a""a"`}; !slices.Equal(models, want) {
		t.Errorf("%v", models)
	}
}

// Where a backend has names of adapters, and whose they lie over.
func TestAdapterFields(t *testing.T) {
	for line, want := range map[string]string{
		"":                                       "lora_path",
		"--backend vllm":                         "lora_path model",
		"--backend truss":                        "",
		"--backend trt":                          "",
		"--backend sglang":                       "lora_path",
		`--extra-request-body {"lora_path":"x"}`: "",
		`--backend vllm --extra-request-body {"lora_path":"x"}`:                "lora_path model",
		`--backend vllm-embedding --extra-request-body {"model":"x"}`:          "lora_path",
		`--backend sglang-embedding --extra-request-body {"something":"else"}`: "lora_path model",
	} {
		if got := strings.Join(parsed(t, line+" --lora-name a").adapterFields(), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func TestBodiesOfSGLangsBackends(t *testing.T) {
	for _, tt := range []struct{ line, top, sampling string }{
		{
			"--backend sglang",
			`{"logprob_start_len":-1,"lora_path":null,"return_logprob":false,"return_routed_experts":false}`, `{"ignore_eos":true,"temperature":0.0}`,
		},
		{
			`--backend sglang-native --temperature 0.5 --top-p 0.9 --disable-ignore-eos --return-logprob --top-logprobs-num 3 --token-ids-logprob 1 2 --extra-request-body {"top_logprobs_num":9,"return_logprob":7} --fake-prefill`,
			`{"bootstrap_host":"2.2.2.2","bootstrap_room":0,"logprob_start_len":-1,"lora_path":null,"return_logprob":7,"return_routed_experts":false,"token_ids_logprob":[1,2],"top_logprobs_num":3}`,
			`{"ignore_eos":false,"temperature":0.5,"top_p":0.9}`,
		},
		{`--backend vllm --extra-request-body {"temperature":1}`, `{"best_of":1,"ignore_eos":true,"temperature":1}`, `null`},
		{"--backend sglang-oai --return-logprob --top-logprobs-num 2 --cache-report", `{"best_of":1,"ignore_eos":true,"logprobs":2,"return_cached_tokens_details":true,"temperature":0.0}`, `null`},
		{"--backend lmdeploy-chat --disable-ignore-eos", `{"ignore_eos":false,"temperature":0.0}`, `null`},
		{"--backend truss", `{"best_of":1,"ignore_eos":true,"temperature":0.0}`, `null`},
		{"--backend trt", `{"accumulate_tokens":true,"temperature":1e-06,"top_p":1.0}`, `null`},
		{"--backend sglang-embedding", `{}`, `null`},
	} {
		top, sampling, err := parsed(t, tt.line).bodyFields()
		if err != nil {
			t.Fatal(err)
		}
		for want, fields := range map[string]map[string]json.RawMessage{tt.top: top, tt.sampling: sampling} {
			got, err := json.Marshal(fields)
			if err != nil || string(got) != want {
				t.Errorf("%s: %s, want %s (%v)", tt.line, got, want, err)
			}
		}
	}
}

func TestWhereSGLangsBackendsAre(t *testing.T) {
	for line, want := range map[string]string{
		"":                                 "http://0.0.0.0:30000/generate",
		"--backend sglang-oai":             "http://0.0.0.0:30000/v1/completions",
		"--backend vllm":                   "http://0.0.0.0:8000/v1/completions",
		"--backend vllm-chat":              "http://0.0.0.0:30000/v1/chat/completions",
		"--backend vllm-embedding":         "http://0.0.0.0:8000/v1/embeddings",
		"--backend lmdeploy":               "http://0.0.0.0:23333/v1/completions",
		"--backend lmdeploy-chat":          "http://0.0.0.0:30000/v1/chat/completions",
		"--backend trt":                    "http://0.0.0.0:8000/v2/models/ensemble/generate_stream",
		"--backend truss --port 1":         "http://0.0.0.0:1/v1/models/model:predict",
		"--host ::1":                       "http://[::1]:30000/generate",
		"--base-url https://h/x/ --port 1": "https://h/x//generate",
	} {
		if _, got := parsed(t, line).urls(); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

func TestWhatSGLangWouldNotRun(t *testing.T) {
	for line, want := range map[string]string{
		"--print-requests": "--print-requests goes with --backend sglang-oai-chat only",
		"--tokenize-prompt --backend sglang-native --dataset-name random": "--tokenize-prompt goes with --backend sglang only",
		"--tokenize-prompt": "--tokenize-prompt: not for --dataset-name sharegpt",
		"--backend trt":     "--backend trt needs --model",
		"--lora-request-distribution skewed --lora-name a": "--lora-request-distribution skewed needs two names or more in --lora-name",
		"--lora-zipf-alpha 1":                              "--lora-zipf-alpha 1.0: must be above 1",
		"--max-concurrency -1":                             "--max-concurrency -1: must not be negative; 0 is no limit",
		"--request-rate nan":                               "--request-rate nan: must be above 0",
		`--extra-request-body {"x":-Infinity}`:             "--extra-request-body: " + python.ErrUnreal.Error(),
		"--seed -1":                                        "--seed -1: must be between 0 and 2**32 - 1",
		"--dataset-name mooncake --backend sglang-native":  "--dataset-name mooncake goes with --backend sglang only",
		"--dataset-name agentic-trace":                     "--dataset-name agentic-trace has conversations of several turns: they need --backend sglang-oai-chat, vllm-chat or lmdeploy-chat",
		"--dataset-name openai":                            "--dataset-name openai holds messages: they need --backend sglang-oai-chat, vllm-chat or lmdeploy-chat",
		"--header a/b=1 =x y=":                             `--header "a/b": not a name that HTTP allows`,
	} {
		if err := parsed(t, line).Check(); err == nil || err.Error() != want {
			t.Errorf("%q: %v", line, err)
		}
	}
	if err := parsed(t, "--max-concurrency 0").Check(); err != nil {
		t.Error(err)
	}
}

// Conversations ask for usage, unless the command line says otherwise.
func TestUsageOfConversations(t *testing.T) {
	for line, want := range map[string]string{
		"": `{"include_usage":true}`,
		`--extra-request-body {"stream_options":{"include_usage":false}}`: `{"include_usage":false}`,
		`--extra-request-body {"stream_options":{"x":1}}`:                 `{"include_usage":true,"x":1}`,
		"--disable-stream": "",
	} {
		c, err := parsed(t, "--backend vllm-chat --dataset-name agentic-trace "+line).Compile(tool.Env{})
		if err != nil {
			t.Fatal(err)
		}
		var body map[string]json.RawMessage
		if err := json.Unmarshal(c.Spec.Request.Body, &body); err != nil || string(body["stream_options"]) != want {
			t.Errorf("%s: %s, %v", line, body["stream_options"], err)
		}
	}
}

func TestResultFileOfSGLang(t *testing.T) {
	day := time.Date(2026, 1, 9, 12, 0, 0, 0, time.Local)
	for line, want := range map[string]string{
		"":                                    "sglang_0109_1000_sharegpt.jsonl",
		"--dataset-name random-ids --num 3":   "sglang_0109_3_1024_1024.jsonl",
		"--dataset-name image --backend vllm": "vllm_0109_1000_1024_1024_1imgs_1080p.jsonl",
		"--output-file a/b --dataset-name random": "a/b",
	} {
		if got := parsed(t, line).ResultFile(day); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

func TestKeysOfSGLangsResult(t *testing.T) {
	common := "tag backend dataset_name request_rate max_concurrency sharegpt_output_len random_input_len random_output_len random_range_ratio server_info " +
		"duration completed total_input_tokens total_input_text_tokens total_input_vision_tokens total_output_tokens total_output_tokens_retokenized " +
		"request_throughput input_throughput output_throughput total_throughput"
	last := "concurrency accept_length max_output_tokens_per_s max_concurrent_requests"
	details := "input_lens output_lens ttfts itls generated_texts errors"
	statistics := func(suffixes string) (out string) {
		for _, metric := range []string{"e2e_latency", "ttft", "tpot"} {
			for s := range strings.FieldsSeq(suffixes) {
				out += " " + s + "_" + metric + "_ms"
			}
		}
		return out + " "
	}
	for line, want := range map[string]string{
		"": common + statistics("mean median std p90 p95 p99") + "mean_itl_ms median_itl_ms std_itl_ms p90_itl_ms p95_itl_ms p99_itl_ms " + last,
		"--goodput ttft:1 ttft:55 --cache-report --output-details": common + statistics("mean median std p90 p95 p99") + "mean_itl_ms median_itl_ms std_itl_ms p90_itl_ms p95_itl_ms p99_itl_ms " + last +
			" goodput_slos_ms request_goodput slo_attainment slo_attainment_by_metric cache_report " + details + " cached_tokens cached_tokens_details",
		"--dialect-version 2026-01 --output-details": common + statistics("mean median std p99") + "mean_itl_ms median_itl_ms std_itl_ms p95_itl_ms p99_itl_ms " + last + " " + details,
	} {
		tr := twoChats()
		c, err := parsed(t, line).Compile(tool.Env{})
		if err != nil {
			t.Fatal(err)
		}
		tr.Run.Plan.Dialect, tr.Run.Plan.Spec = "sglang", &c.Spec
		r, err := NewReport(tr, "")
		if err != nil {
			t.Fatal(err)
		}
		got := r.Result(json.RawMessage(`{"b": [1.0, 2e0, 10000000000000001], "a": {"é": null}}`))
		if diff := cmp.Diff(strings.Fields(want), topKeys(t, got)); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
		for _, part := range []string{`"request_rate": Infinity, "max_concurrency": null, `, `"server_info": {"b": [1.0, 2.0, 10000000000000001], "a": {"\u00e9": null}}, "duration": 2.0, "completed": 2, `} {
			if !strings.Contains(string(got), part) {
				t.Errorf("no %s in %s", part, got)
			}
		}
		if strings.Contains(line, "goodput") && !strings.Contains(string(got), `"goodput_slos_ms": {"ttft": 55.0}, "request_goodput": 0.5, "slo_attainment": 0.5, "slo_attainment_by_metric": {"ttft": 0.5}, `) {
			t.Errorf("%s", got)
		}
	}
}

// topKeys are the keys of an object in their order.
func topKeys(t *testing.T, object []byte) (keys []string) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(strings.NewReplacer("Infinity", "0", "NaN", "0").Replace(string(object))))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

func TestCommandLinesAreKeptWithoutSecrets(t *testing.T) {
	a := parsed(t, "--header A=1")
	got := a.Mask([]string{"--header", "A=secret", "B=more", "--model", "m", "--hea=C=x", "--extra-request-body", `{"api_key": "abc"}`, "--host", "h"})
	want := []string{"--header", "A=***", "B=***", "--model", "m", "--hea=C=***", "--extra-request-body", `{"api_key": "***"}`, "--host", "h"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSGLangStreams(t *testing.T) {
	for line, want := range map[string]bool{
		"": true, "--disable-stream": false, "--backend trt --model m --disable-stream": true, "--backend vllm-embedding": false,
	} {
		a, err := Parse(strings.Fields(line))
		if err != nil || a.Check() != nil || a.streams() != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}
