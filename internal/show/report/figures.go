package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/answers"
	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// graded is the share of right answers with its interval, and what they lacked.
func (r *report) graded(g *metrics.Graded) string {
	in := answers.Wilson(g.Right, g.Answers)
	return r.Word("report.graded", "share", g.Share(g.Right), "low", in.Low, "high", in.High,
		"answers", g.Answers, "cut", g.Cut, "unparsed", g.Unparsed, "fallback", g.Fallback)
}

// rates are rows of a name, a count, and the rate over the run and in the steady state.
func (r *report) rates(s metrics.Summary) doc.Grid {
	g := doc.Grid{Align: "llr", Widths: []int{11, 27, 18, 21}}
	row := func(cells ...string) { g.Rows = append(g.Rows, cells) }
	steady := func(string) string { return "" }
	title := ""
	if s.Steady.Why.IsZero() {
		title = r.Word("report.steady", "from", s.Steady.From, "to", s.Steady.To)
		steady = func(v string) string { return v }
	}
	tokens := func(n int) string { return r.Word("report.token-count", "tokens", n) }
	rate := func(v float64, unit string) string { return r.rate(s.Rates, v, unit) }
	row("", "", r.Word("report.whole", "duration", s.Duration), title)
	row(r.Word("report.requests"), r.Word("report.counts", "ok", s.Requests.OK, "failed", s.Requests.Failed),
		rate(s.Rates.Requests, "req/s"), steady(sig(s.Steady.Completed)+" req/s"))
	if s.Run.Plan.Silent() {
		row(r.Word("report.texts"), fmt.Sprint(s.Tokens.Inputs), rate(s.Rates.Inputs, "/s"), "")
	} else {
		row(r.Word("report.output"), tokens(s.Tokens.Output),
			rate(s.Rates.Output, "tok/s"), steady(sig(s.Steady.Output)+" tok/s"))
	}
	row(r.Word("report.input"), tokens(s.Tokens.Input), rate(s.Rates.Input, "tok/s"), "")
	if s.Tokens.Audio > 0 {
		row(r.Word("report.audio"), fmt.Sprintf("%.1f s", s.Tokens.Audio), rate(s.Rates.Audio, "s/s"), "")
	}
	if !s.Rates.AtLeast {
		row(r.Word("report.in-flight"), r.Word("report.peak", "requests", s.Concurrency.Peak),
			r.Word("report.level", "requests", s.Concurrency.Mean), steady(r.Word("report.level", "requests", s.Steady.Level)))
	}
	if within := ClockOffset(s.Run.Fleet, r.Language); within != "" {
		row("", within)
	}
	if d := s.Defects; d != nil {
		row(r.Word("report.answers"), r.Word("report.inspected", "defective", d.Defective, "answers", d.Inspected, "kinds", d.Kinds()))
	}
	if g := s.Graded; g != nil {
		row(r.Word("figure.accuracy"), r.graded(g))
	}
	if g := s.Goodput; g != nil {
		unsettled := r.wordIf(!g.Unsettled.IsZero(), "report.unsettled", "grows", metrics.QueueGrows(g.Unsettled))
		met := r.Word("report.met", "requests", g.Met, "share", g.Share)
		row(r.Word("report.goodput"), met, rate(g.Rate, "req/s"), unsettled)
		row("", Objectives(g.Objectives))
	}
	for i, line := range r.judgements(s) {
		row(r.wordIf(i == 0, "report.objectives"), line)
	}
	if s.Cost != nil {
		row(r.Word("report.cost"), Cost(s.Cost, r.Language))
	}
	return g
}

// rate is one of a run, a lower bound where answers are missing.
func (r *report) rate(of metrics.Rates, v float64, unit string) string {
	if of.AtLeast {
		return "≥ " + sig(v) + " " + unit
	}
	return sig(v) + " " + unit
}

