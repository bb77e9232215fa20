package cli

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for line, want := range map[string]foreignClient{
		"vllm bench serve | --model m":                                         clientVLLM,
		"vllm bench sweep serve | --dry-run":                                   clientVLLMSweep,
		"vllm-rs bench serve | --num-prompts 1":                                clientVLLMRust,
		"vllm-bench | --num-prompts 1":                                         clientVLLMRust,
		"python -m vllm.entrypoints.cli.main bench serve | --model m":          clientVLLM,
		"python3 -u -m vllm.entrypoints.cli.main bench sweep serve | -o x":     clientVLLMSweep,
		"python benchmarks/benchmark_serving.py | --backend vllm":              clientVLLM,
		"python3 /vllm-workspace/benchmarks/benchmark_serving.py | --port 1":   clientVLLM,
		"/opt/venv/bin/vllm bench serve | --port 1":                            clientVLLM,
		"sglang bench_serving | ":                                              clientSGLang,
		"sglang bench-serving | --port 1":                                      clientSGLang,
		"python -msglang.bench_serving | --port 1":                             clientSGLang,
		"python3 -X dev -m sglang.bench_serving":                               -1, // dev is a script
		"python3 -u -B -m sglang.benchmark.serving | --backend sglang -m x":    clientSGLang,
		"python /sgl-workspace/sglang/python/sglang/bench_serving.py | --pd x": clientSGLang,
		"vllm | --help":              clientVLLM,
		"vllm bench --help":          clientVLLM,
		"vllm-rs | --help":           clientVLLM,
		"sglang | -h":                clientSGLang,
		"python | --help":            clientSGLang,
		"python | -h":                clientSGLang,
		"vllm bench latency":         -1,
		"vllm":                       -1,
		"vllm-rs serve":              -1,
		"sglang serve --help-me":     -1,
		"python":                     -1,
		"python -c pass":             -1,
		"python -m vllm.entrypoints": -1,
	} {
		called, flags, _ := strings.Cut(line, " | ")
		l, err := foreignLineOf(strings.Fields(called + " " + flags))
		if want < 0 {
			if err == nil || !strings.Contains(err.Error(), "it knows pitot ") {
				t.Errorf("%s: %v, %v", line, l, err)
			}
			continue
		}
		if err != nil || l.foreignClient != want {
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
