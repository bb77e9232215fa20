package grid

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
)

// A column is what a column holds where the heads name the metrics.
type column struct {
	kind columnKind
	label
}

type columnKind int

const (
	otherColumn columnKind = iota
	keyColumn              // tells rows apart
	loadColumn
	metricColumn
	changeColumn
)

// byHeads reads a table whose heads name the metrics: rows are variants, loads, or statistics.
func (r *reader) byHeads() {
	columns, ok := r.columns()
	if !ok {
		return
	}
	byStatistic := r.rowsAreStatistics(columns)
	var keys []string // of the row before, for cells that are left empty
	last := ""
	for i, row := range r.rows {
		if !byStatistic {
			r.row = len(r.table.Results)
		}
		k := r.key(columns, row, &keys)
		if byStatistic {
			k.load = nil
		}
		k.other, last = last, k.variant
		if summary := k.stat != "" && !byStatistic; !summary {
			r.readRow(columns, i, k)
		}
	}
}

// columns sorts the columns. What stands ahead of the first metric tells rows apart.
func (r *reader) columns() (all []column, ok bool) {
	lead := true
	metrics := 0
	for i, h := range r.heads {
		c := column{label: h}
		switch rated := r.isRate(i, lead); {
		case h.foreign:
		case h.change && r.holdsChanges(i):
			c.kind = changeColumn
		case h.onlyChange():
		case rated:
			c.kind, c.load, c.metric = loadColumn, "rate", ""
		case lead && strings.EqualFold(h.text, "c") && !r.hasFractions(i):
			c.kind, c.load = loadColumn, "concurrency"
		case h.metric != "":
			c.kind = metricColumn
			metrics++
		case h.load != "" && (h.load != "concurrency" || !r.hasFractions(i)):
			c.kind = loadColumn
		case lead && h.tells():
			c.kind = keyColumn
		}
		lead = lead && (c.kind == keyColumn || c.kind == loadColumn || c.kind == otherColumn)
		all = append(all, c)
	}
	tellApart(all)
	return all, metrics > 0 || slices.ContainsFunc(all, func(c column) bool { return c.kind == changeColumn && c.metric != "" })
}

// measures are heads of columns that are results, but none of a load test.
var measures = regexp.MustCompile(`(?i)accura|\bhit\b|\bacc\b|score|gsm8k|mmlu|pass@|\brate\b|\bratio\b|memory|\bmem\b|\bgi?b\b|利用率|精度|准确率|命中率|显存|接受率`)

// tells reports whether cells below the head can tell rows apart: they are no measurements.
func (l label) tells() bool {
	measured := l.latency || l.unit.told() || len(l.stats) > 0 && !l.statOnly()
	return l.load == "" && !measured && !measures.MatchString(spaced(l.text)) && !counts.MatchString(l.text)
}

// isRate reports whether a column of requests per second is the load: it stands ahead of the figures and has round
// numbers.
func (r *reader) isRate(i int, lead bool) bool {
	h := r.heads[i]
	if !lead || h.metric != figure.RequestThroughput || h.rest != "" || len(h.stats) > 0 || strings.Contains(strings.ToLower(h.text), "put") {
		return false
	}
	others := slices.ContainsFunc(r.heads, func(o label) bool { return o.metric != "" && o.metric != h.metric })
	return others && (i == 0 || !r.hasFractions(i))
}

func (r *reader) hasFractions(column int) bool {
	return slices.ContainsFunc(r.rows, func(row row) bool {
		c, ok := readCell(row.cells[column])
		return ok && len(c.values) > 0 && c.values[0].step < 0.1
	})
}

// tellApart leaves to columns what their heads say beside the metric only where that tells columns of one metric
// apart. Columns that nothing tells apart are not read.
func tellApart(all []column) {
	apart := false
	for i, a := range all {
		for k, b := range all[:i] {
			if a.kind != metricColumn || b.kind != metricColumn || a.metric != b.metric || !slices.Equal(a.stats, b.stats) || a.unit.dimension != b.unit.dimension {
				continue
			}
			if a.rest == b.rest && slices.Equal(a.settings, b.settings) {
				all[i].kind, all[k].kind = otherColumn, otherColumn
			}
			apart = true
		}
	}
	for i := range all {
		if !apart && all[i].kind == metricColumn {
			all[i].rest = ""
		}
	}
}

// A rowKey is what tells a row apart.
type rowKey struct {
	line    int
	variant string
	load    []Setting
	stat    string // the row is a statistic
	change  bool   // the row has changes
	other   string // the variant of the row before, which they are of
	way     string
	text    string
}

// key reads what tells a row apart. A cell that is left empty, beside one that is not, repeats that above.
func (r *reader) key(columns []column, row row, above *[]string) (k rowKey) {
	k.line = row.n
	cells := slices.Clone(row.cells)
	filled := slices.ContainsFunc(columns, func(c column) bool { return c.kind == keyColumn || c.kind == loadColumn })
	for i, c := range columns {
		if tells := c.kind == keyColumn || c.kind == loadColumn; tells && cells[i] == "" && filled && i < len(*above) && anyTells(columns, row.cells) {
			cells[i] = (*above)[i]
		}
	}
	*above = cells
	var parts, texts []string
	var stated []Setting
	for i, c := range columns {
		switch c.kind {
		case loadColumn:
			k.load = append(k.load, c.settingsOf(cells[i], false)...)
		case keyColumn:
			l := r.label(cells[i])
			k.change = k.change || l.onlyChange()
			k.way = l.way
			if l.statOnly() {
				k.stat = l.stats[0]
			}
			parts = append(parts, named(c.label, l))
			stated = append(stated, l.settings...)
			texts = append(texts, l.text)
		}
	}
	for _, s := range stated {
		if !slices.ContainsFunc(k.load, func(o Setting) bool { return o.Name == s.Name }) {
			k.load = append(k.load, s)
		}
	}
	k.variant, k.text = join(parts...), join(texts...)
	return k
}

