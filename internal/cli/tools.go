package cli

import (
	"sync"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/aiperf"
	"github.com/pitot-bench/pitot/internal/tool/guidellm"
	"github.com/pitot-bench/pitot/internal/tool/inferenceperf"
	"github.com/pitot-bench/pitot/internal/tool/ingest"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// tools are the load generators that Pitot knows beside itself.
func tools() []tool.Tool {
	return []tool.Tool{vllm.Tool(), sglang.Tool(), guidellm.Tool(), aiperf.Tool(), inferenceperf.Tool()}
}

// reader reads what they leave behind.
var reader = sync.OnceValue(func() *ingest.Reader { return ingest.NewReader(tools()...) })

// rules are the definitions of those whose figures can be made of a trace.
func rules() metrics.Rules { return tool.Rules(tools()) }

// toolNamed is one of them, none if it is not known.
func toolNamed(name string) tool.Tool {
	for _, t := range tools() {
		if t.Name == name {
			return t
		}
	}
	return tool.Tool{}
}
