package cli

import (
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/test/race"
)

// TestNumbersBeyondTheirRanges gives numbers that would fill the memory or never end: they
// are refused by their flags, before anything is made or sent.
func TestNumbersBeyondTheirRanges(t *testing.T) {
	race.Skip(t)
	const (
		sim    = "sim -q -n 3 "
		vllm   = "plan -- vllm bench serve --backend openai --dataset-name random --num-prompts 2 "
		sglang = "plan -- python -m sglang.bench_serving --backend sglang --num-prompts 2 "
	)
	for line, wants := range map[string][]string{
		"sim -q -n 1000000000000000000 --vocab-size 1000000000000000000 -c 1000000000000000000 --prefix-len 1000000000000000000 --rate 1e-300": {
			"--requests 1000000000000000000: must be at most 10000000", "--vocab-size 1000000000000000000: must be at most 4194304",
			"--concurrency 1000000000000000000: must be at most 10000000", "--prefix-len 1000000000000000000: must be at least 0, and at most 16777216",
			"--rate 1e-300: must be at least 1e-07 requests per second",
		},
		sim + "--input-len 1000000000000 --output-len uniform(1,1000000000)": {"must be at most 16777216 tokens", "is above 16777216"},
		"sim -q -n 10000000 --input-len 10000":                               {"--input-len: 10000000 × 10000 make more than 17179869184 tokens"},
		"sim -q -n 30 --rate 1e-7":                                           {"--rate: the last request would be due after"},
		sim + "--replay data --speed 1e-300":                                 {"--speed 1e-300: must be at least 1e-06"},
		sim + "--workload chat --conversations 1000000000":                   {"--conversations 1000000000: must be at most 10000000"},
		"bench -q -n 1 --procs 1000000000 --timeout 2000000h --protocol chat --workload random-mm --image-sizes 60000x60000=1": {
			"--procs 1000000000: must be at most 1024", "--timeout 2000000h0m0s: must be at most 8784h0m0s", "at most 33554432 pixels",
		},
		vllm + "--random-input-len 1000000000 --random-prefix-len 1000000000": {
			"--random-input-len 1000000000: must be at most 16777216", "--random-prefix-len 1000000000: must be at most 16777216",
		},
		vllm + "--request-rate 1e-300 --probe-request-rate 1e300": {"--request-rate 1e-300: must be at least 1e-07", "must be from 0 to 1e+06 requests per second"},
		sglang + "--dataset-name random-ids --random-output-len 9223372036854775807": {
			"--random-output-len 9223372036854775807: must be at most 16777216",
		},
		sglang + "--dataset-name generated-shared-prefix --gsp-num-groups 10000000 --gsp-prompts-per-group 10000000": {
			"10000000 × 10000000 × 1 make more than 10000000 requests",
		},
	} {
		refused(t, strings.Fields(line), wants)
	}
	refused(t, []string{"sim", "-q", "-n", "3", "--mix", "weight=1 workload=chat turns=16777216"}, []string{"the conversations have more than 10000000 turns"})
}

// refused runs a command line that is the user's mistake.
func refused(t *testing.T, args, wants []string) {
	t.Helper()
	sess, stdout, stderr := process(t, nil, args...)
	if code := Run(sess); code != exitUsage {
		t.Errorf("%s: exit code %d\n%s", args, code, stdout)
	}
	for _, want := range wants {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: want %q\n%s", args, want, stderr)
		}
	}
}
