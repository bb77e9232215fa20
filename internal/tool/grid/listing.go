package grid

import (
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/tool/lexicon"
)

var (
	servingTitle = lazy.Regexp(`={3,} ?Serving Benchmark Result ?={3,}`)
	offline      = lazy.Regexp(`^Throughput: ([\d.]+) requests/s, ([\d.]+) (?:total )?tokens/s` +
		`(?:, ([\d.]+) output tokens/s)?$`)
	oneBatch = lazy.Regexp(`^(?:Avg|(\d+)% percentile) latency: (\d+(?:\.\d+)?) seconds$`)
	item     = lazy.Regexp(`^(.*?\S)\s*:\s+(\S.*)$`)
)

// isListing reports whether a line begins a listing of one of the known tools, and notes which.
func isListing(d *draft, text string) bool {
	switch {
	case strings.HasPrefix(text, "=") && servingTitle.MatchString(text):
		d.title = "serving"
	case strings.HasPrefix(text, "= PERFORMANCE OVERVIEW"):
		d.title = "overview"
	case strings.HasPrefix(text, "Throughput: ") && offline.MatchString(text):
		d.title = "offline"
	case strings.HasPrefix(text, "Avg latency: ") && oneBatch.MatchString(text):
		d.title = "batch"
	case isLine(text), isPadded(text) && isMeasured(text):
		d.title = "list"
	}
	return d.title != ""
}

// mostItems is how many lines a listing has at most.
const mostItems = 120

func (d *draft) addItem(n int, text string) bool {
	d.sure = d.sure || d.title != "list"
	switch first := len(d.rows) == 0; {
	case len(d.rows) >= mostItems, d.title == "list" && !d.lists(text):
		return false
	case d.title == "offline" && !first:
		if !strings.HasPrefix(text, "Total num ") && !offline.MatchString(text) {
			return false
		}
	case d.title == "batch" && !oneBatch.MatchString(text):
		return false
	case d.title == "serving" && !first && strings.Trim(text, "=") == "" && len(text) > 40:
		d.title = "served"
	case d.title == "served", strings.HasPrefix(text, "```"):
		return false
	case d.title == "overview" && !first && strings.HasPrefix(text, "= ") && n > d.first+1:
		return false
	}
	d.rows = append(d.rows, row{n: n, cells: []string{text}})
	return true
}

// leastItems is how many metrics in a row make lines a list of a tool that is not known.
const leastItems = 3

// lists reads a line of a list that no tool's title stands above: labels, colons and numbers, with lines of = between.
// Hand-written lists rarely align their values or rule their sections.
func (d *draft) lists(text string) bool {
	m := item.FindStringSubmatch(text)
	switch ruled := d.rows != nil && isLine(d.rows[0].cells[0]); {
	case isLine(text):
		return true
	case m == nil, !startsWithNumber(m[2]), oneBatch.MatchString(text):
		return false
	case isMeasured(text) && (ruled || isPadded(text)):
		d.items++
	default:
		d.items = 0
	}
	d.sure = d.sure || d.items >= leastItems && !d.unfit("")
	return true
}

func isLine(text string) bool { return len(text) >= 10 && strings.Trim(text, "=") == "" }

func isPadded(text string) bool {
	return strings.Contains(text, "  :") || strings.Contains(text, ":  ")
}

// isMeasured reports whether a line of a list names a metric with its unit and value. Identifiers are settings, and
// the clients of vLLM and SGLang print `Mean TTFT (ms):`, which package ingest reads.
func isMeasured(text string) bool {
	m := item.FindStringSubmatch(text)
	if m == nil || strings.Contains(m[1], "_") || strings.Contains(text, "):") {
		return false
	}
	l := parse(m[1])
	adapt(&l, unnamed)
	c, ok := readCell(m[2])
	if !ok || l.foreign || l.metric == "" || len(l.stats) > 1 || len(c.values) != 1 {
		return false
	}
	_, _, _, ok = (&reader{}).base(place{metric: l.metric, unit: l.unit}, strings.Join(l.stats, ""), c.values[0])
	return ok && (l.unit.told() || c.values[0].unit.told())
}

func (d *draft) readListing() (Table, bool) {
	r := newReader(d, d.program())
	if r.tool == "" || !d.sure {
		return r.table, false
	}
	for _, row := range d.rows {
		r.item(row.n, row.cells[0])
	}
	if r.tool == unnamed {
		r.table.Tool = ""
	}
	if d.title != "offline" { // several lines are repetitions
		r.table.Results = oneResult(r.table.Results)
	}
	return r.table, len(r.table.Results) > 0 && len(r.table.Results[0].Figures) > 0
}

// oneResult joins results: a listing is of one run, and states some figures twice.
func oneResult(all []Result) []Result {
	if len(all) == 0 {
		return nil
	}
	first := &all[0]
	for _, r := range all[1:] {
		for _, f := range r.Figures {
			if !first.Has(f.Name) {
				first.Figures = append(first.Figures, f)
			}
		}
	}
	return all[:1]
}

// program is the tool that prints the listing; "" for the client of vLLM or SGLang, which package ingest reads.
func (d *draft) program() string {
	switch d.title {
	case "overview":
		return trtllm
	case "offline", "batch":
		return vllm
	case "list":
		return unnamed
	}
	for _, row := range d.rows {
		switch text := row.cells[0]; {
		case strings.Contains(text, "= Audio Result =") || strings.Contains(text, "= Text Result ="):
			return vllmOmni
		case strings.HasPrefix(text, "User throughput (tok/s):"),
			strings.HasPrefix(text, "Avg Decoded Tokens per Iter"):
			return trtllm
		}
	}
	return ""
}

// item reads a line of a listing.
func (r *reader) item(n int, text string) {
	if m := offline.FindStringSubmatch(text); m != nil {
		for i, name := range []string{figure.RequestThroughput, figure.TotalThroughput, figure.OutputThroughput} {
			if m[i+1] != "" {
				r.add(n, name, m[i+1])
			}
		}
		return
	}
	if m := oneBatch.FindStringSubmatch(text); m != nil {
		stat := "mean"
		if m[1] != "" {
			stat = lexicon.Percentile(m[1])
		}
		r.add(n, figure.E2EL.Of(stat), m[2])
		return
	}
	m := item.FindStringSubmatch(text)
	if m == nil {
		return
	}
	l, c := r.label(m[1]), m[2]
	if l.metric != "" {
		r.stated(l)
	}
	value, ok := readCell(c)
	switch {
	case !ok || l.foreign:
	case l.metric != "":
		r.figures(place{line: n, metric: l.metric, stats: l.stats, unit: l.unit}, value)
	case l.load != "":
		for _, s := range l.settingsOf(c, true) {
			r.result(n, "", nil, "").Set(s)
		}
	}
}

// add adds a figure in base units.
func (r *reader) add(n int, name, text string) {
	value, _, ok := readNumber(text)
	if !ok {
		return
	}
	out := r.result(n, "", nil, name)
	out.Figures = append(out.Figures, trace.ReportedFigure{Name: name, Value: value.value, Step: value.step})
}
