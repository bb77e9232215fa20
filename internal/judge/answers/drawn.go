package answers

import (
	"encoding/json"
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Drawn reports whether a server may draw the answers to requests at random, by what they say of it: no temperature, which
// leaves it to the server and its model, or one above 0 without a seed. vLLM's benchmark sends none since January 2026
// (vllm-project/vllm#32723).
func Drawn(r plan.Request) bool {
	if slices.Contains([]string{"embeddings", "pooling", "rerank", "transcriptions"}, r.Protocol) {
		return false
	}
	var sampling struct {
		Temperature *float64        `json:"temperature"`
		Seed        json.RawMessage `json:"seed"`
		Other       json.RawMessage `json:"sampling_seed"` // SGLang's
	}
	for _, raw := range []json.RawMessage{r.Body, r.Sampling} {
		if raw != nil && json.Unmarshal(raw, &sampling) != nil {
			return true // what is no number is left to the server
		}
	}
	t := sampling.Temperature
	return t == nil || *t > 0 && sampling.Seed == nil && sampling.Other == nil
}
