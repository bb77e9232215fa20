package metrics

import "strings"

// sgLang reads differences of the counters of SGLang's server, which it has with
// --enable-metrics; nil without them. It counts all tokens of prompts and, by source,
// those from its cache; a retracted request is counted once.
func sgLang(counters map[string]float64) *ServerCounts {
	sum := map[string]float64{}
	for series, v := range counters {
		name, _, _ := strings.Cut(series, "{")
		if name, ok := strings.CutPrefix(name, "sglang:"); ok {
			sum[strings.TrimSuffix(name, "_total")] += v
		}
	}
	if _, ok := sum["prompt_tokens"]; !ok {
		return nil
	}
	return &ServerCounts{PrefixQueried: int(sum["prompt_tokens"]), PrefixHit: int(sum["cached_tokens"])}
}
