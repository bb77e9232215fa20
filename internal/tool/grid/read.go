package grid

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
)

type reader struct {
	tool   string
	heads  []label
	rows   []row
	labels map[string]label
	units  map[string]unit // of latencies, as some label states; "" is that of the corner
	table  Table
	latest map[string]int // result of a variant and load
	row    int            // in Table.Results, where those of the row begin
	done   []doneRow
	turned bool // rows named the metrics
	shares bool // numbers without a unit are shares or errors
}

// read is what the table says; false if that is nothing.
func (d *draft) read() (Table, bool) {
	if d.form == listing {
		return d.readListing()
	}
	if !d.sure || d.form == statements {
		return Table{First: d.first, Last: d.last, Results: d.results}, d.sure
	}
	heads, rows := d.matrix()
	if len(heads) < 2 {
		return Table{}, false
	}
	r := newReader(d, toolOf(d, heads, rows))
	r.rows, r.shares = rows, d.fresh > 0 && len(d.above) > 0 && inShares.MatchString(d.above[len(d.above)-1])
	for _, h := range heads {
		r.heads = append(r.heads, r.label(h))
	}
	r.defineRatios(d.above)
	r.statedUnits()
	if column, ok := r.metricColumn(); ok {
		r.turn(column)
	} else if !slices.ContainsFunc(r.heads[1:], func(h label) bool { return h.metric != "" }) {
		r.caption(d)
	}
	r.readRows()
	r.table.Results = slices.DeleteFunc(r.table.Results, func(f Result) bool { return len(f.Figures)+len(f.Unscaled) == 0 })
	if r.tool == guidellm {
		strategies(r.table.Results)
	}
	return r.table, len(r.table.Results)+len(r.table.Changes) > 0 || r.table.Unnamed
}

// inShares matches the line above a table of shares or of errors.
var inShares = lazy.Regexp(`(?i)\bin %|percent|\berrors?\b|variation|误差|偏差|百分比`)

func newReader(d *draft, tool string) *reader {
	return &reader{
		tool: tool, labels: map[string]label{}, units: map[string]unit{}, latest: map[string]int{},
		table: Table{First: d.first, Last: d.last, Tool: tool},
	}
}

// label is a label, as the tool means it.
func (r *reader) label(text string) label {
	l, known := r.labels[text]
	if !known {
		l = parse(text)
		adapt(&l, r.tool)
		r.labels[text] = l
	}
	return l
}

// statedUnits collects the units of latencies that labels state. Where two differ, none counts.
func (r *reader) statedUnits() {
	for i, h := range r.heads {
		if h.metric != "" || i == 0 && h.load == "" {
			r.stated(h)
		}
	}
	for _, row := range r.rows {
		for _, c := range row.cells[:min(len(row.cells), leadColumns)] {
			if l := r.label(c); l.metric != "" {
				r.stated(l)
			}
		}
	}
}

// stated notes the unit that a label states of a latency.
func (r *reader) stated(l label) {
	if l.unit.dimension != figure.Seconds || !isLatency(l.metric) && l.metric != "" {
		return
	}
	if u, known := r.units[l.metric]; known && u != l.unit {
		l.unit.scale = 0
	}
	r.units[l.metric] = l.unit
}

// leadColumns is how many columns can stand ahead of the values where rows name the metrics.
const leadColumns = 3

// metricColumn is the column whose cells name the metrics; false if the heads do.
func (r *reader) metricColumn() (column int, ok bool) {
	heads := 0
	for _, h := range r.heads[1:] {
		if h.metric != "" {
			heads++
		}
	}
	best := 0
	for i := range min(leadColumns, len(r.heads)-1) {
		n := 0
		for _, row := range r.rows {
			if l := r.label(row.cells[i]); l.metric != "" && !startsWithNumber(row.cells[i]) {
				n++
			}
		}
		if n > best {
			column, best = i, n
		}
	}
	return column, best > 0 && (heads == 0 || best > heads && 2*best >= len(r.rows))
}

func startsWithNumber(text string) bool {
	c, ok := readCell(text)
	return ok && len(c.values) > 0
}

// result is that of a variant at a load, in this row or, if rows are parts of it, in any. One that has the figure
// already is repeated.
func (r *reader) result(line int, variant string, load []Setting, name string) *Result {
	var key strings.Builder
	key.WriteString(variant)
	for _, s := range load {
		key.WriteString("\x00" + s.Name + "\x00" + s.Value)
	}
	i, known := r.latest[key.String()]
	if !known || i < r.row || r.table.Results[i].Has(name) {
		i = len(r.table.Results)
		r.table.Results = append(r.table.Results, Result{Line: line, Variant: variant, Load: slices.Clone(load)})
		r.latest[key.String()] = i
	}
	return &r.table.Results[i]
}

// A place is where a value stands, and what its row and its column say of it.
type place struct {
	line    int
	metric  string
	stats   []string
	unit    unit
	variant string
	load    []Setting
}

func (r *reader) figures(p place, c cell) (first *float64) {
	if len(c.values) != max(1, len(p.stats)) || c.after != nil {
		return nil
	}
	for i, n := range c.values {
		stat := ""
		if len(p.stats) > 0 {
			stat = p.stats[i]
		}
		name, v, step, ok := r.base(p, stat, n)
		if !ok {
			if isLatency(p.metric) && n.value > 0 && !n.unit.told() && !p.unit.told() && !r.shares {
				out := r.result(p.line, p.variant, p.load, name)
				out.Unscaled = append(out.Unscaled, trace.ReportedFigure{Name: name, Value: n.value, Step: n.step})
			}
			continue
		}
		if i == 0 {
			first = &v
		}
		out := r.result(p.line, p.variant, p.load, name)
		out.Figures = append(out.Figures, trace.ReportedFigure{Name: name, Value: v, Step: step})
	}
	return first
}

