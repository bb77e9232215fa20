package grid

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// readRows reads a table whose heads name the metrics: rows are variants, loads, or statistics.
func (r *reader) readRows() {
	columns, ok := r.columns()
	if !ok {
		return
	}
	byStatistic := r.rowsAreStatistics(columns)
	var above []string // cells of the row before, for those that are left empty
	for _, row := range r.rows {
		if !byStatistic && !r.turned {
			r.row = len(r.table.Results)
		}
		k := r.key(columns, row, &above)
		switch summary := len(k.stats) > 0 && !byStatistic && !r.turned; {
		case summary:
		case k.change:
			r.changeRow(columns, row, k)
		default:
			if byStatistic && !r.turned {
				k.load, k.variant = nil, ""
			}
			r.readRow(columns, row, k)
			r.shareLoad(columns, row, k)
		}
	}
}

// A rowKey is what tells a row apart.
type rowKey struct {
	line    int
	variant string
	load    []Setting
	stats   []string // the row is a statistic
	unit    unit
	change  bool // the row has changes
	label   label
}

// key reads what tells a row apart. A cell that is left empty, beside one that is not, repeats that above.
func (r *reader) key(columns []column, row row, above *[]string) (k rowKey) {
	k.line = row.n
	cells := slices.Clone(row.cells)
	for i, c := range columns {
		if c.tells() && cells[i] == "" && i < len(*above) && anyTells(columns, row.cells) {
			cells[i] = (*above)[i]
		}
	}
	*above = cells
	var parts []string
	var stated []Setting
	for i, c := range columns {
		switch {
		case c.kind == loadColumn && (!r.turned || i == 0):
			k.load = append(k.load, c.settingsOf(cells[i], false)...)
		case c.kind == keyColumn:
			k.label = r.label(cells[i])
			parts = append(parts, r.named(c.label, k.label))
			stated = append(stated, k.label.settings...)
			if r.turned {
				k.unit = k.label.unit
			}
			if k.label.statOnly() || r.turned {
				k.stats = k.label.stats
			}
			k.change = k.change || k.label.change && holdsChanges(row.cells, k.label)
		}
	}
	for _, s := range stated {
		if !slices.ContainsFunc(k.load, func(o Setting) bool { return o.Name == s.Name }) {
			k.load = append(k.load, s)
		}
	}
	k.variant = join(parts...)
	return k
}

// shareLoad gives the result of a row the settings that stand between its figures, where rows named the metrics.
func (r *reader) shareLoad(columns []column, row row, k rowKey) {
	if !r.turned || len(k.stats) > 0 && k.stats[0] != "mean" {
		return
	}
	for i, c := range columns {
		if c.kind != loadColumn || i == 0 {
			continue
		}
		if _, ok := readCell(row.cells[i]); ok {
			for _, s := range c.settingsOf(row.cells[i], r.tool != "") {
				r.result(k.line, k.variant, k.load, "").Set(s)
			}
		}
	}
}

// anyTells reports whether a cell that tells the row apart is filled.
func anyTells(columns []column, cells []string) bool {
	for i, c := range columns {
		if c.tells() && cells[i] != "" {
			return true
		}
	}
	return false
}

// named is a cell as a part of a variant's name: with its head, if it is a number or a switch.
func (r *reader) named(head, cell label) string {
	text := cell.text
	if r.turned {
		text = cell.rest
	}
	number := startsWithNumber(text)
	if len(cell.settings) > 0 {
		text = cell.rest
	}
	switch {
	case blankCell(text), isValue.MatchString(text), repeats.MatchString(text),
		number && repeats.MatchString(head.text):
		return ""
	case head.text != "" && (number || isSwitch.MatchString(text)):
		text = head.text + "=" + text
	}
	return clip(text)
}

// isValue matches the head of a column that has the values of the only variant.
var isValue = lazy.Regexp(`(?i)^(?:value|val|results?|数值|结果|值)$`)

// repeats are what only counts the repetitions of a measurement.
var repeats = lazy.Regexp(`(?i)^(?:(?:run|trial|round|rep|repeat|iteration|iter|no\.?|#|序号|轮次|次数)` +
	`\s*[#_-]?\s*\d{0,3}|第\s*[\d一二三四五]\s*[次轮])$`)

var isSwitch = lazy.Regexp(`(?i)^(?:on|off|yes|no|true|false|✓|✗|✅|❌|是|否|开|关)$`)

// rowsAreStatistics reports whether each row is a statistic of what the heads name.
func (r *reader) rowsAreStatistics(columns []column) bool {
	column := slices.IndexFunc(columns, func(c column) bool { return c.kind == keyColumn })
	if column < 0 || len(r.rows) < 2 {
		return false
	}
	return !slices.ContainsFunc(r.column(column), func(text string) bool { return !r.label(text).statOnly() })
}

