package comparison

import (
	"cmp"
	"math"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// layout are lines on what an experiment tells beside its changes: by how much figures vary
// without any, how they drift, and what the order of legs did.
func (w Words) layout(load compare.Workload) doc.Lines {
	if load.Layout == nil {
		return nil
	}
	rows := firstRows(load)
	noise := w.line("label.noise", w.spreads(load, rows))
	drift := w.line("label.drift", w.Join("comma", w.shifts(rows, func(r compare.Row) *compare.Shift { return r.Drift })...))
	return nonempty(noise, drift, w.line("label.order", w.orders(load, rows)))
}

// orders are what the order of legs did to the changes. Of several variants only those are
// named whose interval leaves out 0.
func (w Words) orders(load compare.Workload, rows []compare.Row) string {
	order := func(i int, apart bool) func(compare.Row) *compare.Shift {
		return func(r compare.Row) *compare.Shift {
			if c := r.Cells[i].Change; c != nil && c.Order != nil && (!apart || leavesOutZero(c.Order.Interval)) {
				return c.Order
			}
			return nil
		}
	}
	if len(load.Variants) == 2 {
		return w.Join("comma", w.shifts(rows, order(1, false))...)
	}
	var parts []string
	seen := 0
	for i, v := range load.Variants {
		seen += len(w.shifts(rows, order(i, false)))
		if said := w.shifts(rows, order(i, true)); said != nil {
			parts = append(parts, w.Of(doc.Clean(v.Name), w.Join("comma", said...)))
		}
	}
	switch {
	case seen == 0:
		return ""
	case parts == nil:
		return w.Word("layout.no-order", "n", seen)
	}
	return w.Word("layout.orders", "effects", parts, "n", seen)
}

func leavesOutZero(i *compare.Interval) bool { return i != nil && i.Low*i.High > 0 }

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
func (w Words) shifts(rows []compare.Row, of func(compare.Row) *compare.Shift) (parts []string) {
	for _, r := range rows {
		if s := of(r); s != nil {
			c, scale, places := compare.Change{Relative: s.Relative, Interval: s.Interval}, scaleOf(r), placesOfShift(*s)
			parts = append(parts, doc.Join(" ", w.Title(r.Quantity), w.change(c, scale, places), w.interval(c, scale, places)))
		}
	}
	return parts
}

// placesOfShift are its decimals in percent: one, or two where one would leave nothing of it.
func placesOfShift(s compare.Shift) int {
	largest := math.Abs(s.Relative)
	if i := s.Interval; i != nil {
		largest = max(largest, math.Abs(i.Low), math.Abs(i.High))
	}
	if largest < 0.002 {
		return 2
	}
	return 1
}
