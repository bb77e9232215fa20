// Package known lists the tools that Pitot knows beside itself, and what they have together: a
// reader of all that they leave behind, and the definitions of their figures. Each of the others
// in this area knows only itself.
package known

import (
	"sync"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/aiperf"
	"github.com/pitot-bench/pitot/internal/tool/guidellm"
	"github.com/pitot-bench/pitot/internal/tool/inferenceperf"
	"github.com/pitot-bench/pitot/internal/tool/ingest"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// Tools are the load generators that Pitot knows beside itself.
func Tools() []tool.Tool {
	return []tool.Tool{vllm.Tool(), sglang.Tool(), guidellm.Tool(), aiperf.Tool(), inferenceperf.Tool()}
}

// Reader reads what they leave behind.
var Reader = sync.OnceValue(func() *ingest.Reader { return ingest.NewReader(Tools()...) })

// Rules are the definitions of those whose figures can be made of a trace.
func Rules() metrics.Rules { return tool.Rules(Tools()) }

// Figures are those of a run by Pitot's definitions, or, of a run without records, as its tool told
// them: what the store keeps under metrics.Pitot.
func Figures(t *trace.Trace) []trace.Figure {
	tool := metrics.Pitot
	if o := t.Run.Origin; o != nil && !compare.HasRecords(t.Run) {
		tool = o.Tool
	}
	return Rules().Figures(t, tool, "")
}

// Named is one of them, none if it is not known.
func Named(name string) tool.Tool {
	for _, t := range Tools() {
		if t.Name == name {
			return t
		}
	}
	return tool.Tool{}
}
