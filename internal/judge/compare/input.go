package compare

import (
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/plan"
)

// input reports whether a figure is one that the runs were given rather than one that they
// show: it only describes the load, a setting that makes it differs between the variants
// (by --ignore), it counts what met objectives that are not the same, or it follows from the arrivals or from the duration asked for.
func (t *table) input(q figure.Figure) bool {
	if q.Better == figure.Neither {
		return true
	}
	if _, same := t.shared(plan.PerRequest); !same && countsObjectives(q.Name) {
		return true
	}
	for _, setting := range loadSettings {
		if isDeterminedBy(q.Name, setting) && t.differs(setting) {
			return true
		}
	}
	if q.Name == figure.Duration && !slices.ContainsFunc(t.runs, func(r *ComparedRun) bool { return !r.timed() }) {
		return true
	}
	return isDeterminedBy(q.Name, rateSetting) && q.Name != figure.Goodput && !slices.ContainsFunc(t.runs, func(r *ComparedRun) bool { return !r.keptUp })
}

// timed reports whether the run has a set duration.
func (r *ComparedRun) timed() bool { return r.run.Plan.Spec != nil && r.run.Plan.Spec.Duration > 0 }

// isDeterminedBy reports whether a setting of the load makes a figure, whatever the server does: twice
// the rate is twice the throughput, as long as the server keeps up.
func isDeterminedBy(name, setting string) bool {
	switch setting {
	case rateSetting, rampSetting, arrivalSetting:
		return name == figure.Duration || name == figure.Goodput || figure.MetricOf(name) == figure.Throughput
	case workloadSetting, inputSetting:
		return name == figure.InputThroughput || name == figure.TotalThroughput
	}
	return false
}

// differs reports whether runs of the table differ in a setting of the load.
func (t *table) differs(setting string) bool {
	return slices.ContainsFunc(t.runs, func(r *ComparedRun) bool { return r.load.differs(&t.runs[0].load, setting) })
}

// checkSizes refuses runs with workloads of different size, which --ignore cannot merge: with fewer
// or shorter requests every total is smaller, and nothing is faster.
func (t *table) checkSizes() error {
	var p plan.Problems
	first := t.runs[0]
	for _, s := range sizes {
		ignored := slices.ContainsFunc(s.settings, func(name string) bool { return slices.Contains(t.o.Ignore, name) && t.differs(name) })
		i := slices.IndexFunc(t.runs, func(r *ComparedRun) bool { return s.differs(first, r) })
		if ignored && i >= 0 {
			p.If(true, "ignore", s.settings[0], "%s has %.6g %s and %s has %.6g; workloads of different size are not compared",
				t.labelOf(first), s.of(first), s.name, t.labelOf(t.runs[i]), s.of(t.runs[i]))
			return p.Err()
		}
	}
	return nil
}

// labelOf is the name of the variant of a run.
func (t *table) labelOf(r *ComparedRun) string {
	i := slices.IndexFunc(t.variants, func(v *variant) bool { return slices.Contains(v.runs, r) })
	return t.variants[i].name
}

// sizes are what makes one workload larger than another, with the settings that say it, and
// the share by which it may differ: tools may count what succeeded, and lengths are drawn.
var sizes = []size{
	{"requests", []string{requestsSetting}, 0.01, func(r *ComparedRun) float64 { return float64(r.run.Plan.Requests) }},
	{"prompt tokens per request", []string{inputSetting, workloadSetting}, 0.1, func(r *ComparedRun) float64 { return r.load.input }},
	{"output tokens per request", []string{workloadSetting}, 0.1, func(r *ComparedRun) float64 { return r.perRequest(figure.OutputTokens) }},
}

type size struct {
	name     string
	settings []string
	share    float64
	of       func(*ComparedRun) float64 // 0 if unknown
}

func (s size) differs(a, b *ComparedRun) bool {
	x, y := s.of(a), s.of(b)
	return x > 0 && y > 0 && math.Abs(x-y) > s.share*max(x, y)
}
