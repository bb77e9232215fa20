package vllm

import "github.com/pitot-bench/pitot/internal/plan"

// The descriptions of workloads, and the notes on them.
const (
	loadPrefixes plan.Code = "load.prefixes"     // prefixes, prefix, suffix, output
	soundsAsIs   plan.Code = "vllm.sounds-as-is" // sounds, kind
	toolsLeftOut plan.Code = "vllm.tools-not-counted"
	shortPrompts plan.Code = "vllm.short-prompts" // short, of
)
