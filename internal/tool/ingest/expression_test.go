package ingest

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExpressionsKnowTheirWords(t *testing.T) {
	for text, want := range map[string][]string{
		`(?i)\bTTFT\b|time to first token`: {"ttft", "time to first token"},
		`降低?|下降`:                           {"降", "下降"},
		`a*b+c?`:                           {"b"},
		`\d+`:                              {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
		`x|\S`:                             nil,
		`(?i:no|yes) sir`:                  {" sir"},
		`[⬇↓]`:                             {"↓", "⬇"},
		``:                                 nil,
	} {
		got := compile(text).words
		for i := range want {
			if !slices.ContainsFunc(got, func(w string) bool { return strings.HasPrefix(want[i], w) }) {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		}
		if want == nil && got != nil {
			t.Errorf("%s: %q, want none", text, got)
		}
	}
}

// A text that is not looked at matches nothing.
func TestExpressionsMissNothing(t *testing.T) {
	all := []expression{image, known.command, clause, unclaimed, amount, logged}
	for _, v := range []vocabulary{metricWords, statisticWords, arrows, directions} {
		for _, w := range v {
			all = append(all, w.words)
		}
	}
	letters := []string{"TTFT", "ttft ", "tPoT", "Throughput", "吞吐", "量", "降", "低", "提升", "3.4%", "2x ", "倍", " p99", "Mean ", "⬇", "\ufe0f", "lower ", "and ", ", ", "image: ", "vllm bench serve", "INFO", "not", "peak output ", "token "}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 8).Draw(t, "text"), "")
		for _, p := range all {
			if p.MatchString(text) && !p.in(text, lowered(text)) {
				t.Errorf("%s matches %q, which has none of %q", p, text, p.words)
			}
		}
	})
}