// A doneRow is the values of a row that was read, which rows below may compare.
type doneRow struct {
	key    rowKey
	values []*float64
}

// readRow reads the figures of a row, and the changes that stand between them.
func (r *reader) readRow(columns []column, row row, k rowKey) {
	values := make([]*float64, len(columns))
	for n, c := range columns {
		cell, ok := readCell(row.cells[n])
		if !ok || c.kind != metricColumn && c.kind != changeColumn {
			continue
		}
		p := r.place(c, k)
		text := join(c.text, clean(row.cells[n]))
		switch {
		case c.kind == changeColumn:
			r.changeCell(columns, n, values, p, text, cell)
		case cell.after != nil:
			if k.label.change {
				p.variant = c.rest
			}
			r.arrow(p, text, cell)
		default:
			values[n] = r.figures(p, cell)
			if cell.amount != nil {
				r.change(p, text, c.way, *cell.amount, r.before(columns, n, values), values[n])
			}
		}
	}
	r.done = append(r.done, doneRow{k, values})
}

func (r *reader) place(c column, k rowKey) place {
	p := place{line: k.line, metric: c.metric, stats: c.stats, unit: c.unit, variant: k.variant}
	p.load = slices.Concat(k.load, c.settings)
	if c.line > 0 {
		p.line = c.line
	}
	if len(p.stats) == 0 {
		p.stats = k.stats
	}
	if !p.unit.told() && !k.change {
		p.unit = k.unit
	}
	if c.kind == metricColumn {
		p.variant = join(p.variant, c.rest)
	}
	return p
}

// before is the value that one further down or to the right is compared with.
func (r *reader) before(columns []column, n int, values []*float64) *float64 {
	if r.turned {
		if len(r.done) > 0 {
			return r.done[0].values[n]
		}
		return nil
	}
	for i, c := range columns[:n] {
		if c.kind == metricColumn && c.metric == columns[n].metric && slices.Equal(c.stats, columns[n].stats) {
			return values[i]
		}
	}
	return nil
}

// changeRow reads a row of changes: of the first row and the one above, if these are all, or rows are variants.
func (r *reader) changeRow(columns []column, row row, k rowKey) {
	var first, last doneRow
	switch n := len(r.done); {
	case !r.turned && n != 2:
		last.key = k
	case n == 1:
		last = r.done[0]
	case n > 1:
		first, last = r.done[0], r.done[n-1]
		if baseline.MatchString(last.key.label.text) && !baseline.MatchString(first.key.label.text) {
			first, last = last, first
		}
	}
	for n, c := range columns {
		cell, ok := readCell(row.cells[n])
		if !ok || c.kind != metricColumn {
			continue
		}
		p := r.place(c, k)
		p.variant = join(last.key.variant, c.rest)
		text := join(c.text, clean(row.cells[n]))
		a, ok := amountOf(k.label, cell)
		switch {
		case cell.after != nil:
			r.arrow(p, text, cell)
		case ok:
			r.change(p, text, k.label.way, a, valueAt(first, n), valueAt(last, n))
		}
	}
}

// valueAt is a value of a row, nil if there is none.
func valueAt(row doneRow, n int) *float64 {
	if n < len(row.values) {
		return row.values[n]
	}
	return nil
}

func (r *reader) changeCell(columns []column, n int, values []*float64, p place, text string, c cell) {
	a, ok := amountOf(columns[n].label, c)
	if !ok || p.metric == "" && !metricOf(columns, n, &p) {
		return
	}
	first, last := -1, -1 // columns that it compares
	for i, c := range columns[:n] {
		if c.kind == metricColumn && c.metric == p.metric && slices.Equal(c.stats, p.stats) && values[i] != nil {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	if first == last {
		r.change(p, text, columns[n].way, a, nil, nil)
		return
	}
	if baseline.MatchString(columns[last].rest) && !baseline.MatchString(columns[first].rest) {
		first, last = last, first
	}
	p.variant = join(p.variant, columns[last].rest)
	r.change(p, text, columns[n].way, a, values[first], values[last])
}

// metricOf is the metric that a column of changes is of, if its head names none: that of the column to its left where
// several such columns stand between those of metrics, else the only one of the table.
func metricOf(columns []column, n int, p *place) bool {
	unnamed := 0
	for _, c := range columns {
		if c.kind == changeColumn && c.metric == "" {
			unnamed++
		}
	}
	for i, c := range columns {
		if c.kind != metricColumn || unnamed > 1 && i != n-1 {
			continue
		}
		if p.metric != "" && (p.metric != c.metric || !slices.Equal(p.stats, c.stats)) {
			return false
		}
		p.metric, p.stats, p.unit = c.metric, c.stats, c.unit
	}
	return p.metric != ""
}
