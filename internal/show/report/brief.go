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

// What the first screen of a run has at most, so that it fits on a terminal of 80 columns and 24 rows.
const (
	briefLines = 15
	briefWidth = 158 // columns of a line: two rows of that terminal
	partsWidth = 132 // columns of a list in one, such as the causes of a verdict
	objectives = 80  // columns of the list of objectives
)

// Brief writes the first screen of a run: the verdict with its cause and a remedy, the six figures that
// people compare, target and load, trouble and notes that there is room for, and one table. Where there is a
// steady state, figures and table are of it. What there is no room for is counted.
func Brief(w io.Writer, s metrics.Summary, l *words.Language) error {
	r := report{Language: l}
	b := briefly{report: &r, s: s, of: s.Service, requests: s.Rates.Requests, output: s.Rates.Output}
	b.title = r.Word("brief.whole", "of", plan.Msg("report.whole", "duration", s.Duration))
	if s.Steady.Found() {
		b.of, b.requests, b.output = s.Steady.Service, s.Steady.Completed, s.Steady.Output
		b.title = r.Word("brief.steady", "of", plan.Msg("report.steady", "from", s.Steady.From, "to", s.Steady.To))
	}
	b.head()
	head, table := b.lines(), b.table()
	b.trouble()
	rest := b.lines()
	room := briefLines - len(head) - len(table.Rows) - 2 // one of them blank, and one on what is left out
	shown := min(len(rest), max(0, room))
	b.hidden = len(rest) - shown
	for _, line := range b.notes(room - shown) {
		table.Rows = append(table.Rows, []string{line})
	}
	return write(w, slices.Concat(head, rest[:shown]), table)
}

// A briefly is a first screen in the making.
type briefly struct {
	*report
	s                metrics.Summary
	of               metrics.Latencies // of the steady state, or of the whole run
	requests, output float64           // per second, of the same
	title            string            // of what these are
	hidden           int               // lines that there is no room for
	cut              bool              // some line is not in full
}

// lines takes the lines of the head that were made, in the width of a first screen.
func (b *briefly) lines() (all doc.List) {
	for _, line := range b.fields {
		if line != "" {
			all = append(all, b.bounded(line, briefWidth))
		}
	}
	b.fields = nil
	return all
}

func (b *briefly) bounded(line string, columns int) string {
	cut := doc.Cut(line, columns)
	b.cut = b.cut || cut != line
	return cut
}

// few joins as many parts as there is room for, at least one, and counts the rest.
func (b *briefly) few(columns int, parts ...string) []string {
	n := min(1, len(parts))
	for n < len(parts) && doc.Width(b.Join("stop", parts[:n+1]...)) <= columns {
		n++
	}
	if n == 0 {
		return nil
	}
	all := []string{b.bounded(b.Join("stop", parts[:n]...), columns)}
	if rest := len(parts) - n; rest > 0 {
		b.cut, all = true, append(all, b.Word("list.more", "n", rest))
	}
	return all
}

// said are the first of some messages.
func (b *briefly) said(all []plan.Message) []string {
	parts := make([]string, len(all))
	for i, m := range all {
		parts[i] = b.Say(m)
	}
	return b.few(partsWidth, parts...)
}

func (b *briefly) head() {
	b.verdict()
	b.field("", b.sixFigures()...)
	if b.s.Graded != nil {
		b.field("", b.Word("figure.accuracy")+" "+b.graded(b.s.Graded))
	}
	b.place(b.s)
}

// verdict is the first line: whether the run is valid, with the share that met the objectives and how many requests
// failed, or why it is not; then come what to do, and what it did to the figures.
func (b *briefly) verdict() {
	h, e := b.s.Health, metrics.Explain(b.s.Health.Verdict)
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
	outcome := []string{status, met, b.judged()}
	if len(e.Causes) == 0 {
		b.outcome(append([]string{b.Say(word)}, outcome...)...)
		return
	}
	b.fields = append(b.fields, b.Word("report.verdict", "validity", word, "causes", b.said(e.Causes)))
	b.field("", b.wordIf(len(e.Remedies) > 0, "report.remedy", "remedies", b.said(e.Remedies)))
	b.field("", b.wordIf(len(e.Effects) > 0, "report.effects", "effects", b.said(e.Effects)))
	b.outcome(outcome...)
}

