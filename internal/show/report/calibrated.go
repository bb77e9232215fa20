package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Calibrated shows an engine that was found from runs: its costs, its limits, unobserved steps,
// simulations of those runs, and the loads for which it can be trusted.
func Calibrated(w io.Writer, of *calibrate.Calibration, l *words.Language) error {
	c := &calibrated{of, l}
	return doc.Text(w, doc.Document{Lang: l, Sections: []doc.Section{
		{Title: l.Word("calibrated.costs"), Items: []doc.Item{c.costs()}},
		{Items: []doc.Item{c.limits()}},
		{Title: l.Word("calibrated.refits"), Items: []doc.Item{c.refits()}},
		{Items: []doc.Item{doc.Prose(c.trust())}},
	}}, 0, false)
}

// A calibrated is an engine that was found, in the words of a language.
type calibrated struct {
	*calibrate.Calibration
	*words.Language
}

// costs are those of a step, with what each depends on.
func (c *calibrated) costs() doc.Grid {
	g := doc.Grid{Align: "lrl", Widths: []int{16, 10, 11, 0}}
	row := func(name string, cells ...string) { g.Rows = append(g.Rows, append([]string{"  " + name}, cells...)) }
	for _, t := range c.Tables() {
		for _, point := range t.Points {
			row(t.Name, shortly(point.Time), "", c.Word("calibrated.with", "n", point.At, "of", c.driver(t.Of)))
		}
	}
	for _, k := range c.Linear() {
		spread := "± " + shortly(k.Spread)
		if c.Launches() && k.Spread == 0 { // it was not drawn anew
			spread = ""
		}
		row(k.Name, shortly(k.Value), spread, c.driver(k.Of))
	}
	row("jitter", c.Word("calibrated.jitter", "share", fmt.Sprintf("%9.1f", 100*c.Jitter), "other", c.Cost.JitterQuantiles != nil))
	if h := c.Cost.Host; h != nil {
		n := len(h.Factors) - 1
		row("host", c.Word("calibrated.host", "low", h.Factors[n/20], "high", h.Factors[n-n/20], "run", float64(h.Run)))
	}
	if slow := c.Cost.SlowSteps; slow != nil {
		longer := shortly(slow.Extra[len(slow.Extra)/2])
		row("slow_steps", c.Word("calibrated.slow", "share", fmt.Sprintf("%9.1f", 100*float64(slow.Share)), "longer", longer))
	}
	return g
}

// limits are what the engine does with requests, up to what, and how well it was seen.
func (c *calibrated) limits() (l doc.List) {
	line := func(name, text string) { l = append(l, doc.PadRight(name, 17)+text) }
	limit := func(name string, reached bool, n int, otherwise string) {
		if reached {
			otherwise = fmt.Sprint(n)
		}
		line(name, otherwise)
	}
	line("frontend", c.frontend())
	line("policy", c.policy())
	limit(c.budget(), c.BudgetSeen, c.Budget, c.Word("calibrated.budget-unknown", "tokens", c.Longest))
	if c.MaxPrompts > 0 {
		line("max_prompts", c.Word("calibrated.prompts", "n", c.MaxPrompts, "even", c.Even))
	}
	if c.Speculative != nil {
		line("speculative", c.drafts())
	}
	limit("max_sequences", c.MaxSequences > 0, c.MaxSequences, c.Word("calibrated.sequences-unknown", "n", c.MostRunning))
	limit("kv.tokens", c.Memory > 0, c.Memory, c.Word("calibrated.memory-unknown", "n", c.MostContext))
	line(c.Word("calibrated.seen"), c.Word("calibrated.steps", "steps", c.Steps, "timed", c.Rows, "prompts", c.Prefills, "miss", c.Miss))
	line(c.Word("calibrated.unexplained"), c.Word("calibrated.residue", "off", c.Off, "prompts", c.OffPrefill, "drift", c.Drift,
		"over", c.Over, "astray", c.Early+c.Late))
	if c.Block > 0 {
		line(c.Word("calibrated.prefix-cache"), c.Word("calibrated.cached", "share", c.Cached, "block", c.Block, "endless", c.Memory == 0))
	}
	return l
}

