package capacity

import (
	"io"
	"path/filepath"
	"strconv"

	"github.com/pitot-bench/pitot/internal/experiment/search"
	"github.com/pitot-bench/pitot/internal/judge/curve"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/plot"
	"github.com/pitot-bench/pitot/internal/show/sweeps"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// A picture collects the legs of a search; each is a point of a curve.
type picture struct {
	points []curve.Point
	seen   []curve.Observation
	first  trace.Run // of the legs, which differ in their load alone
}

// add adds a leg, unless its load is in the other unit.
func (p *picture) add(t *trace.Trace, l search.Leg, by search.LoadUnit) {
	if len(p.seen) == 0 {
		p.first = t.Run
	}
	if l.By != by {
		return
	}
	at, value := -1, strconv.FormatFloat(l.Load, 'g', -1, 64)
	for i, point := range p.points {
		if point.Value(string(by)) == value {
			at = i
		}
	}
	if at < 0 {
		at, p.points = len(p.points), append(p.points, curve.Point{{Name: string(by), Value: value}})
	}
	o := curve.Observation{Point: at, Run: t.Run.ID, Unsettled: metrics.Unsettled(t), Figures: metrics.PitotDefinitions().Figures(t, "")}
	if len(search.InTheWay(t.Run.Verdict)) > 0 {
		o.Failed = metrics.Invalid(*t.Run.Verdict)
	}
	p.seen = append(p.seen, o)
}

// write writes what -o asks for: the answer, a row for each load, and plots of the figures by load.
func (g *legs) write(a *search.Answer) error {
	if g.Folder == "" {
		return nil
	}
	s := curve.New(g.name, g.picture.points, g.picture.seen, 1, string(g.s.By), nil)
	s.Simulated = g.URL == ""
	all := []sweeps.Plot{
		{File: "capacity.json", Draw: func(w io.Writer) error { return writeJSON(w, a, words.In(words.Default)) }},
		{File: "capacity.csv", Draw: func(w io.Writer) error { return sweeps.CSV(w, s) }},
	}
	under := sweeps.Subtitle([]trace.Run{g.picture.first}, g.sess.Words())
	for _, p := range append(g.limits(a), sweeps.Plots(s, g.sess.Words())...) {
		all = append(all, sweeps.Plot{File: p.File, Draw: func(w io.Writer) error { return p.Draw(plot.Subtitled{Writer: w, Text: under}) }})
	}
	return sweeps.WriteFiles(all, func(name string, write func(io.Writer) error) error {
		return session.WriteFile("--folder", filepath.Join(g.Folder, name), write)
	})
}

// limits are plots of the figures that objectives limit, by load, each with its limit.
func (g *legs) limits(a *search.Answer) (all []sweeps.Plot) {
	word := g.sess.Word
	x := word(map[search.LoadUnit]plan.Code{search.Rate: "sweep.axis-requests", search.Concurrency: "plot.in-flight"}[g.s.By])
	for i, o := range g.s.Objectives {
		limit := 1000 * o.Limit.Seconds()
		var spots []plot.Spot
		low, high := 0.0, 0.0
		for _, l := range a.Runs {
			if l.By != g.s.By || i >= len(l.Limited) || l.Limited[i] <= 0 {
				continue
			}
			spots = append(spots, plot.Spot{X: l.Load, Y: 1000 * l.Limited[i], Ringed: l.Verdict != search.Met})
			if low == 0 || l.Load < low {
				low = l.Load
			}
			high = max(high, l.Load)
		}
		if spots == nil {
			continue
		}
		c := plot.Chart{Title: word("capacity.plot", "figure", o.Name(), "name", g.name), X: x, Y: o.Name() + " (ms)", Lines: []plot.Path{
			{Name: word("capacity.plot-runs"), Spots: spots, Loose: true},
			{Name: word("capacity.plot-limit", "limit", o.Limit.String()), Spots: []plot.Spot{{X: low, Y: limit}, {X: high, Y: limit}}},
		}}
		all = append(all, sweeps.Plot{File: o.Name() + ".svg", Draw: c.Draw})
	}
	return all
}
