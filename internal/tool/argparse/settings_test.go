package argparse

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

func TestPlanOfSettings(t *testing.T) {
	for _, tt := range []struct {
		tool     string
		settings string
		want     trace.Plan
	}{
		{"sglang", "dataset_name=random random_input_len=10 random_output_len=5 random_range_ratio=0.5 num_prompts=8 request_rate=inf", trace.Plan{
			Dialect: "sglang", Stream: true, Requests: 8, Workload: "random 10→5 tokens from 50 % of that, 8 requests", Arrival: "all at once",
		}},
		{"sglang", "backend=sglang-oai base_url=https://u:p@h/x?key=1 dataset_name=sharegpt dataset_path=a.json request_rate=2.0 disable_stream=True", trace.Plan{
			Dialect: "sglang", URL: "https://h/x", Protocol: "completions", Workload: "sharegpt a.json", Arrival: "Poisson 2 req/s", Rate: 2,
		}},
		{"vllm", "ramp_up_strategy=linear ramp_up_start_rps=1 ramp_up_end_rps=9 request_rate=inf burstiness=0.5", trace.Plan{
			Dialect: "vllm", Stream: true, Ramp: true, Arrival: "gamma (burstiness 0.5), linear:1..9 req/s by position",
		}},
		{"vllm", "dataset_name=random input_len=7 random_input_len=1024 random_output_len=2 random_range_ratio=0.2", trace.Plan{
			Dialect: "vllm", Stream: true, Workload: "random 7→2 tokens ±20 %",
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
