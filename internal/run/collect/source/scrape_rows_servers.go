package source

import "github.com/pitot-bench/pitot/internal/record/telemetry"

// servers are the series of serving programs and routers. Names are those of:
//
//	vLLM 0.10 to main of mid-2026       vllm/v1/metrics/loggers.py; prompt_tokens_by_source from 0.15
//	production-stack 0.1.12             src/vllm_router/services/metrics_service
//	SGLang main of mid-2026             python/sglang/srt/observability/metrics_collector.py
//	sglang-router 0.3.2                 its output (testdata); /engine_metrics has its workers' series
//	llama.cpp, server of mid-2026       tools/server/README.md, and output of xllamacpp 2026.10.11549
//	text-generation-inference 3.3.7     metrics::...! in router and backends
//	Triton 2.73                         docs/user_guide/metrics.md
//
// Series of vLLM with gpu_ are those of 0.10 and older, and of routers; vllm:input_tokens_total and
// vllm:output_tokens_total are those of production-stack's router. SGLang may print the same number for each rank
// of a tensor-parallel group, so that the largest counts and not the sum; with priorities, the series without one
// is the total.
var servers = []Row{
	{Foreign: "vllm:num_requests_running", Name: telemetry.ServerRunning, Labels: replica},
	{Foreign: "vllm:num_requests_waiting", Name: telemetry.ServerWaiting, Labels: replica},
	{Foreign: "vllm:kv_cache_usage_perc", Name: telemetry.ServerKVUse, Labels: replica, Fold: Most},
	{Foreign: "vllm:gpu_cache_usage_perc", Name: telemetry.ServerKVUse, Labels: replica, Fold: Most}, // until 0.10
	{Foreign: "vllm:cache_config_info", Name: telemetry.ServerKVTokens, Labels: replica, Form: Cache},
	{Foreign: "vllm:prefix_cache_queries_total", Name: telemetry.ServerCacheQueries, Labels: replica},
	{Foreign: "vllm:gpu_prefix_cache_queries_total", Name: telemetry.ServerCacheQueries, Labels: replica},
	{Foreign: "vllm:prefix_cache_hits_total", Name: telemetry.ServerCacheHits, Labels: replica},
	{Foreign: "vllm:gpu_prefix_cache_hits_total", Name: telemetry.ServerCacheHits, Labels: replica},
	{Foreign: "vllm:gpu_prefix_cache_hit_rate", Name: telemetry.ServerCacheHitRate, Labels: replica, Fold: Most},
	{Foreign: "vllm:num_preemptions_total", Name: telemetry.ServerPreemptions, Labels: replica},
	{Foreign: "vllm:spec_decode_num_drafts_total", Name: telemetry.ServerDrafts, Labels: replica},
	{Foreign: "vllm:spec_decode_num_draft_tokens_total", Name: telemetry.ServerDraftTokens, Labels: replica},
	{Foreign: "vllm:spec_decode_num_accepted_tokens_total", Name: telemetry.ServerAccepted, Labels: replica},
	{Foreign: "vllm:prompt_tokens_total", Name: telemetry.ServerPromptTokens, Labels: replica},
	{Foreign: "vllm:input_tokens_total", Name: telemetry.ServerPromptTokens, Labels: replica},
	{Foreign: "vllm:generation_tokens_total", Name: telemetry.ServerOutputTokens, Labels: replica},
	{Foreign: "vllm:output_tokens_total", Name: telemetry.ServerOutputTokens, Labels: replica},
	{Foreign: "vllm:iteration_tokens_total_count", Name: telemetry.ServerSteps, Labels: replica},
	{Foreign: "vllm:prompt_tokens_by_source_total", Name: telemetry.ServerStepPrefill, Labels: replica, Only: "source=local_compute"},
	{Foreign: "vllm:generation_tokens_total", Name: telemetry.ServerStepDecode, Labels: replica},
	{Foreign: "vllm:request_success_total", Name: telemetry.ServerFinished, Labels: replica + " finished_reason=reason"},

	{Foreign: "sglang:num_running_reqs", Name: telemetry.ServerRunning, Labels: rank, Only: total, Fold: Most},
	{Foreign: "sglang:num_queue_reqs", Name: telemetry.ServerWaiting, Labels: rank, Only: total, Fold: Most},
	{Foreign: "sglang:token_usage", Name: telemetry.ServerKVUse, Labels: rank, Only: total, Fold: Most},
	{Foreign: "sglang:max_total_num_tokens", Name: telemetry.ServerKVTokens, Labels: rank, Only: total, Fold: Most, Form: Positive},
	{Foreign: "sglang:cache_hit_rate", Name: telemetry.ServerCacheHitRate, Labels: rank, Only: total, Fold: Most},
	{Foreign: "sglang:realtime_tokens_total", Name: telemetry.ServerCacheHits, Labels: rank, Only: total + " mode=prefill_cache", Fold: Most},
	{Foreign: "sglang:realtime_tokens_total", Name: telemetry.ServerCacheQueries, Labels: rank, Only: total + " mode=prefill_cache", Fold: Most, Term: true},
	{Foreign: "sglang:realtime_tokens_total", Name: telemetry.ServerCacheQueries, Labels: rank, Only: total + " mode=prefill_compute", Fold: Most, Term: true},
	{Foreign: "sglang:cached_tokens_total", Name: telemetry.ServerCacheHits, Labels: rank, Else: true},
	{Foreign: "sglang:num_retracted_requests_total", Name: telemetry.ServerPreemptions, Labels: rank, Only: total, Fold: Most},
	{Foreign: "sglang:prompt_tokens_total", Name: telemetry.ServerPromptTokens, Labels: rank},
	{Foreign: "sglang:generation_tokens_total", Name: telemetry.ServerOutputTokens, Labels: rank},
	{Foreign: "sglang:realtime_tokens_total", Name: telemetry.ServerStepPrefill, Labels: rank, Only: total + " mode=prefill_compute", Fold: Most},
	{Foreign: "sglang:realtime_tokens_total", Name: telemetry.ServerStepDecode, Labels: rank, Only: total + " mode=decode", Fold: Most},
	{Foreign: "sglang:num_requests_total", Name: telemetry.ServerFinished, Labels: rank},

	{Foreign: "smg_worker_requests_active", Name: telemetry.ServerRunning, Labels: "worker"},
	{Foreign: "smg_router_tokens_total", Name: telemetry.ServerPromptTokens, Only: "token_type!=output"},
	{Foreign: "smg_router_tokens_total", Name: telemetry.ServerOutputTokens, Only: "token_type!=input"},

	{Foreign: "llamacpp:requests_processing", Name: telemetry.ServerRunning},
	{Foreign: "llamacpp:requests_deferred", Name: telemetry.ServerWaiting},
	{Foreign: "llamacpp:kv_cache_usage_ratio", Name: telemetry.ServerKVUse, Fold: Most}, // until 2025
	{Foreign: "llamacpp:prompt_tokens_cached_total", Name: telemetry.ServerCacheHits},
	{Foreign: "llamacpp:prompt_tokens_total", Name: telemetry.ServerCacheQueries, Term: true},
	{Foreign: "llamacpp:prompt_tokens_cached_total", Name: telemetry.ServerCacheQueries, Term: true},
	{Foreign: "llamacpp:prompt_tokens_total", Name: telemetry.ServerPromptTokens},
	{Foreign: "llamacpp:tokens_predicted_total", Name: telemetry.ServerOutputTokens},
	{Foreign: "llamacpp:n_decode_total", Name: telemetry.ServerSteps},
	{Foreign: "llamacpp:prompt_tokens_total", Name: telemetry.ServerStepPrefill},
	{Foreign: "llamacpp:tokens_predicted_total", Name: telemetry.ServerStepDecode},
	{Foreign: "llamacpp:spec_decode_num_drafts_total", Name: telemetry.ServerDrafts},
	{Foreign: "llamacpp:spec_decode_num_draft_tokens_total", Name: telemetry.ServerDraftTokens},
	{Foreign: "llamacpp:spec_decode_num_accepted_tokens_total", Name: telemetry.ServerAccepted},

	{Foreign: "tgi_batch_current_size", Name: telemetry.ServerRunning},
	{Foreign: "tgi_queue_size", Name: telemetry.ServerWaiting},
	{Foreign: "tgi_batch_max_total_tokens", Name: telemetry.ServerKVTokens, Form: Positive},
	{Foreign: "tgi_request_input_length_sum", Name: telemetry.ServerPromptTokens},
	{Foreign: "tgi_request_generated_tokens_sum", Name: telemetry.ServerOutputTokens},
	{Foreign: "tgi_batch_inference_count", Name: telemetry.ServerSteps},
	{Foreign: "tgi_request_success", Name: telemetry.ServerFinished},

	{Foreign: "nv_inference_pending_request_count", Name: telemetry.ServerWaiting, Labels: "model version"},
	{Foreign: "nv_inference_exec_count", Name: telemetry.ServerSteps, Labels: "model version"},
	{Foreign: "nv_inference_request_success", Name: telemetry.ServerFinished, Labels: "model version +reason=success"},
	{Foreign: "nv_inference_request_failure", Name: telemetry.ServerFinished, Labels: "model version +reason=failure"},
}

// Labels of replicas of an engine and of those behind a router, of ranks of SGLang; and which of
// SGLang's series are totals.
const (
	replica = "engine=replica worker_addr=worker server=worker"
	rank    = "dp_rank=replica worker_addr=worker"
	total   = "priority="
)
