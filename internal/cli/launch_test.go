package cli

import (
	"strings"
	"testing"
)

func TestLaunchersAreLeftOut(t *testing.T) {
	for text, want := range map[string]string{
		"vllm bench serve -x":                                           "vllm bench serve -x",
		"A=b C=d vllm bench serve":                                      "vllm bench serve",
		"env A=b nohup python3 -m sglang.bench_serving":                 "python3 -m sglang.bench_serving",
		"taskset -c 0-3 vllm bench serve":                               "vllm bench serve",
		"taskset 0xf vllm bench serve":                                  "vllm bench serve",
		"numactl -C 0-3 --membind=0 vllm bench serve":                   "vllm bench serve",
		"docker exec -it -e A=b c1 /usr/bin/vllm bench serve":           "/usr/bin/vllm bench serve",
		"sudo docker exec c1 vllm bench serve":                          "vllm bench serve",
		"kubectl exec -it pod -n ns -- python3 -m sglang.bench_serving": "python3 -m sglang.bench_serving",
		"uv run vllm bench serve":                                       "vllm bench serve",
		"bench --url http://127.0.0.1:1":                                "bench --url http://127.0.0.1:1",
		"env":                                                           "env",
		"env diff a b":                                                  "env diff a b",
		"docker ps":                                                     "docker ps",
		"taskset":                                                       "taskset",
		"kubectl exec pod vllm":                                         "kubectl exec pod vllm",
		"A=b bench":                                                     "A=b bench",
		"compare a b -- vllm":                                           "compare a b -- vllm",
	} {
		line, launched := unlaunched(strings.Fields(text))
		if got := strings.Join(line, " "); got != want || len(line)+len(launched) != len(strings.Fields(text)) {
			t.Errorf("%s: %s after %q, want %s", text, got, launched, want)
		}
	}
}

func TestNearestLine(t *testing.T) {
	for text, want := range map[string]string{
		"evalscope perf --url http://h:1/v1/chat/completions --model m --parallel 5 -n 200":      "pitot bench --url http://h:1 --protocol chat --model m --concurrency 5 -n 200",
		"evalscope perf --url https://h/x/v1/completions --rate -1 --min-prompt-length 8":        "pitot bench --url https://h/x --protocol completions --input-len 8",
		"evalscope perf --rate=2 --max-prompt-length 64 --min-prompt-length 64 --dataset openqa": "pitot bench --rate 2 --input-len 64\nwithout --dataset",
		"evalscope perf --parallel 1 10 50 --api-key k3y":                                        "pitot bench --concurrency 1\nwithout --api-key, 10, 50",
		"python -m x":           "",
		"vllm bench serve":      "",
		"evalscope eval --x":    "",
		"ais_bench --mode perf": "pitot bench --url http://HOST:PORT",
	} {
		err := notOurs(strings.Fields(text))
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", text, err, want)
		case err != nil && strings.Contains(err.Error(), "k3y"):
			t.Errorf("%s: the key is shown: %v", text, err)
		}
	}
}