// Objective is one in words: TTFT ≤ 200ms, P99 TTFT ≤ 200ms. Those of each request need no language.
func Objective(o plan.Objective, l *words.Language) string {
	name := strings.ToUpper(o.Metric)
	if o.Statistic == "mean" {
		name = l.Word("report.mean-of", "name", name)
	} else if o.OfRun() {
		name = strings.ToUpper(o.Statistic) + " " + name
	}
	return fmt.Sprintf("%s ≤ %v", name, o.Limit.Std().Round(time.Microsecond))
}

// judgements are the objectives of the run, with what became of them.
func (r *report) judgements(s metrics.Summary) (all []string) {
	for _, j := range s.Judgements {
		high := ""
		if j.Short {
			high = strings.TrimSpace(r.mark(metrics.Percentile{P: metrics.ObjectiveOf(j.Objective).P, Value: j.Value, Short: true}))
		}
		code := plan.Code("report.objective-unknown")
		switch {
		case j.Met:
			code = "report.objective-met"
		case j.Known:
			code = "report.objective-missed"
		}
		all = append(all, r.Word(code, "objective", Objective(j.Objective, r.Language), "value", ms(j.Value)+high, "failed", j.Failed))
	}
	return all
}

// Cost is one in words; empty without one.
func Cost(c *metrics.Cost, l *words.Language) string {
	switch {
	case c == nil:
		return ""
	case c.Devices == 0:
		return l.Word("report.cost-devices")
	case c.Output == 0 && c.All == 0:
		return l.Word("report.cost-none")
	}
	known := func(v float64) string {
		if v == 0 {
			return ""
		}
		return sig(v)
	}
	return l.Word("report.cost-known", "output", known(c.Output), "all", known(c.All), "price", float64(c.Price), "devices", c.Devices, "sampled", c.Sampled)
}

// Judgements are those of the objectives of a run, in words and in their order.
func Judgements(s metrics.Summary, l *words.Language) []string {
	r := report{Language: l}
	return r.judgements(s)
}

// Objectives are those of each request, as TTFT ≤ 200ms, TPOT ≤ 12ms.
func Objectives(all []plan.Objective) string {
	parts := make([]string, len(all))
	for i, o := range all {
		parts[i] = Objective(o, nil)
	}
	return strings.Join(parts, ", ")
}

func (r *report) latencies(s metrics.Summary) doc.Grid {
	head := []string{"ms", r.Word("report.mean"), r.Word("report.median")}
	for _, p := range s.Service.E2EL.Percentiles {
		head = append(head, fmt.Sprintf("P%g ", p.P))
	}
	r.figures(append(head, r.Word("report.max"), "n")...)
	streamed := s.Run.Plan.Stream
	r.group(r.Word("report.service"), s.Service, streamed, true)
	if s.Response != nil {
		r.group(r.Word("report.response"), *s.Response, streamed, false)
		if s.Run.Plan.Concurrency > 0 {
			r.row(r.Word("report.gate-wait"), s.Wait)
		}
	}
	if s.Steady.Why.IsZero() {
		r.group(r.Word("report.steady-service", "requests", s.Steady.Requests), s.Steady.Service, streamed, true)
	}
	if u := s.Unstalled; u != nil {
		title := r.Word("report.unstalled-service", "touched", u.Touched, "requests", u.Service.E2EL.N)
		r.group(title, u.Service, streamed, true)
	}
	if s.Setup.N > 0 {
		r.title(r.Word("report.new-connections"))
		r.row(r.Word("report.set-up"), s.Setup)
	}
	widths := append([]int{nameWidth}, slices.Repeat([]int{figureWidth}, len(r.rows[0])-1)...)
	return doc.Grid{Align: "lr", Widths: widths, Rows: r.rows}
}

func (r *report) title(s string) { r.rows = append(r.rows, []string{s}) }

