package metrics

import (
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Definition says by whose rules a figure was made. Figures are comparable if
// their IDs are the same.
type Definition struct {
	ID   string    `json:"id"`             // pitot, vllm, vllm touched-second, sglang ...
	Says plan.Code `json:"says,omitempty"` // what it counts, from where and to where
}

// DefinitionOf is that of a figure in a tool's report of some form, "" for its
// newest.
func DefinitionOf(tool, form, name string) Definition {
	if tool == "vllm" && name == "peak.concurrency" && form != "" && form < "main" {
		return Definition{ID: "vllm touched-second", Says: "definition.touched-seconds"}
	}
	says := definitions[tool]
	if tool == "genai-perf" { // AIPerf kept its names
		says = definitions["aiperf"]
	}
	return Definition{ID: tool, Says: says[metric(name)]}
}

// metric is the part of a figure's name before the statistic.
func metric(name string) string {
	m, _, _ := strings.Cut(name, ".")
	return m
}

// definitions are by tool and metric.
var definitions = map[string]map[string]plan.Code{
	"pitot": {
		"ttft": "definition.sent-to-output", "tpot": "definition.output-per-token", "itl": "definition.output-gaps",
		"e2el": "definition.sent-to-end", "peak": "definition.in-flight",
	},
	"vllm": {
		"ttft": "definition.gate-to-choice", "tpot": "definition.events-per-token", "itl": "definition.event-gaps",
		"e2el": "definition.gate-to-last-choice", "peak": "definition.event-peaks",
	},
	"sglang": {
		"ttft": "definition.gate-to-text", "tpot": "definition.end-per-token", "itl": "definition.divided-gaps",
		"e2el": "definition.gate-to-last-line", "peak": "definition.token-event-peaks",
	},
	"guidellm": {
		"ttft": "definition.request-to-token", "tpot": "definition.whole-per-token", "itl": "definition.weighed-gap-mean",
		"e2el": "definition.request-to-end",
	},
	"aiperf": {
		"ttft": "definition.request-to-token", "itl": "definition.gap-mean-as-itl", "icl": "definition.chunk-gaps-as-icl",
		"e2el": "definition.request-to-last-token",
	},
	"inference-perf": {
		"ttft": "definition.request-to-token", "tpot": "definition.gap-mean", "itl": "definition.own-token-gaps",
		"e2el": "definition.request-to-end",
	},
}
