package profile

import "github.com/pitot-bench/pitot/internal/judge/figure"

// otherNames maps the names of servers' flags, and of older profiles, to fields.
func otherNames() map[string]string {
	return map[string]string{
		// vLLM
		"max_num_seqs": "scheduler.max_sequences", "max_num_batched_tokens": "scheduler.token_budget", "enable_chunked_prefill": "scheduler.whole_prompts, inverted",
		"long_prefill_token_threshold": "scheduler.chunk", "scheduling_policy": "scheduler.order", "block_size": "kv.block", "num_gpu_blocks": "kv.tokens, in tokens",
		"num_gpu_blocks_override": "kv.tokens, in tokens", "enable_prefix_caching": "kv.prefix_cache", "num_speculative_tokens": "speculative.drafts",
		"max_loras": "lora.slots", "lora_modules": "model.adapters", "data_parallel_size": "replicas.count", "served_model_name": "model.name", "api_server_count": "frontend.workers",
		"async_scheduling": "scheduler.async",
		// SGLang
		"max_running_requests": "scheduler.max_sequences", "max_prefill_tokens": "scheduler.token_budget", "chunked_prefill_size": "scheduler.chunk", "context_length": "max_model_len",
		"enable_mixed_chunk": "scheduler.mixed", "schedule_policy": "scheduler.order", "page_size": "kv.block", "max_total_tokens": "kv.tokens", "disable_radix_cache": "kv.prefix_cache, inverted",
		"speculative_num_draft_tokens": "speculative.drafts", "max_loras_per_batch": "lora.slots", "lora_paths": "model.adapters", "dp_size": "replicas.count",
		"disable_overlap_schedule": "scheduler.async, inverted",
		// Pitot
		"requests_per_second": figure.RequestThroughput, "output_per_second": figure.OutputThroughput, "peak_output_per_second": figure.PeakOutput, "peak_concurrency": figure.PeakConcurrency,
	}
}
