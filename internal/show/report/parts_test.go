package report

import (
	"slices"
	"testing"

	"github.com/pitot-bench/pitot/internal/show/words"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
)

// What the server had cached is told where it says so of any turn, and else nobody knows.
func TestCachedOfTurns(t *testing.T) {
	first, second := metrics.Part{Name: "1", OK: 2, Prompt: 10}, metrics.Part{Name: "2", OK: 2, Prompt: 40}
	reported := second
	reported.Cached = .25
	for want, turns := range map[bool][]metrics.Part{false: {first, second}, true: {first, reported}} {
		got := report{Language: words.In("en")}
		rows := got.turns(metrics.Summary{Turns: turns}).Rows
		if slices.Contains(rows[2], "0.0 %") != want {
			t.Errorf("a share %v in %v", want, rows)
		}
	}
}
