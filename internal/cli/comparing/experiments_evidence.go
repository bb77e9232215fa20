package comparing

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/plan"
)

// NoEvidence says which variants have no leg that counts, and why, where an experiment has too few others to
// compare: the baseline, or all but one. It is zero where there is something to compare.
func NoEvidence(j *experiment.Journal, names []string, baseline string) plan.Message {
	var without []plan.Message
	missing := false
	for _, name := range names {
		if m := noLeg(j, name); !m.IsZero() {
			without = append(without, m)
			missing = missing || name == baseline
		}
	}
	if without == nil || !missing && len(names)-len(without) > 1 {
		return plan.Message{}
	}
	return plan.Msg("experiment.no-evidence", "variants", without)
}

// noLeg says that no leg of a variant counts; zero: some do.
func noLeg(j *experiment.Journal, variant string) plan.Message {
	failed := 0
	var whys []plan.Message
	for _, l := range j.Legs {
		switch {
		case l.Variant != variant:
		case l.Status == experiment.Done:
			return plan.Message{}
		case l.Status == experiment.Failed:
			failed++
			if !slices.ContainsFunc(whys, func(m plan.Message) bool { return m.Key() == l.Why.Key() }) {
				whys = append(whys, l.Why)
			}
		}
	}
	if failed == 0 {
		return plan.Msg("experiment.no-leg-yet", "variant", variant)
	}
	const most = 2 // the table of legs has all
	return plan.Msg("experiment.no-valid-leg", "variant", variant, "legs", failed, "whys", whys[:min(len(whys), most)], "more", len(whys)-min(len(whys), most))
}
