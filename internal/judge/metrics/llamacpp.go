package metrics

import "strings"

// llamaCpp reads differences of the counters of llama.cpp's server; nil without them. It
// counts prompt tokens that it computed and, in newer versions, those that its cache
// spared; a decode is one call of the model, for a step of all streams or a piece of a
// prompt.
func llamaCpp(counters map[string]float64) *ServerCounts {
	sum := map[string]float64{}
	for series, v := range counters {
		name, _, _ := strings.Cut(series, "{")
		if name, ok := strings.CutPrefix(name, "llamacpp:"); ok {
			sum[strings.TrimSuffix(name, "_total")] += v
		}
	}
	if len(sum) == 0 {
		return nil
	}
	s := &ServerCounts{Computed: int(sum["prompt_tokens"]), PerDecode: over(sum["tokens_predicted"], sum["n_decode"])}
	if cached := sum["prompt_tokens_cached"]; cached > 0 {
		s.PrefixQueried, s.PrefixHit = s.Computed+int(cached), int(cached)
	}
	s.Drafted, s.Accepted = int(sum["spec_decode_num_draft_tokens"]), int(sum["spec_decode_num_accepted_tokens"])
	return s
}
