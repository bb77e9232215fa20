package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// briefLines is how many lines the first screen of a run has at most; the caller adds one on where the rest is.
const briefLines = 14

// Brief writes the first screen of a run: the verdict with its cause and a remedy, the six figures that
// people compare, target and load, one table, and the notes that there is room for. Where there is a
// steady state, figures and table are of it.
func Brief(w io.Writer, s metrics.Summary, l *words.Language) error {
	r := report{Language: l}
	b := briefly{report: &r, s: s, of: s.Service, requests: s.Rates.Requests, output: s.Rates.Output}
	b.title = r.Word("brief.whole", "of", plan.Msg("report.whole", "duration", s.Duration))
	if s.Steady.Found() {
		b.of, b.requests, b.output = s.Steady.Service, s.Steady.Completed, s.Steady.Output
		b.title = r.Word("brief.steady", "of", plan.Msg("report.steady", "from", s.Steady.From, "to", s.Steady.To))
	}
	head, table := b.head(), b.table()
	for _, line := range b.notes(briefLines - len(head) - len(table.Rows) - 1) {
		table.Rows = append(table.Rows, []string{line})
	}
	return write(w, head, table)
}

// A briefly is a first screen in the making.
type briefly struct {
	*report
	s                metrics.Summary
	of               metrics.Latencies // of the steady state, or of the whole run
	requests, output float64           // per second, of the same
	title            string            // of what these are
}

func (b *briefly) head() doc.List {
	b.verdict()
	if lines := b.judgements(b.s); len(lines) > 0 {
		b.field("", append(lines, b.wordIf(b.s.Steady.Found(), "brief.of-all"))...)
	}
	b.field("", b.sixFigures()...)
	if b.s.Cost != nil {
		b.field(b.Word("report.cost"), Cost(b.s.Cost, b.Language))
	}
	b.place(b.s)
	b.trouble()
	return slices.DeleteFunc(b.fields, func(line string) bool { return line == "" })
}

// verdict is the first line: whether the run is valid, with the share that met the objectives, or why it is
// not; then come what to do, and what it did to the figures.
func (b *briefly) verdict() {
	h, q, e := b.s.Health, b.s.Requests, metrics.Explain(b.s.Health.Verdict)
	word := plan.Msg("report.simulated")
	if !h.Simulated {
		word = plan.Msg(plan.Code("validity." + string(h.Verdict.Validity)))
	}
	status := b.wordIf(b.s.Run.Status != trace.Complete, plan.Code("status."+string(b.s.Run.Status)))
	met := ""
	if g := b.s.Goodput; g != nil {
		open := b.wordIf(!g.Unsettled.IsZero(), "report.unsettled", "grows", metrics.QueueGrows(g.Unsettled))
		met = b.Word("brief.met", "share", g.Share, "limits", Objectives(g.Objectives), "open", open)
	}
	answered := b.Word("brief.answered", "ok", q.OK, "failed", q.Failed, "duration", b.s.Duration)
	if len(e.Causes) == 0 {
		b.fields = append(b.fields, doc.Join(" · ", b.Say(word), status, met, answered))
		return
	}
	b.fields = append(b.fields, b.Word("report.verdict", "validity", word, "causes", e.Causes))
	b.field("", b.wordIf(len(e.Remedies) > 0, "report.remedy", "remedies", e.Remedies))
	b.field("", b.wordIf(len(e.Effects) > 0, "report.effects", "effects", e.Effects))
	b.fields = append(b.fields, doc.Join(" · ", status, met, answered))
}

// sixFigures are those that people compare. A mark means that a figure is not to be believed.
func (b *briefly) sixFigures() []string {
	latency := func(name string, d metrics.Distribution) string {
		if d.N == 0 {
			return ""
		}
		high := plan.Message{}
		if n := len(d.Percentiles); n > 0 && name == "TTFT" {
			p := d.Percentiles[n-1]
			high = plan.Msg("brief.high", "percentile", p.P, "value", ms(p.Value)+strings.TrimSpace(b.mark(p)))
		}
		return b.Word("brief.latency", "name", name+b.doubt(d), "mean", ms(d.Mean), "high", high)
	}
	rate := sig(b.output) + " tok/s"
	switch {
	case b.s.Tokens.Audio > 0:
		rate = sig(b.s.Rates.Audio) + " s/s"
	case b.s.Run.Plan.Silent():
		rate = b.Word("brief.texts", "rate", sig(b.s.Rates.Inputs))
	}
	figures := []string{sig(b.requests) + " req/s", rate}
	if b.s.Run.Plan.Stream {
		figures = append(figures, latency("TTFT", b.of.TTFT), latency("TPOT", b.of.TPOT))
	}
	return append(figures, latency("E2EL", b.of.E2EL))
}

