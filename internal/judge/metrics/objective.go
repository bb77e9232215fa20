package metrics

import (
	"math"
	"slices"
	"strconv"
	"strings"
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

// Parse reads objectives: NAME=LIMIT, separated by commas. The error is plan.Problems, one
// for each item that is wrong, without a path and with the item as its value.
func Parse(text string) ([]Objective, error) {
	var all []Objective
	var wrong plan.Problems
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		o, why := parse(item)
		if why == "" && slices.ContainsFunc(all, func(other Objective) bool { return other.Name() == o.Name() }) {
			why = o.Name() + " has a limit already"
		}
		if why != "" {
			wrong = append(wrong, plan.Problem{Value: strconv.Quote(item), Why: why, Hint: "write objectives as ttft.p99=500ms,tpot.mean=40ms"})
			continue
		}
		all = append(all, o)
	}
	return all, wrong.Err()
}

// parse reads one objective; why is the problem with it.
func parse(item string) (o Objective, why string) {
	name, limit, ok := strings.Cut(item, "=")
	if !ok {
		return o, "has no limit"
	}
	metric, statistic, _ := strings.Cut(strings.TrimSpace(name), ".")
	if !slices.Contains(plan.Latencies, metric) {
		return o, "no latency is called " + strconv.Quote(metric) + plan.Suggest(metric, plan.Latencies) + "; there are " + strings.Join(plan.Latencies, ", ")
	}
	o.Metric = figure.Metric(metric)
	switch p, ok := figure.ParsePercentile(statistic); {
	case statistic == "mean":
	case statistic == "median":
		o.P = 50
	case ok && p > 0:
		o.P = p
	default:
		return o, "needs mean or a percentile up to 100, as " + metric + ".mean or " + metric + ".p99"
	}
	v, err := time.ParseDuration(strings.TrimSpace(limit))
	if err != nil || v <= 0 {
		return o, "the limit must be a time above 0, such as 500ms"
	}
	o.Limit = v
	return o, ""
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
		if !r.OK() || !r.Sent.Happened() {
			a.Failed++
			a.Of += o.due(r)
			continue
		}
		o.add(&a, r, t.Run.Plan.Stream)
	}
	return a
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
		for _, gap := range PitotGaps(r) {
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
