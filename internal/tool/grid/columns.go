package grid

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

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

// columns sorts the columns. What stands ahead of the first metric tells rows apart.
func (r *reader) columns() (all []column, ok bool) {
	lead := !r.turned
	metrics := 0
	for i, h := range r.heads {
		c := column{label: h}
		switch rated := r.isRate(i, lead); {
		case r.turned && i == 0:
			c.kind = keyColumn
			if h.load != "" {
				c.kind = loadColumn
			}
		case h.foreign:
		case h.change && holdsChanges(r.column(i), h):
			c.kind = changeColumn
			if h.metric != "" {
				metrics++
			}
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
		case lead && h.canTell():
			c.kind = keyColumn
		}
		lead = lead && (c.tells() || c.kind == otherColumn)
		all = append(all, c)
	}
	tellApart(all)
	return all, metrics > 0
}

// measures are heads of columns that are results, but none of a load test.
var measures = lazy.Regexp(`(?i)accura|\bhit\b|\bacc\b|score|gsm8k|mmlu|pass@|\brate\b|\bratio\b|memory|` +
	`\bmem\b|\bgi?b\b|利用率|精度|准确率|命中率|显存|接受率`)

// canTell reports whether cells below the head can tell rows apart: they are no measurements.
func (l label) canTell() bool {
	measured := l.latency || l.unit.told() || len(l.stats) > 0 && !l.statOnly()
	return l.load == "" && !measured && !measures.MatchString(spaced(l.text)) && !counts.MatchString(l.text)
}

// isRate reports whether a column of requests per second is the load: it stands ahead of the figures and has round
// numbers.
func (r *reader) isRate(i int, lead bool) bool {
	h := r.heads[i]
	named := strings.Contains(strings.ToLower(h.text), "put") // throughput
	if !lead || h.metric != figure.RequestThroughput || h.rest != "" || len(h.stats) > 0 || named {
		return false
	}
	others := slices.ContainsFunc(r.heads, func(o label) bool { return o.metric != "" && o.metric != h.metric })
	return others && (i == 0 || !r.hasFractions(i))
}

func (r *reader) column(i int) (cells []string) {
	for _, row := range r.rows {
		cells = append(cells, row.cells[i])
	}
	return cells
}

func (r *reader) hasFractions(i int) bool {
	return slices.ContainsFunc(r.column(i), func(text string) bool {
		c, ok := readCell(text)
		return ok && len(c.values) > 0 && c.values[0].step < 0.1
	})
}

// tellApart leaves to columns what their heads say beside the metric only where that tells columns of one metric
// apart. Columns that nothing tells apart are not read.
func tellApart(all []column) {
	apart := false
	for i, a := range all {
		for k, b := range all[:i] {
			if a.kind != metricColumn || b.kind != metricColumn || !a.same(b.label) {
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

// same reports whether the labels name the same figure.
func (l label) same(o label) bool {
	return l.metric == o.metric && l.unit.dimension == o.unit.dimension && slices.Equal(l.stats, o.stats)
}

// tells reports whether the column tells rows apart.
func (c column) tells() bool { return c.kind == keyColumn || c.kind == loadColumn }