// driver is what a cost depends on; the names of measures have words.
func (c *calibrated) driver(of string) string {
	if code := plan.Code("driver." + strings.NewReplacer(", ", "-", " ", "-").Replace(of)); c.Knows(code) {
		return c.Word(code)
	}
	return of
}

// refits are the figures of runs, measured and simulated, behind the runs that were left out.
func (c *calibrated) refits() doc.Grid {
	g := doc.Grid{Align: "lr", Widths: []int{28, 10, 10, 8}}
	for _, left := range c.Left {
		g.Rows = append(g.Rows, []string{"  " + c.Word("calibrated.left", "run", left.Name, "why", left.Why)})
	}
	for _, r := range c.Runs {
		load := c.Word("calibrated.load", "requests", r.Requests, "rate", r.Rate, "limit", r.Limit, "scheduled", r.Rate <= 0 && r.Limit <= 0)
		g.Rows = append(g.Rows, []string{"  " + r.Name + ": " + load})
		for _, f := range r.Figures {
			g.Rows = append(g.Rows, refit(f, c.Language))
		}
		mean := "    " + c.Word("calibrated.mean-error", "n", len(r.Figures))
		g.Rows = append(g.Rows, []string{mean, fmt.Sprintf("%28.1f%%", 100*r.Error())})
	}
	return g
}

// refit is a figure: its name, measured, simulated, and the error of that.
func refit(f calibrate.ComparedFigure, l *words.Language) []string {
	name, scale := figureName(f.Name, l)
	off := fmt.Sprintf("%+.1f%%", 100*f.Error())
	return []string{"    " + name, digits(f.Measured * scale), digits(f.Median * scale), off}
}

// shortly has four digits.
func shortly(s engine.Seconds) string { return calibrate.Rounded(s, 4).String() }

// policy says how prompts and sequences that decode share the engine.
func (c *calibrated) policy() string {
	text := c.Word("calibrated.beside")
	switch {
	case c.PrefillFirst:
		text = c.Word("calibrated.prefill-first")
	case c.PromptBudget:
		text = c.Word("calibrated.prompt-budget")
	}
	return c.Word("calibrated.policy", "policy", text, "async", c.Async && !c.Launches(), "launches", c.Launches())
}

// drafts says what speculative decoding gives.
func (c *calibrated) drafts() string {
	var at []string
	for _, a := range c.Speculative.Acceptance {
		at = append(at, c.Word("calibrated.accepted", "share", float64(a)))
	}
	return c.Word("calibrated.drafts", "tokens", c.PerStep, "seen", c.DraftsSeen, "drafts", c.Speculative.Drafts, "accepted", c.Join("comma", at...))
}

// frontend says what a request and its output cost before and behind the engine.
func (c *calibrated) frontend() string {
	f, serial := c.Engine.Frontend, ""
	if c.Launches() {
		return c.Word("calibrated.loop", "request", shortly(f.Request), "head", shortly(f.Head), "passes", f.Passes,
			"flush", shortly(f.Flush), "chunk", shortly(f.Chunk), "delay", shortly(f.Delay))
	}
	if f.Request > 0 {
		serial = shortly(f.Request)
	}
	return c.Word("calibrated.frontend", "delay", shortly(f.Request+f.Delay), "serial", serial, "guess", !c.DelaySeen,
		"chunk", shortly(f.Chunk), "blocking", f.Blocking)
}

// budget is what the budget of a step is called.
func (c *calibrated) budget() string {
	switch {
	case c.PrefillFirst:
		return "chunk"
	case c.PromptBudget:
		return "prefill_budget"
	}
	return "token_budget"
}

// trust says in a sentence what the engine is good for.
func (c *calibrated) trust() string {
	text := c.Word("calibrated.trust", "low", c.Lo, "high", c.Hi, "requests", c.MostRunning, "tokens", c.MostContext)
	if why := c.Doubts(); why != nil {
		text = c.Word("calibrated.distrust", "why", c.Join("stop", why...))
	}
	return c.Word("calibrated.trusted", "text", text, "single", len(c.Runs) == 1)
}

