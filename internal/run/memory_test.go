package run

import (
	"testing"

	"github.com/pitot-bench/pitot/internal/wire/exposition"
)

func TestCacheConfig(t *testing.T) {
	for text, want := range map[string][2]int{
		"": {},
		`vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="1000"} 1` + "\n":                                         {16, 16000},
		`vllm:cache_config_info{block_size="16",num_gpu_blocks="None"} 1` + "\n":                                                    {16, 0},
		`vllm:cache_config_info{block_size="-1",num_gpu_blocks="99999999999999999999"} 1` + "\n":                                    {},
		"# TYPE sglang:max_total_num_tokens gauge\nsglang:max_total_num_tokens{model_name=\"m\"} 409600\n":                          {0, 409600},
		"# TYPE sglang:max_total_num_tokens gauge\nsglang:max_total_num_tokens{model_name=\"m\"} NaN\nsglang:num_used_tokens 1e5\n": {},
	} {
		page, err := exposition.Parse(t.Context(), "", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if block, tokens := cacheConfig(page.Samples); block != want[0] || tokens != want[1] {
			t.Errorf("%s: %d, %d, not %v", text, block, tokens, want)
		}
	}
}
