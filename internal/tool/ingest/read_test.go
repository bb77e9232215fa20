package ingest

import (
	"github.com/pitot-bench/pitot/internal/tool/aiperf"
	"github.com/pitot-bench/pitot/internal/tool/guidellm"
	"github.com/pitot-bench/pitot/internal/tool/inferenceperf"
	"github.com/pitot-bench/pitot/internal/tool/sglang"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// known reads what all tools leave behind.
var known = NewReader(vllm.Tool(), sglang.Tool(), guidellm.Tool(), aiperf.Tool(), inferenceperf.Tool())