// judged are the objectives of the run with what became of them: first those that are not met, then those of which it
// is not known.
func (b *briefly) judged() string {
	lines, order := b.judgements(b.s), make([]int, len(b.s.Judgements))
	for i := range order {
		order[i] = i
	}
	gravity := func(i int) int {
		switch j := b.s.Judgements[i]; {
		case j.Met:
			return 2
		case j.Known:
			return 0
		}
		return 1
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(gravity(i), gravity(k)) })
	var sorted []string
	for _, i := range order {
		sorted = append(sorted, lines[i])
	}
	if sorted == nil {
		return ""
	}
	return doc.Join(" ", b.Join("stop", b.few(objectives, sorted...)...), b.wordIf(b.s.Steady.Found(), "brief.of-all"))
}

// outcome is a line that ends with how many requests were answered, and how the others failed; that is a line of its
// own where there is no room for it.
func (b *briefly) outcome(parts ...string) {
	q, classes := b.s.Requests, []string{}
	for _, c := range q.Classes {
		example := doc.Cut(doc.Clean(c.Example), 60)
		classes = append(classes, b.Word("brief.class", "count", c.Count, "why", plan.Msg(c.Class.Code()), "status", c.Status, "example", example))
	}
	answered := func(classes []string) string {
		return b.Word("brief.answered", "ok", q.OK, "failed", q.Failed, "duration", b.s.Duration, "classes", classes)
	}
	before := doc.Join(" · ", parts...)
	room := briefWidth - 14 - doc.Width(answered(nil)) // less "; N more" behind the classes
	if rest := room - doc.Width(before); rest > min(room, 30*len(classes)) {
		b.fields = append(b.fields, doc.Join(" · ", before, answered(b.few(rest, classes...))))
		return
	}
	b.fields = append(b.fields, before, doc.Field("", answered(b.few(room, classes...))))
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
	rate := b.rate(b.s.Rates, b.output, "tok/s")
	switch {
	case b.s.Tokens.Audio > 0:
		rate = b.rate(b.s.Rates, b.s.Rates.Audio, "s/s")
	case b.s.Run.Plan.Silent():
		rate = b.Word("brief.texts", "rate", sig(b.s.Rates.Inputs))
	}
	figures := []string{b.rate(b.s.Rates, b.requests, "req/s"), rate}
	if b.s.Run.Plan.Stream {
		figures = append(figures, latency("TTFT", b.of.TTFT), latency("TPOT", b.of.TPOT))
	}
	return append(figures, latency("E2EL", b.of.E2EL))
}

// trouble are lines on the cost, and on devices, cache and server where they matter.
func (b *briefly) trouble() {
	if b.s.Cost != nil {
		b.field(b.Word("report.cost"), Cost(b.s.Cost, b.Language))
	}
	if used := b.s.Resources; used != nil && used.Devices != nil && len(used.Devices.Throttled) > 0 {
		b.deviceRows(used.Devices, b.s.Run.Env.Serving)
	}
	b.cache(b.s)
	if c := b.s.Server; c != nil && (c.Preemptions > 0 || !c.Dropped.IsZero() || c.Queued > b.of.TTFT.Mean/2) {
		b.field(b.Word("report.server"), b.counters(c)...)
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

// notes are those that change what the figures mean, as many as there is room for, and a line on what is left out.
func (b *briefly) notes(room int) doc.List {
	all := b.footnotes(b.s)
	shown := slices.DeleteFunc(slices.Clone(all), func(m plan.Message) bool { return slices.Contains(minor, m.Code) })
	slices.SortStableFunc(shown, func(a, b plan.Message) int { return cmp.Compare(urgency[b.Code], urgency[a.Code]) })
	shown = shown[:min(len(shown), max(0, room))]
	l := doc.List{}
	for _, m := range shown {
		l = append(l, b.bounded(b.Word("report.note", "note", m), briefWidth))
	}
	short := slices.ContainsFunc(all, func(m plan.Message) bool { return m.Code == "report.few-values" })
	marks := []string{b.wordIf(short, "brief.few-values"), b.wordIf(b.invalid || b.void, "brief.unbelievable")}
	if last := doc.Join(" · ", append(marks, b.more(len(all)-len(shown)+b.hidden))...); last != "" {
		l = append(l, last)
	}
	return l
}

// more names what --all has beyond the first screen; "" where that is all.
func (b *briefly) more(notes int) string {
	var what []string
	for _, part := range []string{
		b.wordIf(len(b.s.Tenants) > 0, "brief.tenants"), b.wordIf(len(b.s.Turns) > 0, "brief.turns"),
		b.wordIf(notes > 0, "brief.notes", "notes", notes),
	} {
		if part != "" {
			what = append(what, part)
		}
	}
	return b.wordIf(what != nil || b.cut, "brief.more", "what", what, "full", what == nil)
}
