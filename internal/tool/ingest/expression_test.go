package ingest

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pitot-bench/pitot/internal/tool/lexicon"
)

// A text that is not looked at matches nothing.
func TestExpressionsMissNothing(t *testing.T) {
	all := []lexicon.Expression{image, known.command, clause, unclaimed, amount, logged}
	for _, v := range []lexicon.Vocabulary{lexicon.Metrics, lexicon.Statistics, lexicon.Arrows, lexicon.Directions} {
		for _, term := range v {
			all = append(all, term.Expression)
		}
	}
	letters := []string{"TTFT", "ttft ", "tPoT", "Throughput", "吞吐", "量", "降", "低", "提升", "3.4%", "2x ", "倍", " p99", "Mean ", "⬇", "\ufe0f", "lower ", "and ", ", ", "image: ", "vllm bench serve", "INFO", "not", "peak output ", "token "}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 8).Draw(t, "text"), "")
		for _, p := range all {
			if p.MatchString(text) && !p.In(text, lexicon.Lower(text)) {
				t.Errorf("%s matches %q, which has none of its words", p, text)
			}
		}
	})
}
