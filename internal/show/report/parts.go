package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// parts are tables of what tenants, or the parts of a mix, and the turns of
// conversations got.
func (r *report) parts(s metrics.Summary) {
	streamed := s.Run.Plan.Stream
	who := r.Word("report.tenant")
	if s.Run.Plan.Mixed() {
		who = r.Word("report.of-mix")
	}
	r.partTable(who, s.Tenants, streamed, []partColumn{
		{"req/s", func(p metrics.Part) string { return sig(p.Rate) }},
		{"tok/s", func(p metrics.Part) string { return sig(p.Output) }},
	})
	r.partTable(r.Word("report.turn"), s.Turns, streamed, []partColumn{
		{r.Word("report.prompt"), func(p metrics.Part) string { return fmt.Sprintf("%.0f", p.Prompt) }},
		{r.Word("report.cached"), cached(s.Turns)},
	})
}

func (r *report) partTable(who string, parts []metrics.Part, streamed bool, columns []partColumn) {
	if len(parts) == 0 {
		return
	}
	width := nameWidth
	for _, p := range parts {
		width = max(width, doc.Width(doc.Clean(p.Name))+2)
	}
	r.partHead(who, parts[0], width, streamed, columns)
	for _, p := range parts {
		line := doc.PadRight(doc.Clean(p.Name), width) + doc.PadLeft(fmt.Sprint(p.OK), countWidth) + doc.PadLeft(fmt.Sprint(p.Failed), countWidth)
		for _, c := range columns {
			line += doc.PadLeft(c.value(p), partWidth)
		}
		for _, d := range partLatencies(p.Service, streamed) {
			line += r.partFigures(d)
		}
		r.Line(line)
	}
	r.Line()
}

// partHead names the columns, the latencies in two lines.
func (r *report) partHead(who string, first metrics.Part, width int, streamed bool, columns []partColumn) {
	above := doc.PadRight("", width+2*countWidth+len(columns)*partWidth)
	below := doc.PadRight(who, width) + doc.PadLeft(r.Word("report.ok"), countWidth) + doc.PadLeft(r.Word("report.failed"), countWidth)
	for _, c := range columns {
		below += doc.PadLeft(c.name, partWidth)
	}
	names := []string{"E2EL"}
	if streamed {
		names = []string{"TTFT", "ITL", "E2EL"}
	}
	high := r.Word("report.max")
	if p := first.Service.E2EL.Percentiles; len(p) > 0 {
		high = fmt.Sprintf("P%g", p[len(p)-1].P)
	}
	for _, name := range names {
		above += doc.PadLeft(name+", ms ", 2*partWidth)
		below += doc.PadLeft(r.Word("report.median"), partWidth) + doc.PadLeft(high+" ", partWidth)
	}
	r.Line(above)
	r.Line(below)
}

// A partColumn is one that not all tables of parts have.
type partColumn struct {
	name  string
	value func(metrics.Part) string
}

func partLatencies(l metrics.Latencies, streamed bool) []metrics.Distribution {
	if streamed {
		return []metrics.Distribution{l.TTFT, l.ITL, l.E2EL}
	}
	return []metrics.Distribution{l.E2EL}
}

// partFigures are the median and the highest percentile.
func (r *report) partFigures(d metrics.Distribution) string {
	if d.N == 0 {
		return doc.PadLeft("–", partWidth) + doc.PadLeft("– ", partWidth)
	}
	high, mark := d.Max, " "
	if n := len(d.Percentiles); n > 0 {
		high, mark = d.Percentiles[n-1].Value, r.mark(d.Percentiles[n-1])
	}
	if doubt := r.doubt(d); doubt != "" {
		mark = strings.TrimSpace(doubt)
	}
	return doc.PadLeft(ms(d.Median), partWidth) + doc.PadLeft(ms(high)+mark, partWidth)
}

// Widths of these tables; a name may take more.
const (
	countWidth = 8
	partWidth  = 9
)

// cached is the share of a prompt that the server had in its cache. Most servers leave
// it out unless they are told to say it, and what none of the turns has is not known.
func cached(turns []metrics.Part) func(metrics.Part) string {
	if !slices.ContainsFunc(turns, func(p metrics.Part) bool { return p.Cached > 0 }) {
		return func(metrics.Part) string { return "–" }
	}
	return func(p metrics.Part) string { return fmt.Sprintf("%.1f %%", 100*p.Cached) }
}