// trouble are lines on the server, its cache and its devices, where they matter.
func (b *briefly) trouble() {
	if c := b.s.Server; c != nil && (c.Preemptions > 0 || !c.Dropped.IsZero() || c.Queued > b.of.TTFT.Mean/2) {
		b.field(b.Word("report.server"), b.counters(c)...)
	}
	b.cache(b.s)
	if used := b.s.Resources; used != nil && used.Devices != nil && len(used.Devices.Throttled) > 0 {
		b.deviceRows(used.Devices, b.s.Run.Env.Serving)
	}
	if q := b.s.Requests; q.Failed > 0 {
		var classes []string
		for _, c := range q.Classes {
			example := doc.Cut(doc.Clean(c.Example), 100)
			classes = append(classes, b.Word("brief.class", "count", c.Count, "why", plan.Msg(c.Class.Code()), "status", c.Status, "example", example))
		}
		b.field(b.Word("report.failed"), doc.Cut(b.Join("stop", classes...), 240))
	}
}

// table has the latencies, without those percentiles that nobody asked for but P90 and P99.
func (b *briefly) table() doc.Grid {
	asked := b.s.Run.Plan.Percentiles != nil
	shown := func(p metrics.Percentile) bool { return asked || p.P != 95 }
	head := []string{b.title, b.Word("report.mean"), b.Word("report.median")}
	for _, p := range b.s.Service.E2EL.Percentiles {
		if shown(p) {
			head = append(head, fmt.Sprintf("P%g ", p.P))
		}
	}
	b.figures(append(head, "n")...)
	row := func(name string, d metrics.Distribution) {
		cells := []string{"  " + name + b.doubt(d), ms(d.Mean), ms(d.Median)}
		for _, p := range d.Percentiles {
			if shown(p) {
				cells = append(cells, ms(p.Value)+b.mark(p))
			}
		}
		if cells = append(cells, fmt.Sprint(d.N)); d.N == 0 {
			cells = []string{"  " + name, "–"}
		}
		b.figures(cells...)
	}
	if b.s.Run.Plan.Stream {
		row("TTFT", b.of.TTFT)
		row("TPOT", b.of.TPOT)
		row("ITL", b.of.ITL)
	}
	row("E2EL", b.of.E2EL)
	widths := append([]int{nameWidth}, slices.Repeat([]int{figureWidth}, len(b.rows[0])-1)...)
	return doc.Grid{Align: "lr", Widths: widths, Rows: b.rows}
}

// minor are notes that explain a figure without changing what it means, or that the first lines have.
var minor = []plan.Code{
	"report.few-values", "report.chunk-tokens", "report.chunks-merged", "report.chunks-bundled", "report.bounded", "report.no-schedule",
	"report.illustrative", "report.profile-error", "report.no-interval",
}

// urgency puts notes first by which the figures are of something else, and last what is as expected, or has its
// place in the title of the table.
var urgency = map[plan.Code]int{"run.prompts-cached": 1, "run.warmed-up": -1, "run.warmed-up-briefly": -1, "report.not-steady": -2}

// notes are those that change what the figures mean, as many as there is room for, and how many are left out.
func (b *briefly) notes(room int) doc.List {
	all := b.footnotes(b.s)
	shown := slices.DeleteFunc(slices.Clone(all), func(m plan.Message) bool { return slices.Contains(minor, m.Code) })
	slices.SortStableFunc(shown, func(a, b plan.Message) int { return cmp.Compare(urgency[b.Code], urgency[a.Code]) })
	shown = shown[:min(len(shown), max(0, room-1))]
	l := doc.List{}
	for _, m := range shown {
		l = append(l, b.Word("report.note", "note", m))
	}
	short := ""
	if slices.ContainsFunc(all, func(m plan.Message) bool { return m.Code == "report.few-values" }) {
		short = b.Word("brief.few-values")
	}
	more := b.wordIf(len(all) > len(shown) || len(b.s.Tenants)+len(b.s.Turns) > 0, "brief.more",
		"notes", len(all)-len(shown), "turns", len(b.s.Turns) > 0, "tenants", len(b.s.Tenants) > 0)
	if last := doc.Join(" · ", short, b.wordIf(b.invalid || b.void, "brief.unbelievable"), more); last != "" {
		l = append(l, last)
	}
	return l
}
