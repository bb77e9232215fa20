package vllm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestEveryBackendIsKnown(t *testing.T) {
	for _, name := range backends {
		b, ok := backendsByName[name]
		if !ok || b.protocol == "" || len(b.routes) == 0 {
			t.Errorf("%s: %+v", name, b)
		}
		if silent := (trace.Load{Protocol: b.protocol}).Silent(); silent != b.pooling {
			t.Errorf("%s pools: %v, and its protocol has no text: %v", name, b.pooling, silent)
		}
	}
	for protocol, want := range map[string]string{
		"completions": "openai", "chat": "openai-chat", "responses": "openai-responses", "embeddings": "openai-embeddings",
		"rerank": "vllm-rerank", "transcription": "openai-audio", "generate": "openai",
	} {
		if got := backendOf(protocol); got != want {
			t.Errorf("%s is of backend %s, want %s", protocol, got, want)
		}
	}
}

func TestFieldsOfBackends(t *testing.T) {
	for _, tt := range []struct {
		args, want string
		eos        bool
	}{
		{"--temperature 0.5", `{"repetition_penalty":1,"logprobs":null,"temperature":0.5}`, true},
		{"--backend openai-chat --top-k 3", `{"top_k":3}`, true},
		{"--backend openai-responses --temperature 0", `{"store":false,"temperature":0}`, true},
		{`--backend openai-embeddings --temperature 0 --ignore-eos --extra-body {"x":1}`, `{"truncate_prompt_tokens":-1,"ignore_eos":true,"x":1}`, false},
		{`--backend vllm-pooling --extra-body {"truncate_prompt_tokens":5}`, `{"truncate_prompt_tokens":5}`, false},
		{"--backend infinity-embeddings", `{}`, false},
		{`--backend vllm-rerank --ignore-eos --extra-body {"x":1}`, `{"truncate_prompt_tokens":-1}`, false},
		{`--backend openai-audio --ignore-eos --extra-body {"x":true,"language":"de"}`, `{"language":"de","response_format":null,"stream":"True","stream_include_usage":"True","stream_continuous_usage_stats":"True","ignore_eos":"True","x":"True"}`, false},
	} {
		a := parse(t, tt.args)
		fields, err := a.extraFields()
		if err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(fields)
		var got, want any
		_, _ = json.Unmarshal(b, &got), json.Unmarshal([]byte(tt.want), &want)
		if diff := cmp.Diff(want, got); diff != "" || a.asksIgnoreEOS() != tt.eos {
			t.Errorf("%s: ignore_eos %v\n%s", tt.args, a.asksIgnoreEOS(), diff)
		}
	}
}

func TestBackendsAndTheirRoutes(t *testing.T) {
	for args, want := range map[string]string{
		"--backend openai-embeddings --endpoint /v1/embeddings":                                           "",
		"--backend vllm-pooling --endpoint /pooling":                                                      "",
		"--backend openai-responses --endpoint /v1/responses":                                             "",
		"--backend openai-embeddings":                                                                     `needs an --endpoint that ends in "embeddings", not "/v1/completions"`,
		"--backend openai-audio --endpoint /v1/audio --dataset-name custom --dataset-path x.jsonl":        `ends in "transcriptions" or "translations"`,
		"--backend openai-audio --endpoint /v1/audio/transcriptions":                                      "--dataset-name random has none; use custom_audio or hf",
		"--backend openai-audio --endpoint /v1/audio/transcriptions --top-p 0.5":                          "--top-p: --backend openai-audio takes no sampling parameters",
		"--backend vllm-rerank --endpoint /v1/rerank":                                                     "--dataset-name random has none; use random-rerank",
		"--backend vllm-rerank --endpoint /v1/rerank --dataset-name random-rerank --probe-request-rate 1": "a probe is a text",
		"--backend openai --endpoint /v1/chat/completions":                                                "use --backend openai-chat",
	} {
		err := parse(t, args).Check()
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", args, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// The rows and the members of a run without text, as vLLM 0.33 has them.
func TestPoolingReport(t *testing.T) {
	args := []string{"--backend", "openai-embeddings", "--endpoint", "/v1/embeddings", "--max-concurrency", "2", "--save-detailed"}
	a, err := Parse(args, "x-")
	if err != nil {
		t.Fatal(err)
	}
	tr := &trace.Trace{Run: trace.Run{End: 2e9, Plan: trace.Load{Dialect: "vllm", Protocol: "embeddings", Requests: 3, Spec: compiled(t, a)}}}
	for i := range 3 {
		r := trace.NewRecord(i)
		r.Due, r.Released, r.Sent, r.Done = 0, 0, 0, trace.Instant(i+1)*1e8
		r.Inputs, r.PromptTokens, r.Usage.Prompt = 4, 99, 10
		r.Chunks = []trace.Chunk{{At: r.Done, Kind: trace.Bare}}
		if i == 2 {
			r.Class, r.Error = trace.HTTP, "no"
		}
		tr.Records = append(tr.Records, r)
	}
	report, err := NewReport(tr, "")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := report.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	want := `============ Serving Benchmark Result ============
Successful requests:                     2         
Failed requests:                         1         
Maximum request concurrency:             2         
Benchmark duration (s):                  2.00      
Total input tokens:                      20        
Request throughput (req/s):              1.00      
Input throughput (inputs/s):             4.00      
Total token throughput (tok/s):          10.00     
----------------End-to-end Latency----------------
Mean E2EL (ms):                          150.00    
Median E2EL (ms):                        150.00    
P99 E2EL (ms):                           199.00    
==================================================
`
	if diff := cmp.Diff(want, table.String()); diff != "" {
		t.Error(diff)
	}
	var names []string
	for _, m := range members(t, report.Result()) {
		names = append(names, m.name)
	}
	members := "date endpoint_type backend label model_id tokenizer_id num_prompts request_rate burstiness max_concurrency duration completed " +
		"total_input_tokens total_input_sequences request_throughput input_sequence_throughput total_token_throughput " +
		"input_lens latencies queue_times errors mean_e2el_ms median_e2el_ms std_e2el_ms p99_e2el_ms"
	if diff := cmp.Diff(strings.Fields(members), names); diff != "" {
		t.Error(diff)
	}
}
