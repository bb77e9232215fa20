package foreign

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for line, want := range map[string]Client{
		"vllm bench serve | --model m":                                         VLLM,
		"vllm bench sweep serve | --dry-run":                                   VLLMSweep,
		"vllm-rs bench serve | --num-prompts 1":                                VLLMRust,
		"vllm-bench | --num-prompts 1":                                         VLLMRust,
		"python -m vllm.entrypoints.cli.main bench serve | --model m":          VLLM,
		"python3 -u -m vllm.entrypoints.cli.main bench sweep serve | -o x":     VLLMSweep,
		"python benchmarks/benchmark_serving.py | --backend vllm":              VLLM,
		"python3 /vllm-workspace/benchmarks/benchmark_serving.py | --port 1":   VLLM,
		"/opt/venv/bin/vllm bench serve | --port 1":                            VLLM,
		"sglang bench_serving | ":                                              SGLang,
		"sglang bench-serving | --port 1":                                      SGLang,
		"python -msglang.bench_serving | --port 1":                             SGLang,
		"python3 -X dev -m sglang.bench_serving":                               -1, // dev is a script
		"python3 -u -B -m sglang.benchmark.serving | --backend sglang -m x":    SGLang,
		"python /sgl-workspace/sglang/python/sglang/bench_serving.py | --pd x": SGLang,
		"vllm | --help":              VLLM,
		"vllm bench --help":          VLLM,
		"vllm-rs | --help":           VLLM,
		"sglang | -h":                SGLang,
		"python | --help":            SGLang,
		"python | -h":                SGLang,
		"vllm bench latency":         -1,
		"vllm":                       -1,
		"vllm-rs serve":              -1,
		"sglang serve --help-me":     -1,
		"python":                     -1,
		"python -c pass":             -1,
		"python -m vllm.entrypoints": -1,
	} {
		called, flags, _ := strings.Cut(line, " | ")
		l, err := Of(strings.Fields(called + " " + flags))
		if want < 0 {
			if err == nil || !strings.Contains(err.Error(), "it knows pitot ") {
				t.Errorf("%s: %v, %v", line, l, err)
			}
			continue
		}
		if err != nil || l.Client != want {
			t.Errorf("%s: %v, %v", line, l, err)
		}
		if strings.Contains(flags, "-h") || strings.Contains(called, "--help") {
			continue
		}
		if got := strings.Join(l.Called, " "); got != called || strings.Join(l.Flags, " ") != strings.TrimSpace(flags) {
			t.Errorf("%s: called %q with %q", line, got, l.Flags)
		}
	}
}
