package digest

import (
	"math"

	"github.com/pitot-bench/pitot/internal/show/view"
)

// A Window selects requests of Rows.
type Window struct {
	From, Until float64 // seconds: requests that were there at some time between; Until 0: to the end
	Since       int     // how many stored requests to pass over: those that one has
	Most        int     // rows at most, of all requests that are there between From and Until; 0: all
}

// Rows are requests as columns. Of more than Most there is each second, fourth ...: which of
// them does not depend on Since.
func (d *Digest) Rows(w Window) view.Rows {
	c := &d.columns
	rows := view.Rows{RowsHeader: view.RowsHeader{
		Every: 1, Unit: d.second(), Next: d.Requests(),
		Columns: []string{"index", "due", "released", "sent", "first", "last", "done", "prompt", "output", "class"},
		Classes: []string{""},
	}}
	for _, f := range d.failed.known {
		rows.Classes = append(rows.Classes, string(f.Class))
	}
	for n := d.inside(w, 0, 1); w.Most > 0 && n/rows.Every > w.Most; {
		rows.Every *= 2
	}
	rows.N = d.inside(w, w.Since, rows.Every)
	for _, column := range []*column[uint32]{&c.index, &c.due, &c.released, &c.sent, &c.first, &c.last, &c.done, &c.prompt, &c.output} {
		values := make([]uint32, 0, rows.N)
		d.walk(w, w.Since, rows.Every, func(i int) { values = append(values, column.at(i)) })
		rows.Values = append(rows.Values, values)
	}
	classes := make([]uint32, 0, rows.N)
	d.walk(w, w.Since, rows.Every, func(i int) { classes = append(classes, uint32(c.class.at(i))) })
	rows.Values = append(rows.Values, classes)
	return rows
}

// inside counts what walk visits.
func (d *Digest) inside(w Window, since, every int) (n int) {
	d.walk(w, since, every, func(int) { n++ })
	return n
}

// walk visits every so-manieth request of those in a window, from number since on.
func (d *Digest) walk(w Window, since, every int, visit func(i int)) {
	from, until := d.column(w.From), uint32(never)
	if w.Until > 0 {
		until = d.column(w.Until)
	}
	all := from == 0 && until == never
	c := &d.columns
	for i := max(0, since); i < c.index.n; i++ {
		if i%every != 0 {
			continue
		}
		if all || c.done.at(i) >= from && d.begun(i) <= until {
			visit(i)
		}
	}
}

// begun is when a request was first wanted, by whatever is known of it.
func (d *Digest) begun(i int) uint32 {
	c := &d.columns
	return min(c.due.at(i), c.released.at(i), c.sent.at(i), c.done.at(i))
}

// column is a number of seconds as instants are in columns.
func (d *Digest) column(seconds float64) uint32 {
	return uint32(max(0, min(seconds/d.second(), math.MaxUint32-1)))
}
