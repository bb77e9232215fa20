package experiments

import (
	"cmp"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
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

// seen are lines on what a workload showed beside the change: drift, the effect of the order,
// and noise.
func seen(w compare.Workload, lang *words.Language) (lines []string) {
	line := func(code plan.Code, parts []plan.Message) {
		if parts != nil {
			lines = append(lines, lang.Word(code, "figures", parts))
		}
	}
	var drift, order, starts, legs, runs []plan.Message
	for _, r := range mainRows(w) {
		name := plan.Say(plan.Code("figure." + r.Quantity.Name))
		if s := r.Drift; s != nil && s.Interval != nil {
			drift = append(drift, shift(name, s))
		}
		for _, c := range r.Cells {
			if c.Change != nil && c.Change.Order != nil && c.Change.Order.Interval != nil && len(w.Variants) == 2 {
				order = append(order, shift(name, c.Change.Order))
			}
		}
		if s := r.Spread; s != nil {
			one := plan.Say("experiment.spread", "figure", name, "sd", s.Start)
			if s.Restarted {
				starts = append(starts, one)
			} else {
				legs = append(legs, one)
			}
			if s.RunDF > 0 {
				runs = append(runs, plan.Say("experiment.spread", "figure", name, "sd", s.Run))
			}
		}
	}
	line("experiment.drift", drift)
	line("experiment.order", order)
	line("experiment.noise-starts", starts)
	line("experiment.noise-legs", legs)
	line("experiment.noise-runs", runs)
	return lines
}

func shift(figure plan.Message, s *compare.Shift) plan.Message {
	return plan.Say("experiment.shift", "figure", figure, "by", s.Relative, "low", s.Interval.Low, "high", s.Interval.High)
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
		name := plan.Say(plan.Code("figure." + r.Quantity.Name))
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
