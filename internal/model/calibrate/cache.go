package calibrate

import (
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// boundless is a size of a cache in tokens that is assumed where none was reached: nothing is
// evicted.
const boundless = 1 << 24

// The usual blocks of a prefix cache, in tokens: of vLLM, and of SGLang.
const (
	usualBlock       = 16
	usualBlockSGLang = 1
)

// block is the size of the blocks in which a server finds prompts in its cache: the usual one if
// it divides all that was found, else the largest that does; 0 if nothing was found. A prompt that
// was found but for its last token says nothing: one is always computed.
func block(traces []*trace.Trace, prefillFirst bool) (size int) {
	usual, found := usualBlock, false
	if prefillFirst {
		usual = usualBlockSGLang
	}
	for _, t := range traces {
		for _, r := range t.Records {
			if n := r.Credible().Cached; r.OK() && n > 0 {
				if found = true; n < prompt(r)-1 {
					size = divisor(size, n)
				}
			}
		}
	}
	if !found || size%usual != 0 {
		return size
	}
	return usual
}

// divisor is the greatest one that two numbers have in common.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// cachedByCounters is the share of the prompt tokens that the counters of a server say were found in its
// cache.
func cachedByCounters(traces []*trace.Trace) float64 {
	asked, hit := 0, 0
	for _, t := range traces {
		if s := metrics.Summarize(t, metrics.Options{}).Server; s != nil {
			asked, hit = asked+s.PrefixQueried, hit+s.PrefixHit
		}
	}
	return float64(hit) / float64(max(1, asked))
}
