package compare

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
)

// center fills in the median of each cell of a row and what is known of its error.
func (t *table) center(row int) {
	for i, v := range t.variants {
		cell := &t.out.Rows[row].Cells[i]
		if len(cell.Values) == 0 {
			continue
		}
		s := v.sample(t.keys[row])
		cell.Center = stats.Sort(s.values).Median()
		switch {
		case t.out.Rows[row].Constant:
		case len(s.values) > 1:
			cell.Interval = t.repeated(s, t.plain[row])
		default:
			if w, ok := s.runs[0].influences[t.keys[row]]; ok {
				cell.Interval = w.interval(cell.Center, t.o.Level)
			}
		}
	}
}

// repeated is the interval of a figure that several runs have: of their median by
// order statistics where these reach the level, else Student's on the scale.
func (t *table) repeated(s sample, plain bool) *Interval {
	n := len(s.values)
	half := slices.Max(s.steps) / 2
	if n >= fewRuns {
		if i := stats.QuantileInterval(stats.Sort(s.values), 50, t.o.Level); !math.IsNaN(i.Low) {
			return &Interval{i.Low - half, i.High + half, i.Level, plan.Say("method.order", "runs", n)}
		}
	}
	i := stats.StudentMean(scaled(s.values, plain), t.o.Level).Interval
	low, high := i.Low, i.High
	if !plain {
		low, high = math.Exp(low), min(math.Exp(high), math.MaxFloat64)
	}
	return &Interval{low - half, high + half, t.o.Level, plan.Say("method.student-one", "runs", n)}
}

// fewRuns is below how many runs order statistics do not reach a level of 0.95.
const fewRuns = 6
