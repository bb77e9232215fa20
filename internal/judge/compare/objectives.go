package compare

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Objectives are those that all runs of a workload were held to.
type Objectives struct {
	// PerRequest are those that the figure slo.attainment counts.
	PerRequest []plan.Objective `json:"per_request,omitempty"`
	OfRun      []HeldObjective  `json:"of_run,omitempty"`
}

// A HeldObjective is one on a figure of the run, with its outcome in each variant: it is met where the whole interval
// of the figure is within the limit.
type HeldObjective struct {
	Objective plan.Objective `json:"objective"`
	Variants  []GateResult   `json:"variants"`
}

// objectives hold the variants to the objectives that all runs have; nil without any.
func (t *table) objectives() *Objectives {
	out := &Objectives{}
	out.PerRequest, _ = t.shared(plan.PerRequest)
	all, _ := t.shared(plan.OfRun)
	for _, o := range all {
		held := HeldObjective{Objective: o}
		g := Gate{Text: o.String(), Name: metrics.ObjectiveOf(o).Name(), Above: true, Limit: o.Limit.Std().Seconds()}
		for i := range t.variants {
			held.Variants = append(held.Variants, t.judgeVariant(g, i))
		}
		out.OfRun = append(out.OfRun, held)
	}
	if out.PerRequest == nil && out.OfRun == nil {
		return nil
	}
	return out
}

// shared are the objectives of a kind that all runs have; not ok: they differ, so that what counts requests that met
// them counts different things. Those of an imported run may not be known.
func (t *table) shared(kind func([]plan.Objective) []plan.Objective) (all []plan.Objective, ok bool) {
	known := false
	for _, r := range t.runs {
		own := kind(r.run.Plan.Objectives)
		switch {
		case r.run.Origin != nil && len(own) == 0:
		case !known:
			all, known = own, true
		case !slices.Equal(all, own):
			return nil, false
		}
	}
	if len(all) == 0 {
		return nil, true
	}
	return all, true
}

// countsObjectives reports whether a figure counts the requests that met the objectives.
func countsObjectives(name string) bool {
	return name == figure.Goodput || name == figure.SLOAttainment
}

// hasMargin reports whether differences of a figure are held against the margin: relative ones, and those of the share
// that met the objectives, in points. A difference of counts that may be 0 has none.
func hasMargin(name string, plain bool) bool { return !plain || name == figure.SLOAttainment }
