package comparing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment"
	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/comparison"
)

// ExperimentInNote describes for a note how an experiment was carried out.
func ExperimentInNote(j *experiment.Journal, e *design.Experiment) *comparison.Experiment {
	all := e.Expanded()
	out := &comparison.Experiment{
		Name: j.Name, Date: j.Started.Format(time.DateOnly), File: j.File, Winner: j.Winner, Squares: len(all) > 2, Servers: servers(e, all), Starts: starts(j), Seed: e.Design.Seed,
		Runs: max(1, e.Design.Runs), Steady: e.WarmUp != design.Own, Looks: j.Looks, Ended: j.Ended, Cost: cost(j),
	}
	letters := map[string]string{}
	for i, v := range all {
		letters[v.Name] = comparison.Letter(i)
		out.Variants = append(out.Variants, comparison.NoteVariant{Name: v.Name, What: measuredOf(v)})
	}
	out.Orders, out.Confirming = orders(j, letters, false), orders(j, letters, true)
	for _, l := range j.With(experiment.Failed) {
		out.Lost = append(out.Lost, comparison.LostLeg{Leg: LegName(j, l), Variant: l.Variant, Why: l.Why})
	}
	return out
}

// orders are the legs of each block, or of each that confirms, as letters.
func orders(j *experiment.Journal, letters map[string]string, confirms bool) (rows []string) {
	by := map[int][]string{}
	var blocks []int
	for _, l := range j.Legs {
		if l.Confirms != confirms {
			continue
		}
		if by[l.Block] == nil {
			blocks = append(blocks, l.Block)
		}
		for len(by[l.Block]) < l.Slot {
			by[l.Block] = append(by[l.Block], "·")
		}
		if l.Status == experiment.Done {
			by[l.Block][l.Slot-1] = letters[l.Variant]
		}
	}
	slices.Sort(blocks)
	for _, b := range blocks {
		rows = append(rows, strings.Join(by[b], ""))
	}
	return rows
}

// servers is how those of the variants came and went, by the baseline's.
func servers(e *design.Experiment, all []design.Variant) plan.Code {
	s := all[0].Server
	virtual := !slices.ContainsFunc(e.Workloads, func(w design.Workload) bool { return !strings.HasPrefix(strings.TrimSpace(w.Command), "sim ") })
	switch restart := cmp.Or(e.Design.Restart, design.PerLeg); {
	case virtual:
		return comparison.ServersVirtual
	case s.Embedded():
		return comparison.ServersEngine
	case !s.Starts():
		return comparison.ServersUp
	case restart == design.PerLeg:
		return comparison.ServersPerLeg
	case restart == design.PerBlock:
		return comparison.ServersPerBlock
	}
	return comparison.ServersOnce
}

// measuredOf describes a variant in a line.
func measuredOf(v design.Variant) string {
	s := v.Server
	parts := []string{s.Image, s.Command, s.Deployment, s.Manifest, s.Profile, string(s.Engine), v.Flags, string(v.Settings)}
	if !s.Starts() {
		parts = append(parts, s.URL)
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}
