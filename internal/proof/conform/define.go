package conform

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
)

// What tools mean by their metrics.
const (
	ToFirstToken  plan.Code = "conform.to-first-token"
	ToLastToken   plan.Code = "conform.to-last-token"
	ToEnd         plan.Code = "conform.to-end"         // of the answer, its end marker included
	BetweenTokens plan.Code = "conform.between-tokens" // a mean of each request
	UntilEnd      plan.Code = "conform.until-end"      // likewise, up to the end of the answer
	Gaps          plan.Code = "conform.gaps"           // between chunks, each by itself
	WeighedGaps   plan.Code = "conform.weighed-gaps"   // BetweenTokens, weighed by tokens
	WholeTokens   plan.Code = "conform.whole-tokens"   // of the whole answer, its TTFT included
)

// A Format is one tool's reports, and what their figures mean.
type Format struct {
	Name   string
	Tool   string // whose reports they are
	Define map[Metric]plan.Code
}

// Formats lists them, each after those that it could be mistaken for.
func Formats() []Format {
	return []Format{
		{"pitot", "pitot bench --report json, pitot runs export", map[Metric]plan.Code{TTFT: ToFirstToken, ITL: Gaps, TPOT: BetweenTokens, E2EL: ToEnd}},
		{"sglang", "sglang.bench_serving --output-file", map[Metric]plan.Code{TTFT: ToFirstToken, ITL: Gaps, TPOT: UntilEnd, E2EL: ToEnd}},
		{"vllm", "vllm bench serve --save-result", map[Metric]plan.Code{TTFT: ToFirstToken, ITL: Gaps, TPOT: BetweenTokens, E2EL: ToLastToken}},
		{"guidellm", "guidellm, benchmarks.json", map[Metric]plan.Code{TTFT: ToFirstToken, ITL: WeighedGaps, TPOT: WholeTokens, E2EL: ToEnd}},
		{"aiperf", "aiperf or genai-perf, profile_export_aiperf.json", map[Metric]plan.Code{TTFT: ToFirstToken, ITL: BetweenTokens, ICL: Gaps, E2EL: ToLastToken}},
		{
			"inference-perf", "inference-perf, summary_lifecycle_metrics.json or stage_N_lifecycle_metrics.json",
			map[Metric]plan.Code{TTFT: ToFirstToken, ITL: Gaps, TPOT: BetweenTokens, E2EL: ToEnd},
		},
	}
}

// Definitions are those of the format, as a report keeps them.
func (f Format) Definitions() map[Metric]plan.Message {
	all := map[Metric]plan.Message{}
	for m, code := range f.Define {
		all[m] = plan.Say(code)
	}
	return all
}

// FormatNamed is the format of that name.
func FormatNamed(name string) (Format, bool) {
	i := slices.IndexFunc(Formats(), func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Formats()[i], true
}

// FormatNames lists the names.
func FormatNames() (names []string) {
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}
