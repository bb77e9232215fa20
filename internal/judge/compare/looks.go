package compare

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/stats"
)

// Looks say that an experiment is judged after each block until something is settled. All
// looks together keep the level; see package sequential.
type Looks struct {
	Done int // blocks, of which this look judges all
	// Most is how many blocks there would be at most. An experiment that a budget of time ends
	// earlier may be judged with Most as Done then, since its data did not end it.
	Most int
}

// First is after how many blocks the first look is. After two a figure that is on one of two
// levels in each leg may by chance be on one of them in all legs of a variant and on the other
// one in all of the other, of thirty figures some in one experiment of eight: no bound is beyond
// that. What looks one and two might have spent is left.
func (l Looks) First() int { return min(3, l.Most) }

// nominal is the level that an interval has at this look, so that those of all looks together
// hold the truth at the level asked for.
func (o Options) nominal(level float64) float64 {
	if o.Looks.Most < 2 {
		return level
	}
	return 1 - o.levelAt(math.Round(1e12*(1-level))/1e12)
}

// threshold is what an adjusted p-value may be at most where something differs. Bounds are
// made for one figure of the family: the more figures there are, the less do those that
// chance favours at one look have to do with those of the next.
func (o Options) threshold(family int) float64 {
	if o.Looks.Most < 2 {
		return o.alpha()
	}
	n := float64(max(1, family))
	return n * o.levelAt(o.alpha()/n)
}

func (o Options) levelAt(alpha float64) float64 {
	if level, ok := o.levels[alpha]; ok {
		return level
	}
	level := stats.Level(alpha, o.Looks.Done, o.Looks.Most)
	if o.levels != nil {
		o.levels[alpha] = level
	}
	return level
}

// Settled reports whether every figure of an experiment that is judged and that people look
// at first is better, worse or the same, in all variants. Legs that confirm a choice do not
// count.
func (c Comparison) Settled() bool {
	judged := 0
	for change := range c.main {
		if judged++; change.Verdict == CannotTell {
			return false
		}
	}
	return judged > 0
}

// Precision is half the width of the widest interval of those figures, as a share; +Inf
// where one has none, or there are no figures.
func (c Comparison) Precision() float64 {
	widest := math.Inf(-1)
	for change := range c.main {
		switch i := change.Interval; {
		case change.Plain || i == nil && change.Verdict == Same: // failures, equal counts
		case i == nil:
			return math.Inf(1)
		default:
			widest = max(widest, (i.High-i.Low)/2)
		}
	}
	if math.IsInf(widest, -1) {
		return math.Inf(1)
	}
	return widest
}

// main are the changes of the figures that people look at first.
func (c Comparison) main(yield func(*Change) bool) {
	for _, w := range c.Workloads {
		if w.Layout != nil && w.Layout.Confirms {
			continue
		}
		for i, v := range w.Variants {
			if v.Tally == nil {
				continue
			}
			for _, row := range slices.Clone(v.Tally.Main) {
				if !yield(w.Rows[row].Cells[i].Change) {
					return
				}
			}
		}
	}
}