func (r *report) group(title string, l metrics.Latencies, streamed, gaps bool) {
	r.title(title)
	if streamed {
		r.row("TTFT", l.TTFT)
	}
	if streamed && gaps {
		r.row("TPOT", l.TPOT)
		r.row("ITL", l.ITL)
	}
	r.row("E2EL", l.E2EL)
}

func (r *report) row(name string, d metrics.Distribution) {
	if d.N > 0 {
		name += r.doubt(d)
	}
	name = "  " + name
	if d.N == 0 {
		r.figures(name, "–")
		return
	}
	figures := []string{name, ms(d.Mean), ms(d.Median)}
	for _, p := range d.Percentiles {
		figures = append(figures, ms(p.Value)+r.mark(p))
	}
	r.figures(append(figures, ms(d.Max), fmt.Sprint(d.N))...)
	r.within(d)
	if d.Bounds != nil {
		r.bounded = true
		r.bound(r.Word("report.at-least"), d.Bounds.Low)
		r.bound(r.Word("report.at-most"), d.Bounds.High)
	}
}

// within is a row of how far the mean and the percentiles can be from those of a load that goes on.
func (r *report) within(d metrics.Distribution) {
	half := func(i *metrics.Interval, v float64) string {
		if i == nil {
			return ""
		}
		return "±" + ms(max(v-i.Low, i.High-v)) + " "
	}
	figures, some := []string{"   " + r.Word("report.interval"), strings.TrimSpace(half(d.MeanInterval, d.Mean)), ""}, d.MeanInterval != nil
	for _, p := range d.Percentiles {
		figures, some = append(figures, half(p.Interval, p.Value)), some || p.Interval != nil
	}
	if some {
		r.figures(figures...)
	}
}

// doubted marks figures that are not to be believed.
const doubted = " !"

// doubt is that mark for figures that want it.
func (r *report) doubt(d metrics.Distribution) string {
	switch {
	case d.Void:
		r.void = true
	case d.Invalid:
		r.invalid = true
	default:
		return ""
	}
	return doubted
}

// bound is a row of what the figures above it can be.
func (r *report) bound(name string, q metrics.Quantiles) {
	figures := []string{"   " + name, "", ms(q.Median)}
	for _, v := range q.Percentiles {
		figures = append(figures, ms(v)+" ")
	}
	r.figures(append(figures, ms(q.Max))...)
}

// ms is seconds in milliseconds, to four significant digits.
func ms(seconds float64) string { return sig(seconds * 1000) }

// sig is v to four significant digits, an integer from 1000 on, and to no more than three decimals.
func sig(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 999.95:
		return fmt.Sprintf("%.0f", v)
	case a >= 99.995:
		return fmt.Sprintf("%.1f", v)
	case a >= 9.9995:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// figures is a row of a name and figures, with blanks where the head has more.
func (r *report) figures(cells ...string) {
	if len(r.rows) > 0 {
		cells = append(cells, make([]string, max(0, len(r.rows[0])-len(cells)))...)
	}
	r.rows = append(r.rows, cells)
}

// Least widths of columns.
const (
	nameWidth   = 12
	figureWidth = 8
	countWidth  = 7
)

// FigureTitle is the name of a figure as the title of a column, with its unit.
func FigureTitle(name string) string {
	return strings.TrimSpace(strings.ToUpper(name) + " " + figure.Lookup(name).Show().Unit)
}

// Figure is the value of a figure in the unit in which it is shown.
func Figure(name string, v float64) string { return sig(figure.Lookup(name).Show().Factor * v) }

// Figures lists the reported figures of a tool that prints no table.
func Figures(w io.Writer, o *trace.Origin, l *words.Language) error {
	for _, f := range o.Figures {
		of := figure.Lookup(f.Name)
		title, scale := doc.PadRight(l.Say(of.Title()), 32), of.Show()
		if _, err := fmt.Fprintf(w, "%s %14.2f %s\n", title, scale.Factor*f.Value, scale.Unit); err != nil {
			return err
		}
	}
	return nil
}
