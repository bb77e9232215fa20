package grid

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
)

// counts are heads of columns that have no figures where rows name the metrics.
var counts = regexp.MustCompile(`(?i)^(?:n|#|count|samples?|notes?|remarks?|comments?|status|unit|units|单位|备注|说明|better|direction)$`)

// byRows reads a table whose rows name the metrics: columns are variants, loads, or statistics.
func (r *reader) byRows(metric int) {
	values := r.valueColumns(metric)
	if len(values) == 0 {
		return
	}
	var above context
	for _, row := range r.rows {
		l := r.label(row.cells[metric])
		empty := !slices.ContainsFunc(values, func(i int) bool { return !blankCell(row.cells[i]) })
		if empty {
			above.section(l)
			continue
		}
		p, ok := r.rowPlace(row, metric, values[0], l, &above)
		switch {
		case l.load != "" && l.metric == "":
			r.loadRow(l, row, values)
		case ok && !l.foreign:
			r.metricRow(row, p, l, values)
		}
	}
}

// valueColumns are the columns with values.
func (r *reader) valueColumns(metric int) (all []int) {
	for i := metric + 1; i < len(r.heads); i++ {
		h := r.heads[i]
		if counts.MatchString(h.text) || h.foreign {
			continue
		}
		if slices.ContainsFunc(r.rows, func(row row) bool { _, ok := readCell(row.cells[i]); return ok }) {
			all = append(all, i)
		}
	}
	return all
}

// A context is what rows without values say of those below.
type context struct {
	metric  label
	variant string
	load    []Setting
}

func (c *context) section(l label) {
	if l.metric != "" {
		c.metric = l
		return
	}
	c.metric, c.variant, c.load = label{}, l.rest, l.settings
}

// rowPlace is what the cells of a row say ahead of its values. A row that names only a statistic has the metric of
// the row above.
func (r *reader) rowPlace(row row, metric, end int, l label, above *context) (p place, ok bool) {
	if l.metric == "" && (l.statOnly() || l.text == "") {
		stats := l.stats
		l = above.metric
		if len(stats) > 0 {
			l.stats = stats
		}
	}
	if l.metric != "" {
		above.metric = l
	}
	p = place{line: row.n, metric: l.metric, stats: l.stats, unit: l.unit, variant: above.variant, load: slices.Clone(above.load)}
	p.load = append(p.load, l.settings...)
	for i, text := range row.cells[:end] {
		if i == metric || text == "" || sameAll(r.rows, i) {
			continue
		}
		h, other := r.heads[i], r.label(text)
		u, isUnit := unitOf(text)
		switch {
		case isUnit && !p.unit.told():
			p.unit = u
		case other.statOnly() && len(p.stats) == 0:
			p.stats = other.stats
		case h.load != "":
			p.load = append(p.load, h.settingsOf(text, false)...)
		default:
			p.variant, p.load = join(p.variant, named(h, other)), append(p.load, other.settings...)
		}
	}
	for i := end; i < len(row.cells); i++ {
		if u, isUnit := unitOf(row.cells[i]); isUnit && !p.unit.told() {
			p.unit = u
		}
	}
	return p, p.metric != ""
}

// sameAll reports whether all cells of a column are the same: they tell nothing apart.
func sameAll(rows []row, column int) bool {
	if _, isUnit := unitOf(rows[0].cells[column]); isUnit {
		return false
	}
	l := parse(rows[0].cells[column])
	return !l.statOnly() && !slices.ContainsFunc(rows, func(r row) bool { return r.cells[column] != rows[0].cells[column] })
}

// loadRow gives all results of a column the setting that a row states.
func (r *reader) loadRow(l label, row row, values []int) {
	for _, i := range values {
		h := r.heads[i]
		if h.change || len(h.stats) > 0 && h.stats[0] != "mean" {
			continue
		}
		if _, ok := readCell(row.cells[i]); !ok {
			continue
		}
		p := place{variant: r.columnVariant(i), load: r.columnLoad(i)}
		for _, s := range l.settingsOf(row.cells[i], r.tool != "") {
			r.later(p, row.n).set(s)
		}
	}
}

// later is the result of a column, which figures may still join.
func (r *reader) later(p place, line int) *Result { return r.result(line, p.variant, p.load, "") }

func (r *reader) columnVariant(i int) string {
	h := r.heads[i]
	if isNoise.MatchString(h.rest) || startsWithNumber(h.text) || len(h.stats) > 0 && h.rest == "" {
		return ""
	}
	return h.rest
}

// columnLoad are the settings that a head states, or its number where the corner names the setting.
func (r *reader) columnLoad(i int) []Setting {
	h := r.heads[i]
	if corner := r.heads[0]; corner.load != "" && startsWithNumber(h.text) {
		return corner.settingsOf(h.text, false)
	}
	return h.settings
}

