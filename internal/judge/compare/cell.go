package compare

import (
	"math"

	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
)

// center fills in the median of each cell of a row and what is known of its error.
func (t *table) center(l *entry) {
	for i, s := range l.samples {
		cell := &l.Cells[i]
		if len(s.values) == 0 {
			continue
		}
		cell.Center = stats.Sort(s.values).Median()
		switch {
		case l.Constant:
		case len(s.values) > 1:
			cell.Interval = t.repeated(s, l.plain, cell.Step/2)
		default:
			cell.Interval = s.figures[0].influence.interval(cell.Center, t.o.Level)
		}
	}
}

// repeated is the interval of a figure that several runs have, which may each be off by
// half: of their median by order statistics where these reach the level, else Student's
// on the scale.
func (t *table) repeated(s sample, plain bool, half float64) *Interval {
	n := len(s.values)
	if n >= fewRuns {
		if i := stats.QuantileInterval(stats.Sort(s.values), 50, t.o.Level); !math.IsNaN(i.Low) {
			return &Interval{i.Low - half, i.High + half, i.Level, plan.Say("method.order", "runs", n)}
		}
	}
	i := stats.StudentMean(s.scaled).Interval(t.o.Level)
	low, high := i.Low, i.High
	if !plain {
		low, high = math.Exp(low), min(math.Exp(high), math.MaxFloat64)
	}
	return &Interval{low - half, high + half, t.o.Level, plan.Say("method.student-one", "runs", n)}
}

// fewRuns is below how many runs order statistics do not reach a level of 0.95.
const fewRuns = 6
