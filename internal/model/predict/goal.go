package predict

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A Goal is how far a load would meet an objective.
type Goal struct {
	Objective metrics.Objective `json:"objective"`
	// Share is that of the requests within the limit, or of the gaps, with its interval.
	Share  float64         `json:"share"`
	Low    float64         `json:"low"`
	High   float64         `json:"high"`
	Figure PredictedFigure `json:"figure"` // that is limited; without a name if not every run has it
	// Likely is that the prediction meets the objective, Certain that all of its interval does. Open
	// is that the load was too short to say either.
	Likely  bool `json:"likely"`
	Certain bool `json:"certain"`
	Open    bool `json:"open,omitempty"`
}

// judged is a goal of a load that does not show what its rate does, unless why says nothing. A load
// that misses an objective before a queue could build up misses it with one.
func (g Goal) judged(why plan.Message) Goal {
	if !why.IsZero() {
		g.Open = !metrics.QueueGrows(why) && (g.Likely || g.Objective.P > 0 && g.High >= g.Objective.Goal())
		g.Likely, g.Certain = false, false
	}
	return g
}

// A Verdict says in a word how far objectives are met.
type Verdict string

// The values of Verdict.
const (
	Met       Verdict = "met"
	LikelyMet Verdict = "likely met"
	NotMet    Verdict = "not met"
	Open      Verdict = "open"
)

// Verdict is that on an objective.
func (g Goal) Verdict() Verdict {
	switch {
	case g.Certain:
		return Met
	case g.Likely:
		return LikelyMet
	case g.Open:
		return Open
	}
	return NotMet
}

// Verdict is that on all objectives: the worst one.
func (p *Prediction) Verdict() Verdict {
	worst := Met
	order := []Verdict{Met, LikelyMet, Open, NotMet}
	for _, g := range p.Goals {
		worst = order[max(slices.Index(order, worst), slices.Index(order, g.Verdict()))]
	}
	return worst
}

// goal is the prediction of objective i on the figure f. The attainment decides on a percentile,
// the figure itself on a mean.
func (c *Case) goal(i int, o metrics.Objective, f PredictedFigure, nominal, drawn []*outcome) Goal {
	var together metrics.Attainment
	for _, one := range nominal {
		together = together.Add(one.attained[i])
	}
	g := Goal{Objective: o, Figure: f, Share: together.Share(), Likely: o.Met(together)}
	g.Low, g.High = c.attained(i, nominal, drawn)
	if o.P == 0 {
		g.Certain = g.Likely && f.Name != "" && f.High <= o.Limit.Seconds()
	} else {
		g.Certain = g.Likely && g.Low >= o.Goal()-1e-9
	}
	return g
}

// attained is the interval of the share in one run. The odds of missing the limit have their
// spread in logarithms; half a request is added on both sides, since few may miss it, or all.
func (c *Case) attained(i int, nominal, drawn []*outcome) (low, high float64) {
	var at, as []float64
	count := 0
	for k := range nominal {
		point, spread := nominal[k].attained[i], drawn[k].shaken[i]
		if point.Of == 0 || spread.Of == 0 {
			return 0, 0
		}
		at, as = append(at, odds(point)), append(as, odds(spread))
		count += point.Of
	}
	n := float64(count) / float64(len(nominal)) // values of a run
	sd := deviation(as) * math.Sqrt(1+1/float64(len(as)))
	reach := stats.Interval{Low: stats.Mean(at), High: stats.Mean(at)}
	if sd > 0 {
		reach = stats.Estimate{Value: stats.Mean(at), Error: sd, DF: float64(len(as) - 1)}.Interval(c.Level)
	}
	missed := func(odds float64) float64 {
		return min(1, max(0, ((n+1)/(1+math.Exp(-odds))-0.5)/n))
	}
	return 1 - missed(reach.High), 1 - missed(reach.Low)
}

// odds is the logarithm of those of missing the limit.
func odds(a metrics.Attainment) float64 {
	return math.Log(float64(a.Of-a.Within)+0.5) - math.Log(float64(a.Within)+0.5)
}
