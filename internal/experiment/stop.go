package experiment

import (
	"math"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Looks are those of a design: one after each block if the results may end it.
func Looks(d design.Design) compare.Looks {
	if d.Until == "" && d.Precision == 0 {
		return compare.Looks{}
	}
	return compare.Looks{Most: d.Most()}
}

// enough says why no further block is to begin; nothing if one is.
func (x *execution) enough(block int) (why plan.Message, err error) {
	made := block - 1
	if x.j.Looks.Most > 1 && made >= x.j.Looks.First() && !x.begun(block) {
		if why, err = x.look(made); err != nil || !why.IsZero() {
			return why, err
		}
	}
	switch each := x.j.BlockTime(); {
	case block > x.Design.Most():
		return plan.Msg(endedBlocks, "blocks", made), nil
	case x.Design.Budget > 0 && made > 0 && !x.begun(block) && x.elapsed()+each > x.Design.Budget.Std():
		return plan.Msg(endedBudget, "blocks", made, "budget", x.Design.Budget, "block", each), nil
	}
	return why, nil
}

func (x *execution) begun(block int) bool { return x.j.Blocks() >= block }

// elapsed is the time that the experiment has taken.
func (x *execution) elapsed() time.Duration { return x.spent + x.Now().Sub(x.since) }

// look judges the runs after a number of blocks, and reports whether they are enough.
func (x *execution) look(made int) (why plan.Message, err error) {
	x.j.Looks.Done = made
	if x.Missing(x.j) != nil {
		return why, nil
	}
	c, err := x.judge(x.j.Looks, false)
	if err != nil {
		return why, err
	}
	x.emit(Judged{x.j.Looks, c})
	reached := c.Precision()
	switch {
	case x.Design.Until == design.UntilVerdict && settled(c):
		return plan.Msg(endedVerdict, "blocks", made), nil
	case x.Design.Precision > 0 && !math.IsNaN(reached) && reached <= float64(x.Design.Precision):
		return plan.Msg(endedPrecision, "blocks", made, "reached", reached, "wanted", float64(x.Design.Precision)), nil
	}
	return why, nil
}

// settled reports whether a comparison answers the question: its gates, or where there are none its main figures.
func settled(c compare.Comparison) bool {
	if len(c.Gates) == 0 {
		return c.Settled()
	}
	for _, g := range c.Gates {
		if g.Outcome == compare.Inconclusive {
			return false
		}
	}
	return true
}

// Best is the variant with the most figures that are better, of those with none that is
// worse, over all workloads; empty: none is better.
func Best(c compare.Comparison) (name string) {
	better, worse := map[string]int{}, map[string]int{}
	most := 0
	for _, w := range c.Workloads {
		for _, v := range w.Variants {
			if v.Tally != nil {
				better[v.Name] += len(v.Tally.Better)
				worse[v.Name] += len(v.Tally.Worse)
			}
		}
	}
	for _, w := range c.Workloads {
		for _, v := range w.Variants {
			if better[v.Name] > most && worse[v.Name] == 0 {
				name, most = v.Name, better[v.Name]
			}
		}
	}
	return name
}
