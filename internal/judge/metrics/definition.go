package metrics

import "strings"

// A Definition says by whose rules a figure was made. Figures are comparable if
// their IDs are the same.
type Definition struct {
	ID    string `json:"id"`    // pitot, vllm, vllm touched-second, sglang ...
	Words string `json:"words"` // what it counts, from where and to where
}

// metric is the part of a figure's name before the statistic.
func metric(name string) string {
	m, _, _ := strings.Cut(name, ".")
	return m
}

// definitions are in words, by tool and metric.
var definitions = map[string]map[string]string{
	"pitot": {
		"ttft": "from the first byte sent to the first chunk with output",
		"tpot": "(last output chunk - first) / (output tokens - 1), one value a request",
		"itl":  "gaps between output chunks, of all requests in one sample",
		"e2el": "from the first byte sent to the end of the answer, its end marker included",
		"peak": "requests in flight at one instant, from released to done",
	},
	"vllm": {
		"ttft": "from the concurrency gate, connection included, to the first event with a choice",
		"tpot": "(last event - first) / (output tokens - 1), one value a request",
		"itl":  "gaps between events, not tokens, of all requests in one sample",
		"e2el": "from the concurrency gate to the last event with a choice",
		"peak": "events in a clock second; requests in flight at one instant",
	},
	"sglang": {
		"ttft": "from the concurrency gate, handshake included, to the first chunk with text",
		"tpot": "(end of the answer - first chunk) / (output tokens - 1); output tokens are those asked for where the stream does not count",
		"itl":  "gaps between chunks, divided over their tokens, of all requests in one sample",
		"e2el": "from the concurrency gate to the last line of the answer",
		"peak": "token events in a clock second; requests that touch one",
	},
	"guidellm": {
		"ttft": "from the request to its first token",
		"tpot": "(last token - request) / tokens, weighed by tokens: it contains the TTFT",
		"itl":  "(last token - first) / (tokens - 1), weighed by tokens less one",
		"e2el": "from the request to the end of its answer",
	},
	"aiperf": {
		"ttft": "from the request to its first token",
		"itl":  "(last token - first) / (tokens - 1), one value a request: what others call TPOT",
		"icl":  "gaps between chunks: what others call ITL",
		"e2el": "from the request to its last token",
	},
	"inference-perf": {
		"ttft": "from the request to its first token",
		"tpot": "(last token - first) / (tokens - 1), one value a request",
		"itl":  "gaps between tokens by its own tokenizer's count",
		"e2el": "from the request to the end of its answer",
	},
}

// touched is the definition of vLLM's peak concurrency in the forms before main.
const touched = "requests that are in flight at any time in a clock second, so more than at one instant"

// DefinitionOf is that of a figure in a tool's report of some form, "" for its
// newest.
func DefinitionOf(tool, form, name string) Definition {
	words := definitions[tool]
	if tool == "genai-perf" { // AIPerf kept its names
		words = definitions["aiperf"]
	}
	if tool == "vllm" && name == "peak.concurrency" && form != "" && form < "main" {
		return Definition{ID: "vllm touched-second", Words: touched}
	}
	return Definition{ID: tool, Words: words[metric(name)]}
}
