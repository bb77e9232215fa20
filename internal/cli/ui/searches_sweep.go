package ui

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/sweeps"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

func sweepOf(v *view.Search, s *store.Store, x store.Search, runs []store.Listing, l *words.Language) error {
	d, err := designOf(x)
	if err != nil {
		return err
	}
	points := map[string]int{} // by the name of a run
	for i, p := range d.Points {
		for r := range d.Repeats {
			points[curve.RunName(x.Name, p, r+1)] = i
		}
	}
	var seen []curve.Observation
	under := map[int][]string{} // ids of runs under way, by point
	met, same := map[string]bool{}, map[int]string{}
	for _, r := range runs { // the newest first
		i, ok := points[r.Name]
		if !ok || met[r.Name] {
			continue
		}
		switch r.Status {
		case trace.Running:
			under[i] = append(under[i], r.ID)
		case trace.Complete:
			o, err := observed(s, i, r, d.Settled(i))
			if err != nil {
				return err
			}
			seen = append(seen, o)
		default:
			continue
		}
		met[r.Name], same[i] = true, r.SameLoad()
	}
	slices.Reverse(seen)
	made, says := sweeps.View(d.Sweep(x.Name, seen), l)
	for i, key := range same {
		made.Points[i].Same = key
	}
	for i, ids := range under {
		made.Points[i].Running = true
		made.Points[i].Runs = append(made.Points[i].Runs, ids...)
	}
	v.Sweep, v.Answer = &made, append(v.Answer, says...)
	known := func(p view.SweepPoint) bool { return len(p.Figures) > 0 }
	if x.Status == trace.Complete && !slices.ContainsFunc(made.Points, known) {
		v.Row.End = "nothing"
	}
	return nil
}

// Why a run is no evidence, which experiments say too.
const unanswered plan.Code = "experiment.leg-unanswered"

func observed(s *store.Store, point int, r store.Listing, settled bool) (o curve.Observation, err error) {
	o = curve.Observation{Point: point, Run: r.ID}
	switch {
	case r.Records > 0 && r.Failed == r.Records:
		o.Failed = plan.Msg(unanswered, "why", plan.Msg("sweep.unanswered", "requests", r.Failed))
		return o, nil
	case r.Validity == trace.Invalid:
		run, err := s.Run(r.ID)
		if err == nil && run.Verdict != nil {
			o.Failed = metrics.Invalid(*run.Verdict)
		}
		return o, err
	}
	o.Figures, err = view.OwnFigures(s, r.ID, settled)
	return o, err
}
