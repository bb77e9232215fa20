package experiments

import (
	"cmp"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// mostMain is how many figures the lines on drift, order and noise name.
const mostMain = 4

// mainRows are the judged rows that people look at first.
func mainRows(w compare.Workload) (rows []compare.Row) {
	for _, r := range w.Rows {
		if r.Rank > 0 && !r.Input && !r.Constant {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b compare.Row) int { return cmp.Compare(a.Rank, b.Rank) })
	return rows[:min(len(rows), mostMain)]
}

// worthwhile are lines on which effects a comparison of two variants would find, and what that
// takes, by the noise that was seen.
func worthwhile(w compare.Workload, c compare.Comparison, block time.Duration, lang *words.Language) (lines []string) {
	judged := 0
	for _, r := range w.Rows {
		if !r.Input && !r.Constant {
			judged++
		}
	}
	for _, r := range mainRows(w) {
		if r.Spread == nil {
			continue
		}
		name := lang.Say(metrics.Titles([]metrics.Quantity{r.Quantity})[0])
		if blocks, known := r.Spread.Blocks(compare.DesignSize{Figures: judged}, c.Margin, c.Level, compare.DefaultPower); known {
			lines = append(lines, lang.Word("experiment.takes", "figure", name, "effect", c.Margin, "blocks", blocks, "time", rounded(time.Duration(blocks)*block)))
			continue
		}
		if effect, known := r.Spread.Smallest(compare.DesignSize{Blocks: 8, Figures: judged}, c.Level, compare.DefaultPower); known {
			lines = append(lines, lang.Word("experiment.finds", "figure", name, "effect", effect, "blocks", 8, "time", rounded(8*block)))
		}
	}
	return lines
}
