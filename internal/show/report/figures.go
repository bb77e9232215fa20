package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/figure"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// rates are lines of a name, what it counts, and the rate over the whole run
// and in the steady state.
func (r *report) rates(s metrics.Summary) {
	steady := func(string) string { return "" }
	title := ""
	if s.Steady.Why.IsZero() {
		title = r.Word("report.steady", "from", s.Steady.From, "to", s.Steady.To)
		steady = func(v string) string { return v }
	}
	tokens := func(n int) string { return r.Word("report.token-count", "tokens", n) }
	r.rate("", "", r.Word("report.whole", "duration", s.Duration), title)
	r.rate(r.Word("report.requests"), r.Word("report.counts", "ok", s.Requests.OK, "failed", s.Requests.Failed),
		sig(s.Rates.Requests)+" req/s", steady(sig(s.Steady.Completed)+" req/s"))
	if s.Run.Plan.Silent() {
		r.rate(r.Word("report.texts"), fmt.Sprint(s.Tokens.Inputs), sig(s.Rates.Inputs)+" /s", "")
	} else {
		r.rate(r.Word("report.output"), tokens(s.Tokens.Output), sig(s.Rates.Output)+" tok/s", steady(sig(s.Steady.Output)+" tok/s"))
	}
	r.rate(r.Word("report.input"), tokens(s.Tokens.Input), sig(s.Rates.Input)+" tok/s", "")
	if s.Tokens.Audio > 0 {
		r.rate(r.Word("report.audio"), fmt.Sprintf("%.1f s", s.Tokens.Audio), sig(s.Rates.Audio)+" s/s", "")
	}
	r.rate(r.Word("report.in-flight"), r.Word("report.peak", "requests", s.Concurrency.Peak),
		r.Word("report.level", "requests", s.Concurrency.Mean), steady(r.Word("report.level", "requests", s.Steady.Level)))
	if within := Apart(s.Run.Fleet, r.Language); within != "" {
		r.Line(strings.Repeat(" ", nameWidth), within)
	}
	if g := s.Goodput; g != nil {
		r.rate(r.Word("report.goodput"), r.Word("report.met", "requests", g.Met, "share", g.Share), sig(g.Rate)+" req/s", r.unsettled(g))
		r.Line(strings.Repeat(" ", nameWidth), objectives(g))
	}
	r.Line()
}

func (r *report) rate(name, what, whole, steady string) {
	r.Line(doc.PadRight(name, nameWidth), doc.PadRight(what, 28), doc.PadLeft(whole, 18), doc.PadLeft(steady, 22))
}

// unsettled says beside the share within the objectives that it is not that of the rate.
func (r *report) unsettled(g *metrics.Goodput) string {
	if g.Unsettled.IsZero() {
		return ""
	}
	return r.Word("report.unsettled", "grows", metrics.QueueGrows(g.Unsettled))
}

func objectives(g *metrics.Goodput) string {
	parts := make([]string, len(g.Objectives))
	for i, o := range g.Objectives {
		parts[i] = fmt.Sprintf("%s ≤ %v", strings.ToUpper(o.Metric), o.Limit.Std().Round(time.Microsecond))
	}
	return strings.Join(parts, ", ")
}

func (r *report) latencies(s metrics.Summary) {
	figures := []string{"ms", r.Word("report.mean"), r.Word("report.median")}
	for _, p := range s.Service.E2EL.Percentiles {
		figures = append(figures, fmt.Sprintf("P%g ", p.P))
	}
	r.figures(append(figures, r.Word("report.max"), "n")...)
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
		r.group(r.Word("report.unstalled-service", "touched", u.Touched, "requests", u.Service.E2EL.N), u.Service, streamed, true)
	}
	if s.Setup.N > 0 {
		r.Line(r.Word("report.new-connections"))
		r.row(r.Word("report.set-up"), s.Setup)
	}
	r.Line()
}

func (r *report) group(title string, l metrics.Latencies, streamed, gaps bool) {
	r.Line(title)
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
	if d.Bounds != nil {
		r.bounded = true
		r.bound(r.Word("report.at-least"), d.Bounds.Low)
		r.bound(r.Word("report.at-most"), d.Bounds.High)
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

// sig is v to four significant digits, whole from 1000 on, and to no more than
// three decimals.
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

// figures is a line of a name and figures, which stand below one another.
func (r *report) figures(nameAndFigures ...string) {
	for i, s := range nameAndFigures {
		nameAndFigures[i] = doc.PadLeft(s, figureWidth)
		if i == 0 {
			nameAndFigures[i] = doc.PadRight(s, nameWidth)
		}
	}
	r.Line(nameAndFigures...)
}

// Widths of the latency table.
const (
	nameWidth   = 12
	figureWidth = 9
)

// FigureTitle is the name of a figure as the title of a column, with its unit.
func FigureTitle(name string) string {
	return strings.TrimSpace(strings.ToUpper(name) + " " + figure.Of(name).Show().Unit)
}

// Figure is the value of a figure in the unit in which it is shown.
func Figure(name string, v float64) string { return sig(figure.Of(name).Show().Factor * v) }

// Figures lists what a tool reported whose tables nobody pastes.
func Figures(w io.Writer, o *trace.Origin, l *words.Language) error {
	for _, f := range o.Figures {
		of := figure.Of(f.Name)
		title, scale := doc.PadRight(l.Say(of.Title()), 32), of.Show()
		if _, err := fmt.Fprintf(w, "%s %14.2f %s\n", title, scale.Factor*f.Value, scale.Unit); err != nil {
			return err
		}
	}
	return nil
}
