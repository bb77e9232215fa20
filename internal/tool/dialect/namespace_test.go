package dialect

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestReadNamespace(t *testing.T) {
	text := `Namespace(backend='sglang', base_url=None, model='it\'s "a\\b"\x41\u00e9\n', rate=inf, ratio=0.25, n=-3, ` +
		`stages=['CPU', "G,P)U"], range=(1, 2), body={'a': [1, {'b': ')'}]}, run=<function f.<locals>.g at 0x7f>, ` +
		`header=['Authorization=Bearer x'], hf_token='abc', tokenizer='t', tag="it's") and more`
	got, rest, err := ReadNamespace(text)
	if err != nil || rest != " and more" {
		t.Fatalf("%v, rest %q", err, rest)
	}
	want := map[string]string{
		"backend": "sglang", "base_url": "None", "model": `it's "a\b"Aé` + "\n", "rate": "inf", "ratio": "0.25", "n": "-3",
		"stages": `['CPU', "G,P)U"]`, "range": "(1, 2)", "body": `{'a': [1, {'b': ')'}]}`, "run": "<function f.<locals>.g at 0x7f>",
		"header": "***", "hf_token": "***", "tokenizer": "t", "tag": "it's",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, cut := range []string{"Namespace(", "Namespace(a=1, b", "Namespace(a='x", "Namespace(a=[1, 2", `Namespace(a='\`} {
		if _, _, err := ReadNamespace(cut); !errors.Is(err, ErrCut) {
			t.Errorf("%s: %v", cut, err)
		}
	}
	for _, bad := range []string{"Namespace", "Namespace(a=1])", "Namespace(not a name=1)"} {
		if _, _, err := ReadNamespace(bad); err == nil || errors.Is(err, ErrCut) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// The printout of Pitot's own vllm command line reads back.
func TestNamespaceReadsBack(t *testing.T) {
	args := []string{"--model", "a'b", "--request-rate", "4", "--max-concurrency", "16", "--goodput", "ttft:200", "tpot:50.5", "--header", "K=secret", "--seed", "7", "--backend", "openai-chat"}
	a, err := ParseVLLM(args, "bench-")
	if err != nil {
		t.Fatal(err)
	}
	s, rest, err := ReadNamespace(a.Namespace())
	if err != nil || rest != "" || strings.Contains(s["header"], "secret") {
		t.Fatalf("%v, rest %q, %v", err, rest, s)
	}
	want := trace.Plan{
		Dialect: "vllm", URL: "http://127.0.0.1:8000", Protocol: "chat", Model: "a'b", Stream: true, Workload: plan.Text("random 1024→128 tokens, 1000 requests"),
		Requests: 1000, Seed: 7, Arrival: plan.Text("Poisson 4 req/s, stretched to end at 250 s"), Rate: 4, Concurrency: 16, Percentiles: []float64{99},
		Objectives: []trace.SLO{{Metric: "ttft", Limit: 200 * time.Millisecond}, {Metric: "tpot", Limit: 50500 * time.Microsecond}},
	}
	if diff := cmp.Diff(want, Settings(s).Plan("vllm")); diff != "" {
		t.Error(diff)
	}
}

func TestPlanOfSettings(t *testing.T) {
	for _, tt := range []struct {
		tool     string
		settings string
		want     trace.Plan
	}{
		{"sglang", "dataset_name=random random_input_len=10 random_output_len=5 random_range_ratio=0.5 num_prompts=8 request_rate=inf", trace.Plan{
			Dialect: "sglang", Stream: true, Requests: 8, Workload: plan.Text("random 10→5 tokens from 50 % of that, 8 requests"), Arrival: plan.Text("all at once"),
		}},
		{"sglang", "backend=sglang-oai base_url=https://u:p@h/x?key=1 dataset_name=sharegpt dataset_path=a.json request_rate=2.0 disable_stream=True", trace.Plan{
			Dialect: "sglang", URL: "https://h/x", Protocol: "completions", Workload: plan.Text("sharegpt a.json"), Arrival: plan.Text("Poisson 2 req/s"), Rate: 2,
		}},
		{"vllm", "ramp_up_strategy=linear ramp_up_start_rps=1 ramp_up_end_rps=9 request_rate=inf burstiness=0.5", trace.Plan{
			Dialect: "vllm", Stream: true, Ramp: true, Arrival: plan.Text("gamma (burstiness 0.5), linear:1..9 req/s by position"),
		}},
		{"vllm", "dataset_name=random input_len=7 random_input_len=1024 random_output_len=2 random_range_ratio=0.2", trace.Plan{
			Dialect: "vllm", Stream: true, Workload: plan.Text("random 7→2 tokens ±20 %"),
		}},
	} {
		s := Settings{}
		for pair := range strings.FieldsSeq(tt.settings) {
			name, value, _ := strings.Cut(pair, "=")
			s[name] = value
		}
		if diff := cmp.Diff(tt.want, s.Plan(tt.tool)); diff != "" {
			t.Errorf("%s: %s", tt.settings, diff)
		}
	}
}

func TestMask(t *testing.T) {
	for text, want := range map[string]string{
		`vllm bench serve --header Authorization="Bearer abc" --seed 1`: `vllm bench serve --header Authorization="***" --seed 1`,
		"--header X-Team=s3cret --tokenizer t":                          "--header X-Team=*** --tokenizer t",
		"vllm serve m --api-key sk-1 --port 1":                          "vllm serve m --api-key *** --port 1",
		"OPENAI_API_KEY=sk-1 vllm bench serve":                          "OPENAI_API_KEY=*** vllm bench serve",
		`{"api_key": "sk-1", "n": 2}`:                                   `{"api_key": "***", "n": 2}`,
		"curl http://u:p@h/v1 -H 'Authorization: Bearer abc'":           "curl http://h/v1 -H 'Authorization: ***'",
		"#Input tokens: 5376000":                                        "#Input tokens: 5376000",
		"--max-concurrency 16 --tokenizer org/t":                        "--max-concurrency 16 --tokenizer org/t",
	} {
		if got := Mask(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func FuzzReadNamespace(f *testing.F) {
	f.Add(`Namespace(a='it\'s', b=[1, {'c': (2,)}], d=<f at 0x7>, e=inf)rest`)
	f.Add(`Namespace(a="\x41\u00e9\U0001f600`)
	f.Fuzz(func(t *testing.T, text string) {
		settings, rest, err := ReadNamespace(text)
		if !strings.HasSuffix(text, rest) {
			t.Errorf("%q is no end of %q", rest, text)
		}
		if err == nil && len(settings) > strings.Count(text, "=") {
			t.Errorf("%d settings in %q", len(settings), text)
		}
		Settings(settings).Plan("vllm")
		Settings(settings).Plan("sglang")
	})
}
