package conform

import "github.com/pitot-bench/pitot/internal/proof/truth"

// A Definition is what a tool means by a metric: in words, and as what an answer
// of the server's adds to its sample.
type Definition struct {
	Words string
	add   func(*sample, *truth.Request)
}

// An answer is what a client can see of the writes of a request: the instants of
// its output, in nanoseconds.
type answer struct {
	received    int64
	first, last int64 // first and last output
	end         int64 // last write
	tokens      int
}

// look is false for an answer without output.
func look(r *truth.Request) (a answer, ok bool) {
	a = answer{received: r.Received, tokens: r.Tokens}
	for _, w := range r.Writes {
		if w.Tokens > 0 {
			if !ok {
				a.first, ok = w.Before, true
			}
			a.last = w.Before
		}
		a.end = w.Before
	}
	return a, ok
}

// seconds are those from t to u.
func seconds(t, u int64) float64 { return float64(u-t) / 1e9 }

// each defines a metric of one value an answer; without one it is left out.
func each(words string, value func(answer) (v float64, ok bool)) Definition {
	return Definition{words, func(s *sample, r *truth.Request) {
		if a, ok := look(r); ok {
			if v, ok := value(a); ok {
				s.add(v)
			}
		}
	}}
}

// weighed is each, with a weight for the value.
func weighed(words string, value func(answer) (v, weight float64)) Definition {
	return Definition{words, func(s *sample, r *truth.Request) {
		if a, ok := look(r); ok {
			s.weigh(value(a))
		}
	}}
}

// The definitions that tools share.
var (
	toFirstToken = each("from the request to its first token", func(a answer) (float64, bool) {
		return seconds(a.received, a.first), true
	})
	toLastToken = each("from the request to its last token", func(a answer) (float64, bool) {
		return seconds(a.received, a.last), true
	})
	toEnd = each("from the request to the end of its answer, the end marker included", func(a answer) (float64, bool) {
		return seconds(a.received, a.end), true
	})
	betweenTokens = each("(last token - first token) / (tokens - 1), one value a request", func(a answer) (float64, bool) {
		return seconds(a.first, a.last) / float64(max(1, a.tokens-1)), a.tokens > 1
	})
	untilEnd = each("(end of the answer - first token) / (tokens - 1), one value a request", func(a answer) (float64, bool) {
		return seconds(a.first, a.end) / float64(max(1, a.tokens-1)), a.tokens > 1
	})
	gaps = Definition{"gaps between consecutive chunks of output, of all requests in one sample", addGaps}
)

// addGaps adds the gaps between chunks. Chunks of one write have none between
// them.
func addGaps(s *sample, r *truth.Request) {
	last := int64(-1)
	for _, w := range r.Writes {
		if w.Tokens == 0 {
			continue
		}
		if last >= 0 {
			s.add(seconds(last, w.Before))
		}
		for range min(int(w.Events), int(w.Tokens)) - 1 {
			s.add(0)
		}
		last = w.Before
	}
}

// A Format is one tool's reports: how they are read, and what their figures
// mean.
type Format struct {
	Name   string
	Tool   string // whose reports they are
	Define map[Metric]Definition
	rule   rule
	is     func(object) bool // by the keys of the report
	read   func(object) (Claim, error)
}

// Words are the definitions.
func (f Format) Words() map[Metric]string {
	words := map[Metric]string{}
	for m, d := range f.Define {
		words[m] = d.Words
	}
	return words
}

// Formats lists them, each after those that it could be mistaken for.
func Formats() []Format {
	return []Format{
		{
			Name: "pitot", Tool: "pitot bench --report json, pitot runs export", rule: linear, is: isPitot, read: readPitot,
			Define: map[Metric]Definition{TTFT: toFirstToken, ITL: gaps, TPOT: betweenTokens, E2EL: toEnd},
		},
		{
			Name: "sglang", Tool: "sglang.bench_serving --output-file", rule: linear, is: isSGLang, read: readSGLang,
			Define: map[Metric]Definition{TTFT: toFirstToken, ITL: gaps, TPOT: untilEnd, E2EL: toEnd},
		},
		{
			Name: "vllm", Tool: "vllm bench serve --save-result", rule: linear, is: isVLLM, read: readVLLM,
			Define: map[Metric]Definition{TTFT: toFirstToken, ITL: gaps, TPOT: betweenTokens, E2EL: toLastToken},
		},
		{
			Name: "guidellm", Tool: "guidellm, benchmarks.json", rule: stepped, is: isGuideLLM, read: readGuideLLM,
			Define: map[Metric]Definition{
				TTFT: toFirstToken,
				ITL: weighed("(last token - first token) / (tokens - 1), one value a request that weighs its tokens less one",
					func(a answer) (v, weight float64) {
						weight = float64(a.tokens - 1)
						return seconds(a.first, a.last) / max(1, weight), weight
					}),
				TPOT: weighed("(last token - request) / tokens, one value a request that weighs its tokens",
					func(a answer) (v, weight float64) {
						return seconds(a.received, a.last) / float64(a.tokens), float64(a.tokens)
					}),
				E2EL: toEnd,
			},
		},
		{
			Name: "aiperf", Tool: "aiperf or genai-perf, profile_export_aiperf.json", rule: linear, is: isAIPerf, read: readFigures,
			Define: map[Metric]Definition{TTFT: toFirstToken, ITL: betweenTokens, ICL: gaps, E2EL: toLastToken},
		},
		{
			Name: "inference-perf", Tool: "inference-perf, summary_lifecycle_metrics.json or stage_N_lifecycle_metrics.json", rule: linear, is: isInferencePerf, read: readFigures,
			Define: map[Metric]Definition{TTFT: toFirstToken, ITL: gaps, TPOT: betweenTokens, E2EL: toEnd},
		},
	}
}
