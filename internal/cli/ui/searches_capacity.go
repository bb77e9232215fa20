package ui

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/store"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/view"
	"github.com/pitot-bench/pitot/internal/show/words"
)

func capacityOf(v *view.Search, x store.Search, runs []store.Listing, l *words.Language) error {
	byNumber := numbered(x.Name, runs)
	a, err := answerOf(x)
	if err != nil {
		return err
	}
	c := &view.Capacity{
		By: string(a.By), Objectives: []view.CapacityObjective{}, Budget: a.Budget.Seconds(), Wanted: a.Wanted, End: string(a.End),
		Load: searchesKnown(a.Load), Precision: searchesKnown(a.Precision), Passes: searchesKnown(a.Passes), Fails: searchesKnown(a.Fails), Binding: -1,
		Legs: []view.CapacityLeg{}, Sides: []view.CapacitySide{},
	}
	if c.Objectives, err = objectives(a.Objectives, l); err != nil {
		return err
	}
	c.Binding = slices.Index(a.Objectives, a.Binding)
	for _, leg := range a.Runs {
		c.Legs = append(c.Legs, legOf(leg, byNumber[leg.Number], x.Status, l))
	}
	for _, s := range []struct {
		name string
		search.Side
	}{{"passes", a.Below}, {"fails", a.Above}} {
		if s.Legs > 0 {
			c.Sides = append(c.Sides, view.CapacitySide{Name: s.name, Load: s.Load, Legs: s.Legs, Requests: s.Requests, Beyond: beyond(s.Attained, s.Requests)})
		}
	}
	v.Capacity = c
	for _, m := range a.Text {
		v.Answer = append(v.Answer, l.Say(m))
	}
	return nil
}

func objectives(texts []string, l *words.Language) ([]view.CapacityObjective, error) {
	out := []view.CapacityObjective{}
	all, _, err := metrics.Parse(strings.Join(texts, ","))
	for _, o := range all {
		out = append(out, view.CapacityObjective{
			Name: o.Name(), Text: o.String(), Title: l.Word(plan.Code("latency." + o.Metric)), Limit: o.Limit.Seconds(), Beyond: 1 - o.Goal(),
		})
	}
	return out, err
}

func legOf(a search.AnswerLeg, r store.Listing, search trace.Status, l *words.Language) view.CapacityLeg {
	leg := view.CapacityLeg{
		Number: a.Number, Load: a.Load, By: string(a.By), Why: string(a.Why), Run: r.ID, Running: a.Verdict == "" && search == trace.Running,
		Requests: a.Requests, Failed: a.Failed, Beyond: beyond(a.Attained, a.Requests), Latency: []*float64{},
		Verdict: strings.ReplaceAll(string(a.Verdict), " ", "-"), Clear: a.Clear, Seconds: a.Seconds,
	}
	if a.Reason != "" {
		leg.Reason = l.Word(a.Reason)
	}
	for _, at := range a.Limited {
		leg.Latency = append(leg.Latency, searchesKnown(at))
	}
	return leg
}

// beyond are the shares that are not within the limits.
func beyond(attained []float64, requests int) []*float64 {
	out := []*float64{}
	for _, share := range attained {
		if off := max(0, 1-share); requests > 0 {
			out = append(out, &off)
		} else {
			out = append(out, nil)
		}
	}
	return out
}

// searchesKnown is a number, or nil for 0.
func searchesKnown(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return &v
}