// Evidence shows how a profile compares with what was measured in one run.
func Evidence(w io.Writer, c calibrate.Comparison, l *words.Language) error {
	e := c.Evidence
	g := doc.Grid{Align: "lr", Widths: []int{28, 10, 10, 8, 10}, Rows: [][]string{
		{"  " + doc.Join(" · ", e.Name, describeEvidence(e, l), l.Word("evidence.fitted", "fitted", e.Fitted))},
		{"  " + e.Log},
		{"", l.Word("evidence.measured"), l.Word("evidence.simulated"), l.Word("evidence.error"), l.Word("evidence.vary")},
	}}
	for _, f := range c.Figures {
		g.Rows = append(g.Rows, append(refit(f, l), fmt.Sprintf("%.1f%%", 100*f.Spread)))
	}
	title := "    " + l.Word("calibrated.mean-error", "n", len(c.Figures))
	mean := l.Word("evidence.mean", "error", fmt.Sprintf("%30.1f", 100*c.Error), "within", c.Within, "draws", c.Draws)
	single := l.Word("evidence.single", "error", fmt.Sprintf("%30.1f", 100*c.Single), "low", c.Low, "high", c.High, "floor", c.Floor)
	g.Rows = append(g.Rows, []string{title, mean}, []string{"    " + l.Word("evidence.of-single"), single})
	return write(w, g)
}

// Fitted shows what a fit found, and which numbers the evidence does not determine.
func Fitted(w io.Writer, f calibrate.Fitted, l *words.Language) error {
	g := doc.Grid{Align: "lrrl", Widths: []int{36, 12, 12, 0}}
	g.Rows = append(g.Rows, []string{"", l.Word("fitted.before"), l.Word("fitted.after"), " " + l.Word("fitted.interval")})
	for _, field := range f.Fields {
		g.Rows = append(g.Rows, []string{field.Path, field.Before, field.After, " " + howSure(field, l)})
	}
	if !math.IsInf(f.Before, 1) {
		before, after := fmt.Sprintf("%.1f%%", 100*f.Before), fmt.Sprintf("%.1f%%", 100*f.After)
		g.Rows = append(g.Rows, []string{l.Word("fitted.error"), before, after, ""})
	}
	return write(w, g)
}

// howSure describes the interval of a fitted number.
func howSure(f calibrate.FittedField, l *words.Language) string {
	i := f.Interval
	switch {
	case f.Idle:
		return l.Word("fitted.idle")
	case i.Share == 0:
		return ""
	case !i.Determined():
		return l.Word("fitted.open", "low", i.Low, "high", i.High)
	}
	return l.Word("predicted.between", "low", i.Low, "high", i.High)
}

func describeEvidence(e *profile.Evidence, l *words.Language) string {
	when := l.Word("arrival.at-once")
	switch {
	case e.Rate > 0:
		when = l.Word("arrival.poisson", "rate", e.Rate)
	case e.Concurrency > 0:
		when = l.Word("evidence.closed", "requests", e.Concurrency)
	}
	return l.Join("comma", l.Word("load.requests", "value", e.Requests), when)
}

// figureName is a figure in words with its unit, and what to multiply it with.
func figureName(name string, l *words.Language) (text string, scale float64) {
	switch name {
	case "duration":
		return l.Word("plain.duration"), 1
	case "throughput.output":
		return l.Word("plain.throughput-output"), 1
	case "throughput.total":
		return l.Word("plain.throughput-total"), 1
	case "concurrency":
		return l.Word("plain.concurrency"), 1
	case "peak.output":
		return l.Word("plain.peak-output"), 1
	case "throughput.requests":
		return l.Word("plain.throughput-requests"), 1
	case "peak.concurrency":
		return l.Word("plain.peak-concurrency"), 1
	}
	metric, statistic, _ := strings.Cut(name, ".")
	switch statistic {
	case "mean", "median", "max":
		statistic = l.Word(plan.Code("report." + statistic))
	}
	return fmt.Sprintf("%s %s (ms)", strings.ToUpper(metric), statistic), 1000
}

// digits writes four digits or integers.
func digits(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}
