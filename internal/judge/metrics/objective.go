package metrics

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// An Objective is a limit on a figure.
type Objective struct {
	Metric figure.Metric `json:"metric"` // ttft, tpot, itl or e2el
	P      float64       `json:"p"`      // the percentile, in (0,100]; 0: the mean
	Limit  time.Duration `json:"limit"`
}

// Name is that of the figure: ttft.p99, tpot.mean.
func (o Objective) Name() string {
	if o.P == 0 {
		return o.Metric.Mean()
	}
	return o.Metric.P(o.P)
}

// String is the objective as Parse reads it.
func (o Objective) String() string { return o.Name() + "=" + o.Limit.String() }

// ObjectiveOf is an objective of the run, as a limit on its figure.
func ObjectiveOf(o plan.Objective) Objective {
	p, _ := figure.ParsePercentile(o.Statistic)
	return Objective{Metric: figure.Metric(o.Metric), P: p, Limit: o.Limit.Std()}
}

// Parse reads objectives of the run, as plan.ParseObjectives does. One of each request is taken as one of 99 % of them:
// taken are their texts, as they were given.
func Parse(text string) (all []Objective, taken []string, err error) {
	given, err := plan.ParseObjectives(text)
	for _, o := range given {
		if o.Limit <= 0 {
			return nil, nil, plan.Problems{{Value: strconv.Quote(o.String()), Why: "the limit must be above 0"}}
		}
		if !o.OfRun() {
			taken = append(taken, o.String())
			o.Statistic = "p99"
		}
		if one := ObjectiveOf(o); slices.Contains(all, one) || !slices.ContainsFunc(all, func(other Objective) bool { return other.Name() == one.Name() }) {
			all = append(all, one)
			continue
		}
		return nil, nil, plan.Problems{{Value: strconv.Quote(o.String()), Why: o.Name() + " has a limit already"}}
	}
	return all, taken, err
}

// A Judgement is whether a run meets an objective on one of its figures.
type Judgement struct {
	Objective plan.Objective `json:"objective"`
	Attainment
	// Value is the figure of the requests that were answered, in seconds.
	Value float64 `json:"value"`
	Met   bool    `json:"met"`
	// Known is false where the run has no such figure, or one that is not to be believed.
	Known bool `json:"known"`
	// Short means that the requests are too few to bound the percentile.
	Short bool `json:"short,omitempty"`
}

// judgements hold a run to its objectives, by service times. The percentiles of the objectives are among those of s.
func (x *observed) judgements(objectives []plan.Objective, s *Summary) (all []Judgement) {
	of := map[string]*Distribution{"ttft": &s.Service.TTFT, "tpot": &s.Service.TPOT, "itl": &s.Service.ITL, "e2el": &s.Service.E2EL}
	for i, o := range objectives {
		goal, d := ObjectiveOf(o), of[o.Metric]
		j := Judgement{Objective: o, Attainment: x.attained[i], Value: d.Mean, Known: d.N > 0 && !d.Void && !(d.Invalid && goal.P > 0)}
		if i := slices.IndexFunc(d.Percentiles, func(q Percentile) bool { return q.P == goal.P }); goal.P > 0 && i >= 0 {
			j.Value, j.Short = d.Percentiles[i].Value, d.Percentiles[i].Short
		}
		j.Met = j.Known && goal.Met(j.Attainment)
		all = append(all, j)
	}
	return all
}

// An Attainment is how far a run, or several, meet an objective.
type Attainment struct {
	// Within are the requests within the limit, and Of those that count; of itl they are
	// gaps, and a failed request counts as many as its answer should have had.
	Within int `json:"within"`
	Of     int `json:"of"`
	Failed int `json:"failed"` // requests
	// Sum is of all values, in seconds, and Values their number: failures have none.
	Sum    float64 `json:"sum"`
	Values int     `json:"values"`
}

// Share is that within the limit; 0 where nothing counts.
func (a Attainment) Share() float64 {
	if a.Of == 0 {
		return 0
	}
	return float64(a.Within) / float64(a.Of)
}

// Mean is that of the values in seconds; NaN without any.
func (a Attainment) Mean() float64 { return a.Sum / float64(a.Values) }

// Add pools a with another attainment of the same objective.
func (a Attainment) Add(b Attainment) Attainment {
	return Attainment{a.Within + b.Within, a.Of + b.Of, a.Failed + b.Failed, a.Sum + b.Sum, a.Values + b.Values}
}

// Evaluate is the attainment of a run. Records that were cancelled by the end of the run are
// failures like others: leave out of the trace what shall not count.
func (o Objective) Evaluate(t *trace.Trace) (a Attainment) {
	for _, r := range t.Records {
		o.take(&a, r, t.Run.Plan.Stream)
	}
	return a
}

// take adds a request.
func (o Objective) take(a *Attainment, r *trace.Record, stream bool) {
	if !Owns(r) {
		a.Failed++
		a.Of += o.due(r)
		return
	}
	o.add(a, r, stream)
}

// due is how many values a request should have had.
func (o Objective) due(r *trace.Record) int {
	if o.Metric == figure.ITL {
		return max(1, r.WantTokens-1)
	}
	return 1
}

// add adds the values of a request that succeeded.
func (o Objective) add(a *Attainment, r *trace.Record, stream bool) {
	ttft, tpot, e2el := PitotLatencies(r, stream)
	switch o.Metric {
	case figure.TTFT:
		o.value(a, ttft)
	case figure.TPOT:
		o.value(a, tpot)
	case figure.E2EL:
		o.value(a, e2el)
	case figure.ITL:
		if !stream {
			return
		}
		for _, gap := range EachPitotGap(r) {
			o.value(a, gap)
		}
	}
}

// value adds one, in seconds; NaN is none.
func (o Objective) value(a *Attainment, v float64) {
	if math.IsNaN(v) {
		return
	}
	a.Of++
	a.Values++
	a.Sum += v
	if v <= o.Limit.Seconds() {
		a.Within++
	}
}

// Goal is the share that must be within the limit: 0.99 for p99; 0 for a mean, which has none.
func (o Objective) Goal() float64 { return o.P / 100 }

// Met reports whether an attainment meets the objective. Where nothing counts it does not, nor
// does a mean where too many failed to have one.
func (o Objective) Met(a Attainment) bool {
	switch {
	case a.Values == 0:
		return false
	case o.P == 0:
		return a.Mean() <= o.Limit.Seconds() && float64(a.Failed) <= HarmlessFailures*float64(a.Of)
	}
	return float64(a.Within) >= o.Goal()*float64(a.Of)-rounding
}

// rounding is the largest error of 0.999 times an integer.
const rounding = 1e-6
