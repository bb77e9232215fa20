package grid

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// counts are heads of columns that tell nothing apart and have no figures.
var counts = lazy.Regexp(`(?i)^(?:n|#|count|samples?|notes?|remarks?|comments?|status|units?|better|` +
	`direction|单位|备注|说明)$`)

// turn makes a table whose rows name the metrics, in one of their cells, one whose heads do. Of its columns those with
// values become rows, and what stands ahead of them goes into the heads.
func (r *reader) turn(metric int) {
	values := r.valueColumns(metric)
	if len(values) == 0 {
		r.rows = nil
		return
	}
	lead := map[int]bool{} // columns ahead of the values, and whether they tell rows apart
	for i := range values[0] {
		lead[i] = i != metric && !sameAll(r.column(i))
	}
	heads, rows := []label{r.heads[0]}, make([]row, len(values))
	if heads[0].load == "" {
		heads[0].text = ""
	}
	for k, i := range values {
		rows[k] = row{n: r.rows[0].n, cells: []string{r.heads[i].text}}
	}
	var above section
	for _, row := range r.rows {
		l := r.label(row.cells[metric])
		if !slices.ContainsFunc(values, func(i int) bool { return !blankCell(row.cells[i]) }) {
			above.begin(l)
			continue
		}
		heads = append(heads, r.rowLabel(row, lead, above.of(l)))
		for k, i := range values {
			rows[k].cells = append(rows[k].cells, row.cells[i])
		}
	}
	r.heads, r.rows, r.turned = heads, rows, true
}

func (r *reader) valueColumns(metric int) (all []int) {
	for i := metric + 1; i < len(r.heads); i++ {
		h := r.heads[i]
		number := startsWithNumber(h.text) && r.heads[0].load == "" && len(h.stats) == 0
		cells := r.column(i)
		difference := h.onlyChange() && !holdsChanges(cells, h)
		if counts.MatchString(h.text) || h.foreign || number || difference {
			continue
		}
		if hasNumber(cells) {
			all = append(all, i)
		}
	}
	return all
}

// A section is what rows without values say of those below.
type section struct {
	metric  label
	heading label
}

func (s *section) begin(l label) {
	if l.metric != "" {
		s.metric = l
		return
	}
	*s = section{heading: l}
}

// of is the label of a row in the section. One that names only a statistic has the metric of the row above.
func (s *section) of(l label) label {
	if l.metric == "" && (l.statOnly() || l.text == "") {
		stats, text := l.stats, l.text
		l = s.metric
		l.text = join(l.text, text)
		if len(stats) > 0 {
			l.stats = stats
		}
	}
	if l.metric != "" {
		s.metric = l
	}
	l.rest = join(s.heading.rest, l.rest)
	l.settings = slices.Concat(s.heading.settings, l.settings)
	return l
}

// rowLabel is a row's label with what the other cells ahead of its values, and that of its unit, say.
func (r *reader) rowLabel(row row, lead map[int]bool, l label) label {
	l.line = row.n
	for i, text := range row.cells {
		u, isUnit := unitOf(text)
		tells, ahead := lead[i]
		switch {
		case isUnit && !l.unit.told():
			l.unit = u
		case !ahead, text == "", isUnit:
		case len(l.stats) == 0 && r.label(text).statOnly():
			l.stats = r.label(text).stats
		case !tells:
		case r.heads[i].load != "":
			l.settings = slices.Concat(l.settings, r.heads[i].settingsOf(text, false))
		default:
			l.rest = join(r.named(r.heads[i], r.label(text)), l.rest)
			l.settings = slices.Concat(l.settings, r.label(text).settings)
		}
	}
	return l
}

// sameAll reports whether all cells of a column are the same: they tell nothing apart.
func sameAll(cells []string) bool {
	return !slices.ContainsFunc(cells, func(c string) bool { return c != cells[0] })
}
