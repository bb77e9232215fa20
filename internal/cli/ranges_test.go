package cli

import (
	"strings"
	"testing"
)

// TestNumbersBeyondTheirRanges gives numbers that would fill the memory or never end: they
// are refused by their flag, before anything is made or sent.
func TestNumbersBeyondTheirRanges(t *testing.T) {
	const (
		sim    = "sim -q -n 3 "
		vllm   = "plan -- vllm bench serve --backend openai --dataset-name random --num-prompts 2 "
		sglang = "plan -- python -m sglang.bench_serving --backend sglang --dataset-name random-ids --num-prompts 2 "
		groups = "plan -- python -m sglang.bench_serving --backend sglang --dataset-name generated-shared-prefix "
		images = "plan -- python -m sglang.bench_serving --backend sglang-oai-chat --dataset-name image "
	)
	for _, c := range []struct{ line, want string }{
		{"sim -q -n 1000000000000000000", "--requests 1000000000000000000: must be at most 10000000"},
		{sim + "--input-len 1000000000000", "must be at most 16777216 tokens"},
		{sim + "--input-len uniform(1,1000000000)", "is above 16777216"},
		{sim + "--prefix-len 1000000000000000000", "--prefix-len 1000000000000000000: must be at least 0, and at most 16777216"},
		{"sim -q -n 10000000 --input-len 10000", "--input-len: 10000000 × 10000 make more than 17179869184 tokens"},
		{sim + "--vocab-size 1000000000000000000", "--vocab-size 1000000000000000000: must be at most 4194304"},
		{sim + "--rate 1e-300", "--rate 1e-300: must be at least 1e-07 requests per second"},
		{"sim -q -n 30 --rate 1e-7", "--rate: the last request would be due after"},
		{sim + "--rate NaN", `--rate "NaN": must be a number`},
		{sim + "--ramp linear:0..1e-300", "--ramp"},
		{sim + "--replay data --speed 1e-300", "--speed 1e-300: must be at least 1e-06"},
		{sim + "--workload chat --turns 1000000000", "is above 16777216"},
		{sim + "--workload chat --conversations 1000000000", "--conversations 1000000000: must be at most 10000000"},
		{sim + "--mix", "weight=1 workload=chat turns=16777216"},
		{sim + "--protocol chat --workload random-mm --image-sizes 60000x60000=1", "at most 33554432 pixels"},
		{sim + "-c 1000000000000000000", "--concurrency 1000000000000000000: must be at most 10000000"},
		{"bench -q -n 1 --procs 1000000000", "--procs 1000000000: must be at most 1024"},
		{"bench -q -n 1 --timeout 2000000h", "--timeout 2000000h0m0s: must be at most 8784h0m0s"},
		{vllm + "--random-input-len 1000000000", "--random-input-len 1000000000: must be at most 16777216"},
		{vllm + "--random-prefix-len 1000000000", "--random-prefix-len 1000000000: must be at most 16777216"},
		{vllm + "--request-rate 1e-300", "--request-rate 1e-300: must be at least 1e-07"},
		{vllm + "--probe-request-rate 1e300", "must be from 0 to 1e+06 requests per second"},
		{sglang + "--random-output-len 9223372036854775807", "--random-output-len 9223372036854775807: must be at most 16777216"},
		{sglang + "--request-rate 1e-300", "--request-rate 1e-300: must be at least 1e-07"},
		{groups + "--gsp-num-groups 10000000 --gsp-prompts-per-group 10000000", "10000000 × 10000000 × 1 make more than 10000000 requests"},
		{images + "--image-count 1000 --image-resolution 4k", "make more than 268435456 pixels in a request"},
	} {
		args := strings.Fields(c.line)
		if args[len(args)-1] == "--mix" {
			args, c.want = append(args, c.want), "the conversations have more than 10000000 turns"
		}
		p, stdout, stderr := process(t, nil, args...)
		if code := Run(p); code != exitUsage || !strings.Contains(stderr.String()+stdout.String(), c.want) {
			t.Errorf("%s: exit code %d, want %q\n%s%s", c.line, code, c.want, stdout, stderr)
		}
	}
}
