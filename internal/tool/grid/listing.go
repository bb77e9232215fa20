package grid

import (
	"regexp"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

var (
	servingTitle = regexp.MustCompile(`={3,} ?Serving Benchmark Result ?={3,}`)
	offline      = regexp.MustCompile(`^Throughput: ([\d.]+) requests/s, ([\d.]+) total tokens/s, ` +
		`([\d.]+) output tokens/s$`)
	oneBatch = regexp.MustCompile(`^(?:Avg|(\d+)% percentile) latency: (\d+(?:\.\d+)?) seconds$`)
	item     = regexp.MustCompile(`^(.*?\S)\s*:\s+(\S.*)$`)
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
	}
	return d.title != ""
}

// mostItems is how many lines a listing has at most.
const mostItems = 120

// addItem reads a line of a listing.
func (d *draft) addItem(n int, text string) bool {
	d.sure = true
	switch first := len(d.rows) == 0; {
	case len(d.rows) >= mostItems:
		return false
	case d.title == "offline" && !first:
		if !strings.HasPrefix(text, "Total num ") {
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

// readListing reads a listing.
func (d *draft) readListing() (Table, bool) {
	r := newReader(d, d.program())
	if r.tool == "" {
		return r.table, false
	}
	for _, row := range d.rows {
		r.item(row.n, row.cells[0])
	}
	r.table.Results = oneResult(r.table.Results)
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
			if !first.has(f.Name) {
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
			r.add(n, name, m[i+1])
		}
		return
	}
	if m := oneBatch.FindStringSubmatch(text); m != nil {
		stat := "mean"
		if m[1] != "" {
			stat = statistic(m[1], Percentile)
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
			r.result(n, "", nil, "").set(s)
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
