package comparison

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/report"
)

// objectives are lines on those that the runs of a workload were held to: the share of the requests that met those of
// each request, with its difference, and whether each of those of the run is met, by variant.
func (w Phrases) objectives(load compare.Workload) (lines doc.Lines) {
	if load.Objectives == nil {
		return nil
	}
	at := slices.IndexFunc(load.Rows, func(r compare.Row) bool { return r.Quantity.Name == figure.SLOAttainment })
	if limits := load.Objectives.PerRequest; len(limits) > 0 && at >= 0 {
		lines = append(lines, w.line("label.objective", w.Of(report.Objectives(limits), w.attained(load, load.Rows[at]))))
	}
	for _, o := range load.Objectives.OfRun {
		var parts []string
		for i, v := range load.Variants {
			held := o.Variants[i]
			code := map[compare.Outcome]string{compare.Pass: "met", compare.Fail: "not met"}[held.Outcome]
			if code == "" {
				code = "open"
			}
			said := report.Met(code, w.Language)
			if held.Interval != nil || held.Value != 0 {
				said = w.Join("clause", said, w.gateValue(held))
			}
			parts = append(parts, doc.Join(" ", bounded(v.Name, nameColumns), said))
		}
		lines = append(lines, w.line("label.objective", w.Of(report.Objective(o.Objective, w.Language), w.Join("stop", parts...))))
	}
	return lines
}

// attained is the share of the requests of each variant that met the objectives, with its difference.
func (w Phrases) attained(load compare.Workload, r compare.Row) string {
	s, parts := scaleOf(r), []string{}
	for i, v := range load.Variants {
		if i >= len(r.Cells) || len(r.Cells[i].Values) == 0 {
			continue
		}
		said := w.percent(s.value(r.Cells[i]))
		if c := r.Cells[i].Change; c != nil {
			said = w.InBrackets(said, doc.Join(" ", w.Change(r, *c), w.Interval(r, *c), w.plainVerdict(*c)))
		}
		parts = append(parts, doc.Join(" ", bounded(v.Name, nameColumns), said))
	}
	return w.Word("objective.met-by", "variants", w.Join("clause", parts...))
}
