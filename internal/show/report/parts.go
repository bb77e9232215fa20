package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// A column is one of a table that has a row for each T.
type column[T any] struct {
	above, head string // the heading, in two lines
	width       int    // at least
	text        bool   // it begins at the left
	value       func(T) string
}

func tableOf[T any](all []T, columns []column[T]) doc.Grid {
	g := doc.Grid{Rows: make([][]string, 2+len(all))}
	for _, c := range columns {
		g.Widths, g.Align = append(g.Widths, c.width), g.Align+map[bool]string{true: "l", false: "r"}[c.text]
		g.Rows[0], g.Rows[1] = append(g.Rows[0], c.above), append(g.Rows[1], c.head)
		for i, t := range all {
			g.Rows[2+i] = append(g.Rows[2+i], c.value(t))
		}
	}
	return g
}

type partColumn = column[metrics.Part]

// tenants is a table of what tenants, or the parts of a mix, got.
func (r *report) tenants(s metrics.Summary) doc.Grid {
	who := r.Word("report.tenant")
	if s.Run.Plan.Mixed() {
		who = r.Word("report.of-mix")
	}
	return r.parts(who, s.Tenants, s.Run.Plan.Stream,
		number("req/s", figureWidth, func(p metrics.Part) string { return sig(p.Rate) }),
		number("tok/s", figureWidth, func(p metrics.Part) string { return sig(p.Output) }))
}

// turns is a table of what the turns of conversations got.
func (r *report) turns(s metrics.Summary) doc.Grid {
	return r.parts(r.Word("report.turn"), s.Turns, s.Run.Plan.Stream,
		number(r.Word("report.prompt"), figureWidth, func(p metrics.Part) string { return fmt.Sprintf("%.0f", p.Prompt) }),
		number(r.Word("report.cached"), figureWidth, cached(s.Turns)))
}

func number(head string, width int, value func(metrics.Part) string) partColumn {
	return partColumn{head: head, width: width, value: value}
}

// parts is a table with columns of its own, and with one for each latency.
func (r *report) parts(who string, parts []metrics.Part, streamed bool, own ...partColumn) doc.Grid {
	if len(parts) == 0 {
		return doc.Grid{}
	}
	name := func(p metrics.Part) string { return doc.Clean(p.Name) + "  " }
	columns := append([]partColumn{
		{head: who, width: nameWidth, text: true, value: name},
		number(r.Word("report.ok"), countWidth, func(p metrics.Part) string { return fmt.Sprint(p.OK) }),
		number(r.Word("report.failed"), countWidth, func(p metrics.Part) string { return fmt.Sprint(p.Failed) }),
	}, own...)
	high := r.Word("report.max")
	if p := parts[0].Service.E2EL.Percentiles; len(p) > 0 {
		high = fmt.Sprintf("P%g", p[len(p)-1].P)
	}
	latency := func(name string, of func(metrics.Latencies) metrics.Distribution) {
		c := number(pair(r.Word("report.median"), high+" "), 2*figureWidth+1, func(p metrics.Part) string {
			return r.partFigures(of(p.Service))
		})
		c.above = name + ", ms "
		columns = append(columns, c)
	}
	if streamed {
		latency("TTFT", func(l metrics.Latencies) metrics.Distribution { return l.TTFT })
		latency("ITL", func(l metrics.Latencies) metrics.Distribution { return l.ITL })
	}
	latency("E2EL", func(l metrics.Latencies) metrics.Distribution { return l.E2EL })
	return tableOf(parts, columns)
}

func (r *report) partFigures(d metrics.Distribution) string {
	if d.N == 0 {
		return pair("–", "– ")
	}
	high, mark := d.Max, " "
	if n := len(d.Percentiles); n > 0 {
		high, mark = d.Percentiles[n-1].Value, r.mark(d.Percentiles[n-1])
	}
	if doubt := r.doubt(d); doubt != "" {
		mark = strings.TrimSpace(doubt)
	}
	return pair(ms(d.Median), ms(high)+mark)
}

// pair is a cell of two figures.
func pair(median, high string) string { return median + " " + doc.PadLeft(high, figureWidth) }

// cached is the share of a prompt that the server had in its cache. Most servers report it only on
// request, so that it is unknown if no turn has it.
func cached(turns []metrics.Part) func(metrics.Part) string {
	if !slices.ContainsFunc(turns, func(p metrics.Part) bool { return p.Cached > 0 }) {
		return func(metrics.Part) string { return "–" }
	}
	return func(p metrics.Part) string { return fmt.Sprintf("%.1f %%", 100*p.Cached) }
}
