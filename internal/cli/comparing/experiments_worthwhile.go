package comparing

import (
	"cmp"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// mostMain is how many figures are named.
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

// Worthwhile are lines, one for each workload of an A/A experiment, on what a comparison of two variants takes to
// find a change, by the noise seen.
func Worthwhile(j *experiment.Journal, c compare.Comparison, lang *words.Language) (lines []string) {
	for _, w := range c.Workloads {
		if takes := worthwhile(w, c, j.BlockTime(), lang); takes != nil {
			lines = append(lines, lang.Word("experiment.worth", "workload", w.Name, "takes", takes, "several", len(c.Workloads) > 1, "effect", c.Margin))
		}
	}
	return lines
}

// worthwhile says for each figure how many blocks find a change of the size of the margin, or
// what eight blocks find.
func worthwhile(w compare.Workload, c compare.Comparison, block time.Duration, lang *words.Language) (takes []string) {
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
		name := lang.Say(figure.Titles([]figure.Figure{r.Quantity})[0])
		if blocks, known := r.Spread.Blocks(compare.DesignSize{Figures: judged}, c.Margin, c.Level, compare.DefaultPower); known {
			takes = append(takes, lang.Word("experiment.takes", "figure", name, "blocks", blocks, "time", rounded(time.Duration(blocks)*block)))
			continue
		}
		if effect, known := r.Spread.Smallest(compare.DesignSize{Blocks: 8, Figures: judged}, c.Level, compare.DefaultPower); known {
			takes = append(takes, lang.Word("experiment.finds", "figure", name, "effect", effect, "blocks", 8, "time", rounded(8*block)))
		}
	}
	return takes
}
