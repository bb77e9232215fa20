package comparison

import (
	"cmp"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/compare"
)

// layout are lines on what an experiment tells beside its changes: by how much figures vary
// without any, how they drift, and what the order of legs did.
func (w Words) layout(load compare.Workload) []line {
	if load.Layout == nil {
		return nil
	}
	rows := firstRows(load)
	lines := []line{w.line("label.noise", w.spreads(load, rows))}
	lines = append(lines, w.line("label.drift", w.shifts(rows, func(r compare.Row) *compare.Shift { return r.Drift })))
	for i, v := range load.Variants {
		said := w.shifts(rows, func(r compare.Row) *compare.Shift {
			if c := r.Cells[i].Change; c != nil {
				return c.Order
			}
			return nil
		})
		if said != "" && len(load.Variants) > 2 {
			said = w.Of(v.Name, said)
		}
		lines = append(lines, w.line("label.order", said))
	}
	return w.nonempty(lines...)
}

// firstRows are the figures with a spread that people look at first.
func firstRows(load compare.Workload) (rows []compare.Row) {
	for _, r := range load.Rows {
		if r.Rank > 0 && r.Spread != nil && !r.Input {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b compare.Row) int { return cmp.Compare(a.Rank, b.Rank) })
	return rows[:min(listed, len(rows))]
}

func (w Words) spreads(load compare.Workload, rows []compare.Row) string {
	var starts, runs []string
	for _, r := range rows {
		starts = append(starts, w.Title(r.Quantity)+" "+w.deviation(r.Spread.Start))
		if r.Spread.RunDF > 0 {
			runs = append(runs, w.Title(r.Quantity)+" "+w.deviation(r.Spread.Run))
		}
	}
	if starts == nil {
		return ""
	}
	parts := []string{w.Word("layout.spread", "starts", load.Layout.Restarted, "figures", starts, "df", rows[0].Spread.StartDF)}
	if runs != nil {
		parts = append(parts, w.Word("layout.spread-runs", "figures", runs))
	}
	return w.Join("stop", parts...)
}

func (w Words) deviation(sd float64) string { return w.rough(math.Expm1(sd)) }

// shifts names figures with the relative changes that a kind of shift has.
func (w Words) shifts(rows []compare.Row, of func(compare.Row) *compare.Shift) string {
	var parts []string
	for _, r := range rows {
		if s := of(r); s != nil {
			c := compare.Change{Relative: s.Relative, Interval: s.Interval}
			said := w.Title(r.Quantity) + " " + w.Change(r, c)
			if s.Interval != nil {
				said += " " + w.Interval(r, c)
			}
			parts = append(parts, said)
		}
	}
	return w.Join("comma", parts...)
}
