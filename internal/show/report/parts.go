package report

import (
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
)

// parts are tables of what tenants, or the parts of a mix, and the turns of
// conversations got.
func (t *text) parts(s metrics.Summary) {
	streamed := s.Run.Plan.Stream
	who := "tenant"
	if mix := s.Run.Plan.Settings["mix"]; mix != "" && mix != "[]" {
		who = "of the mix"
	}
	t.partTable(who, s.Tenants, streamed, []partColumn{
		{"req/s", func(p metrics.Part) string { return sig(p.Rate) }},
		{"tok/s", func(p metrics.Part) string { return sig(p.Output) }},
	})
	t.partTable("turn", s.Turns, streamed, []partColumn{
		{"prompt", func(p metrics.Part) string { return fmt.Sprintf("%.0f", p.Prompt) }},
		{"cached", cached(s.Turns)},
	})
}

// cached is the share of a prompt that the server had in its cache. Most servers leave
// it out unless they are told to say it, and what none of the turns has is not known.
func cached(turns []metrics.Part) func(metrics.Part) string {
	if !slices.ContainsFunc(turns, func(p metrics.Part) bool { return p.Cached > 0 }) {
		return func(metrics.Part) string { return "–" }
	}
	return func(p metrics.Part) string { return fmt.Sprintf("%.1f %%", 100*p.Cached) }
}

// A partColumn is one that not all tables of parts have.
type partColumn struct {
	name  string
	value func(metrics.Part) string
}

// Widths of these tables; a name may take more.
const (
	countWidth = 8
	partWidth  = 9
)

func (t *text) partTable(who string, parts []metrics.Part, streamed bool, columns []partColumn) {
	if len(parts) == 0 {
		return
	}
	width := nameWidth
	for _, p := range parts {
		width = max(width, columnsOf(Clean(p.Name))+2)
	}
	t.partHead(who, parts[0], width, streamed, columns)
	for _, p := range parts {
		line := padRight(Clean(p.Name), width) + padLeft(fmt.Sprint(p.OK), countWidth) + padLeft(fmt.Sprint(p.Failed), countWidth)
		for _, c := range columns {
			line += padLeft(c.value(p), partWidth)
		}
		for _, d := range partLatencies(p.Service, streamed) {
			line += t.partFigures(d)
		}
		t.linef("%s", line)
	}
	t.WriteString("\n")
}

// partHead names the columns, the latencies in two lines.
func (t *text) partHead(who string, first metrics.Part, width int, streamed bool, columns []partColumn) {
	above := padRight("", width+2*countWidth+len(columns)*partWidth)
	below := padRight(who, width) + padLeft("ok", countWidth) + padLeft("failed", countWidth)
	for _, c := range columns {
		below += padLeft(c.name, partWidth)
	}
	names := []string{"E2EL"}
	if streamed {
		names = []string{"TTFT", "ITL", "E2EL"}
	}
	high := "max"
	if p := first.Service.E2EL.Percentiles; len(p) > 0 {
		high = fmt.Sprintf("P%g", p[len(p)-1].P)
	}
	for _, name := range names {
		above += padLeft(name+", ms ", 2*partWidth)
		below += padLeft("median", partWidth) + padLeft(high+" ", partWidth)
	}
	t.linef("%s", above)
	t.linef("%s", below)
}

func partLatencies(l metrics.Latencies, streamed bool) []metrics.Distribution {
	if streamed {
		return []metrics.Distribution{l.TTFT, l.ITL, l.E2EL}
	}
	return []metrics.Distribution{l.E2EL}
}

// partFigures are the median and the highest percentile.
func (t *text) partFigures(d metrics.Distribution) string {
	if d.N == 0 {
		return padLeft("–", partWidth) + padLeft("– ", partWidth)
	}
	high, mark := d.Max, " "
	if n := len(d.Percentiles); n > 0 {
		high, mark = d.Percentiles[n-1].Value, t.mark(d.Percentiles[n-1])
	}
	if d.Invalid {
		mark, t.invalid = "!", true
	}
	return padLeft(ms(d.Median), partWidth) + padLeft(ms(high)+mark, partWidth)
}
