package vllm

import "github.com/pitot-bench/pitot/internal/plan"

// What is sent, and what is noticed of it.
const (
	loadPrefixes plan.Code = "load.prefixes"     // prefixes, prefix, suffix, output
	soundsAsIs   plan.Code = "vllm.sounds-as-is" // sounds, kind
	toolsLeftOut plan.Code = "vllm.tools-not-counted"
	shortPrompts plan.Code = "vllm.short-prompts" // short, of
)