// anyTells reports whether a cell that tells the row apart is filled.
func anyTells(columns []column, cells []string) bool {
	for i, c := range columns {
		if (c.kind == keyColumn || c.kind == loadColumn) && cells[i] != "" {
			return true
		}
	}
	return false
}

// named is a cell as a part of a variant's name: with its head, if it is a number or a switch.
func named(head, cell label) string {
	text := cell.text
	if repeats.MatchString(head.text) && startsWithNumber(text) || repeats.MatchString(text) {
		return ""
	}
	if len(cell.settings) > 0 {
		text = cell.rest
	}
	if blankCell(text) {
		return ""
	}
	if startsWithNumber(text) && head.text != "" || switches[strings.ToLower(text)] && head.text != "" {
		return clip(head.text + "=" + text)
	}
	return clip(text)
}

// repeats are what only counts the repetitions of a measurement.
var repeats = regexp.MustCompile(`(?i)^(?:(?:run|trial|round|rep|repeat|iteration|iter|no\.?|#|序号|轮次|次数)\s*[#_-]?\s*\d{0,3}|第\s*[\d一二三四五]\s*[次轮])$`)

var switches = map[string]bool{"on": true, "off": true, "yes": true, "no": true, "true": true, "false": true, "✓": true, "✗": true, "✅": true, "❌": true, "是": true, "否": true, "开": true, "关": true}

// rowsAreStatistics reports whether each row is a statistic of what the heads name.
func (r *reader) rowsAreStatistics(columns []column) bool {
	column := slices.IndexFunc(columns, func(c column) bool { return c.kind == keyColumn })
	if column < 0 || len(r.rows) < 2 {
		return false
	}
	return !slices.ContainsFunc(r.rows, func(row row) bool { return !r.label(row.cells[column]).statOnly() })
}

// readRow reads the figures and changes of a row.
func (r *reader) readRow(columns []column, i int, k rowKey) {
	cells := r.rows[i].cells
	values := make([]*float64, len(columns))
	for n, c := range columns {
		cell, ok := readCell(cells[n])
		if !ok || c.kind != metricColumn && c.kind != changeColumn {
			continue
		}
		p := place{line: k.line, metric: c.metric, stats: c.stats, unit: c.unit, variant: k.variant, load: append(slices.Clone(k.load), c.settings...)}
		if k.stat != "" && len(c.stats) == 0 {
			p.stats, p.variant = []string{k.stat}, ""
		}
		text := join(k.text, c.text, clean(cells[n]))
		if c.kind == changeColumn {
			r.changeCell(columns, n, values, p, text, cell)
			continue
		}
		p.variant = join(p.variant, c.rest)
		switch {
		case k.change:
			if a, ok := amountOf(label{text: k.text}, cell); ok {
				before, after := r.above(i, 2, n, p), r.above(i, 1, n, p)
				p.variant = join(k.other, c.rest)
				r.change(p, text, k.way, a, before, after)
			}
		case cell.after != nil:
			r.arrow(p, text, cell)
		default:
			values[n] = r.figures(p, cell)
			r.beside(p, text, cell, values[:n+1], columns)
		}
	}
}

// beside reads the amount that stands with a value, or alone where others have values.
func (r *reader) beside(p place, text string, c cell, values []*float64, columns []column) {
	if c.amount == nil {
		return
	}
	n := len(values) - 1
	var before *float64
	for i := range n {
		if columns[i].kind == metricColumn && columns[i].metric == p.metric && slices.Equal(columns[i].stats, p.stats) && before == nil {
			before = values[i]
		}
	}
	r.change(p, text, columns[n].way, *c.amount, before, values[n])
}

// changeCell reads a cell of a column of changes.
func (r *reader) changeCell(columns []column, n int, values []*float64, p place, text string, c cell) {
	a, ok := amountOf(columns[n].label, c)
	if !ok {
		return
	}
	if p.metric == "" && !metricOf(columns, n, &p) {
		return
	}
	var before, after *float64
	first := -1
	for i, c := range columns[:n] {
		if c.kind != metricColumn || c.metric != p.metric || !slices.Equal(c.stats, p.stats) || values[i] == nil {
			continue
		}
		if first < 0 {
			first = i
			continue
		}
		before, after = values[first], values[i]
		p.variant = join(p.variant, c.rest)
		if baseline.MatchString(c.rest) && !baseline.MatchString(columns[first].rest) {
			before, after = after, before
		}
	}
	r.change(p, text, columns[n].way, a, before, after)
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

// above is the value some rows up, nil if there is none.
func (r *reader) above(i, up, column int, p place) *float64 {
	if i-up < 0 || i != 2 {
		return nil
	}
	c, ok := readCell(r.rows[i-up].cells[column])
	if !ok || len(c.values) != 1 || len(p.stats) > 1 {
		return nil
	}
	_, v, _, ok := r.base(p, "", c.values[0])
	if !ok {
		return nil
	}
	return &v
}