func (r *reader) base(p place, stat string, n number) (name string, v, step float64, ok bool) {
	u := p.unit
	if n.unit.told() {
		u = n.unit
	}
	if !u.told() && isLatency(p.metric) {
		u = r.units[p.metric]
		if !u.told() {
			u = r.units[""]
		}
	}
	name, scale, ok := u.of(p.metric)
	if isLatency(name) && stat != "" {
		name += "." + stat
	}
	switch {
	case !ok, n.value < 0:
		return name, 0, 0, false
	case !isLatency(p.metric) && stat != "" && stat != "mean":
		return name, 0, 0, false
	}
	return name, n.value * scale, n.step * scale, true
}

func (r *reader) change(p place, text, way string, a amount, before, after *float64) {
	stat := ""
	if len(p.stats) == 1 {
		stat = p.stats[0]
	}
	v, step, ok := a.change(way, isLatency(p.metric) || p.metric == figure.Duration, before, after)
	if !ok || len(p.stats) > 1 {
		return
	}
	metric := p.metric
	if metric == lexicon.Throughput && p.unit.dimension == figure.PerSecond {
		metric = figure.RequestThroughput
	}
	r.table.Changes = append(r.table.Changes, Change{
		Line: p.line, Text: text, Metric: metric, Stat: stat, Variant: p.variant,
		Before: before, After: after, Change: v, Step: step,
	})
}

// arrow adds a change that is written as its two values.
func (r *reader) arrow(p place, text string, c cell) {
	stat := ""
	if len(p.stats) == 1 {
		stat = p.stats[0]
	}
	if last := *c.after; last.unit.told() && !c.values[0].unit.told() {
		c.values[0].unit = last.unit
	}
	name, before, step, ok := r.base(p, stat, c.values[0])
	_, after, _, ok2 := r.base(p, stat, *c.after)
	if !ok || !ok2 || before == 0 || len(p.stats) > 1 {
		return
	}
	r.table.Changes = append(r.table.Changes, Change{
		Line: p.line, Text: text, Metric: strings.TrimSuffix(name, "."+stat), Stat: stat, Variant: p.variant,
		Before: &before, After: &after, Change: after/before - 1, Step: step / before,
	})
}

// amountOf is the amount in a cell of a column of changes: a number in percent if the head says so, or a factor.
func amountOf(h label, c cell) (amount, bool) {
	switch {
	case c.amount != nil && len(c.values) == 0:
		a := *c.amount
		a.ratio = h.ratio
		return a, true
	case c.amount != nil || len(c.values) != 1 || c.after != nil:
		return amount{}, false
	}
	n := c.values[0]
	a := amount{value: math.Abs(n.value), step: n.step, share: true, ratio: h.ratio}
	if n.value < 0 {
		a.sign = '-'
	}
	switch {
	case h.unit.dimension == figure.Share:
		return a, true
	case h.ratio != notRatio && n.value > 0 && n.value < 100 && n.step < 1 && !n.unit.told(),
		factors.MatchString(h.text) && n.value > 0 && n.value < 5 && n.step < 1 && !n.unit.told():
		a.share = false
		return a, true
	}
	return a, false
}

var (
	factors  = lazy.Regexp(`(?i)speed-?up|加速比`)
	baseline = lazy.Regexp(`(?i)\b(?:base(?:line)?|before|main|master|old|previous|off|disabled|upstream|` +
		`origin(?:al)?|without|w/o)\b|前|未|关闭|原始|基线`)
)

// onlyChange reports whether the head names a change and nothing else.
func (l label) onlyChange() bool {
	return l.change && strings.Trim(changes.ReplaceAllString(directionless(l.rest), ""), " -–()%/*·") == ""
}

// directionless is a text without the words that only say where a change goes.
func directionless(text string) string {
	b := blanker{text}
	for _, w := range directionWords.Find(text) {
		b.out(w.Start, w.End)
	}
	return strings.TrimSpace(b.text)
}

// holdsChanges reports whether most cells, of which a label may say that they are changes, are such.
func holdsChanges(cells []string, l label) bool {
	changes, others := 0, 0
	for _, text := range cells {
		c, ok := readCell(text)
		if _, is := amountOf(l, c); ok && (is || c.after != nil) {
			changes++
		} else if ok {
			others++
		}
	}
	return changes > others
}

// join is a variant that the row and the column name.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" }), " / ")
}

// settings are those that a cell of a column states, as `16` or `1024/128`.
func (l label) settingsOf(text string, rounded bool) []Setting {
	text = clean(text)
	if blankCell(text) || len(text) > longestCell/4 {
		return nil
	}
	if l.pair {
		parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/xX×,:+ ", r) })
		if len(parts) != 2 {
			return nil
		}
		return []Setting{{"input-length", plain(parts[0], rounded)}, {"output-length", plain(parts[1], rounded)}}
	}
	if text = plain(text, rounded); strings.HasPrefix(text, "-") {
		return nil // no limit, as tools write it
	}
	return []Setting{{l.load, text}}
}

// plain is a number without separators, else the text.
func plain(text string, rounded bool) string {
	n, rest, ok := readNumber(text)
	if !ok || strings.TrimSpace(rest) != "" {
		return text
	}
	if rounded {
		n.value = math.Round(n.value)
	}
	if n.factor != 1 {
		return text
	}
	return strconv.FormatFloat(n.value, 'f', -1, 64)
}
