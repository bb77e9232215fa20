package conform

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
)

// The tools' definitions of their metrics.
const (
	ToFirstToken  plan.Code = "conform.to-first-token"
	ToLastToken   plan.Code = "conform.to-last-token"
	ToEnd         plan.Code = "conform.to-end"         // of the answer, including its end marker
	BetweenTokens plan.Code = "conform.between-tokens" // a mean per request
	UntilEnd      plan.Code = "conform.until-end"      // likewise, up to the end of the answer
	Gaps          plan.Code = "conform.gaps"           // between chunks, individually
	WeighedGaps   plan.Code = "conform.weighed-gaps"   // BetweenTokens, weighted by tokens
	WholeTokens   plan.Code = "conform.whole-tokens"   // of the whole answer, including its TTFT
)

// A Format is one tool's report format, with the definitions of its figures.
type Format struct {
	Name   string
	Tool   string // the tool that writes it
	Define map[Metric]plan.Code
}

// Formats lists them, each after those it could be mistaken for.
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

// Definitions returns the definitions of the format, as stored in a report.
func (f Format) Definitions() map[Metric]plan.Message {
	all := map[Metric]plan.Message{}
	for m, code := range f.Define {
		all[m] = plan.Say(code)
	}
	return all
}

// FormatNamed returns the format with that name.
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
