package compare

import (
	"cmp"
	"slices"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// simulated reports whether a run is of an engine model. Imported runs were measured, as far as
// anybody knows.
func (r *ComparedRun) simulated() bool { return r.run.Kind == trace.Simulated }

// checkKinds refuses to compare simulated runs with measured ones, unless that is wanted.
func checkKinds(runs []*ComparedRun, wanted bool) error {
	simulated := slices.IndexFunc(runs, (*ComparedRun).simulated)
	measured := slices.IndexFunc(runs, func(r *ComparedRun) bool { return !r.simulated() })
	var p plan.Problems
	mixed := !wanted && simulated >= 0 && measured >= 0
	p.If(mixed, "predicted", nil, "%s is simulated, and %s was measured", nameOf(runs, simulated), nameOf(runs, measured))
	p.Hint(mixed, "give this flag to compare simulated runs with measured ones")
	return p.Err()
}

// nameOf is what a run is called, as it was asked for.
func nameOf(runs []*ComparedRun, i int) string {
	if i < 0 {
		return ""
	}
	return cmp.Or(runs[i].Variant, plainName(runs[i]))
}

// checkPools refuses runs of both kinds in one variant: what simulations vary by is no noise
// of a server.
func checkPools(tables []*table) error {
	var p plan.Problems
	for _, t := range tables {
		for _, v := range t.variants {
			one := v.runs[0]
			i := slices.IndexFunc(v.runs, func(r *ComparedRun) bool { return r.simulated() != one.simulated() })
			if i >= 0 && p == nil {
				other := v.runs[i]
				if one.simulated() {
					one, other = other, one
				}
				p.If(true, "predicted", nil, "variant %s has measured and simulated runs, such as %s and %s, which are not pooled; name them apart, as two arguments",
					v.name, plainName(one), plainName(other))
			}
		}
	}
	return p.Err()
}

// predicted reports whether a gate on a variant is of simulated runs, among measured ones.
func (t *table) predicted(g Gate, i int) bool {
	own, base := t.out.Variants[i].Simulated, t.out.Variants[0].Simulated
	mixed := slices.ContainsFunc(t.out.Variants, func(v Variant) bool { return v.Simulated != base })
	return mixed && (own || g.Relative && base)
}