// metricRow reads the figures and changes of a row.
func (r *reader) metricRow(row row, p place, l label, values []int) {
	first, last := -1, -1 // columns of variants so far
	got := map[int]*float64{}
	for _, i := range values {
		h := r.heads[i]
		c, ok := readCell(row.cells[i])
		if !ok {
			continue
		}
		at := p
		at.variant = join(p.variant, r.columnVariant(i))
		at.load = append(slices.Clone(p.load), r.columnLoad(i)...)
		if len(at.stats) == 0 {
			at.stats = h.stats
		}
		if h.unit.told() && !at.unit.told() && !h.change {
			at.unit = h.unit
		}
		text := join(l.text, clean(row.cells[i]))
		switch {
		case c.after != nil:
			at.variant = p.variant
			r.arrow(at, text, c)
			continue
		case h.change && r.holdsChanges(i):
			a, ok := amountOf(h, c)
			before, after, variant := r.compared(first, last, got)
			at.variant, at.load, at.stats = join(p.variant, variant), p.load, p.stats
			if ok {
				r.change(at, text, h.way, a, before, after)
			}
			continue
		case h.onlyChange(), startsWithNumber(h.text) && r.heads[0].load == "" && len(h.stats) == 0:
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
		got[i] = r.figures(at, c)
		if c.amount != nil {
			r.change(at, text, "", *c.amount, got[first], got[i])
		}
	}
}

// compared are the values that a column of changes compares: the first variant's and that of the variant right ahead
// of it, or the other way round where the words say so.
func (r *reader) compared(first, last int, got map[int]*float64) (before, after *float64, variant string) {
	if first == last {
		return nil, nil, ""
	}
	if old := baseline.MatchString(r.heads[last].text); old && !baseline.MatchString(r.heads[first].text) {
		first, last = last, first
	}
	return got[first], got[last], r.columnVariant(last)
}

// The consoles that are known.
const (
	aiperf    = "aiperf"
	genaiPerf = "genai-perf"
	guidellm  = "guidellm"
	aisbench  = "aisbench"
	evalscope = "evalscope"
	trtllm    = "trtllm"
	vllmOmni  = "vllm-omni"
	vllm      = "vllm"
)

// toolOf is whose console a table is, by the words around it and those that only it has.
func toolOf(d *draft, heads []string, rows []row) string {
	above := strings.ToLower(strings.Join(d.above, "\n"))
	head := strings.ToLower(strings.Join(heads, "|"))
	first := strings.ToLower(rows[0].cells[0])
	switch {
	case d.form != boxes && d.form != pipes:
		return ""
	case strings.Contains(above, "genai-perf | "), d.form == boxes && strings.HasPrefix(head, "statistic|avg|min|max|p99"):
		return genaiPerf
	case strings.Contains(above, "aiperf | "), d.form == boxes && strings.HasPrefix(head, "metric|avg|min|max|p99"):
		return aiperf
	case strings.HasPrefix(head, "performance parameters|stage|"), strings.HasPrefix(head, "common metric|stage|value"):
		return aisbench
	case strings.HasPrefix(head, "benchmark strategy|"), strings.HasPrefix(head, "metadata benchmark|"):
		return guidellm
	case strings.HasPrefix(head, "key|val") && strings.HasPrefix(first, "time taken for tests"),
		strings.HasPrefix(head, "percentiles|") && strings.Contains(head, "ttft"):
		return evalscope
	}
	return ""
}

// adapt gives a label the meaning that it has in a tool's console.
func adapt(l *label, tool string) {
	switch {
	case l.latency && l.metric == "" && (tool == evalscope || tool == trtllm) && !strings.HasPrefix(l.text, "Total") && !strings.Contains(l.text, "package"):
		l.metric, l.rest, l.load = "e2el", "", ""
	case tool == aisbench && strings.HasPrefix(l.text, "Prefill"), tool == aisbench && l.text == "OutputTokenThroughput":
		l.foreign = true
	case tool == aisbench && l.text == "Concurrency", tool == guidellm && l.load == "concurrency":
		l.metric, l.load, l.rest = figure.Concurrency, "", ""
	case tool == guidellm && strings.HasSuffix(l.text, "Request Stats Per Second"):
		l.metric, l.rest = figure.RequestThroughput, ""
	case tool == guidellm && l.metric == "e2el" && l.unit.scale == 1e-3:
		l.foreign = true // some versions print seconds under this head
	}
}

// strategies makes of GuideLLM's strategies what they are: loads. It prints no rate with some, and those that it ran
// several times are numbered.
func strategies(results []Result) {
	seen := map[string]int{}
	for i := range results {
		r := &results[i]
		kind, rate, rated := strings.Cut(r.Variant, "@")
		if seen[r.Variant]++; seen[r.Variant] > 1 {
			kind += " (" + strconv.Itoa(seen[r.Variant]) + ")"
		}
		r.Variant = ""
		r.Load = append(r.Load, Setting{"arrival", kind})
		if rated {
			r.Load = append(r.Load, Setting{"rate", rate})
		}
	}
}
