package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// Calibrated shows an engine that was found from runs: its costs, its limits, unobserved steps,
// simulations of those runs, and the loads for which it can be trusted.
func Calibrated(w io.Writer, c *calibrate.Calibration) error {
	return doc.Text(w, doc.Document{Sections: []doc.Section{
		{Title: "costs of a step", Items: []doc.Item{costs(c)}},
		{Items: []doc.Item{limits(c)}},
		{Title: "the same requests, simulated (misfit, not prediction)", Items: []doc.Item{refits(c)}},
		{Items: []doc.Item{doc.Prose(trust(c))}},
	}}, 0, false)
}

// costs are those of a step, with what each depends on.
func costs(c *calibrate.Calibration) doc.Grid {
	g := doc.Grid{Align: "lrl", Widths: []int{16, 10, 11, 0}}
	row := func(name string, cells ...string) { g.Rows = append(g.Rows, append([]string{"  " + name}, cells...)) }
	for _, t := range c.Tables() {
		for _, point := range t.Points {
			row(t.Name, shortly(point.Time), "", fmt.Sprintf("with %g %s", point.At, t.Of))
		}
	}
	for _, k := range c.Linear() {
		spread := "± " + shortly(k.Spread)
		if c.Launches() && k.Spread == 0 { // it was not drawn anew
			spread = ""
		}
		row(k.Name, shortly(k.Value), spread, k.Of)
	}
	jitter := fmt.Sprintf("%9.1f %%", 100*c.Jitter)
	if c.Cost.JitterQuantiles != nil {
		jitter += ", not lognormal"
	}
	row("jitter", jitter)
	if h := c.Cost.Host; h != nil {
		n := len(h.Factors) - 1
		row("host", fmt.Sprintf("launches take %.2f to %.2f times that in nine of ten, %.0f %% more or less from run to run",
			h.Factors[n/20], h.Factors[n-n/20], 100*float64(h.Run)))
	}
	if slow := c.Cost.SlowSteps; slow != nil {
		longer := shortly(slow.Extra[len(slow.Extra)/2])
		row("slow_steps", fmt.Sprintf("%9.1f %%   %s longer in the median", 100*float64(slow.Share), longer))
	}
	return g
}

// limits are what the engine does with requests, up to what, and how well it was seen.
func limits(c *calibrate.Calibration) (l doc.List) {
	line := func(name, format string, a ...any) { l = append(l, doc.PadRight(name, 17)+fmt.Sprintf(format, a...)) }
	limit := func(name string, reached bool, n int, otherwise string, most int) {
		if reached {
			otherwise, most = "%d", n
		}
		line(name, otherwise, most)
	}
	line("frontend", "%s", frontendOf(c))
	line("policy", "%s", policyOf(c))
	limit(budgetOf(c), c.BudgetSeen, c.Budget, "not reached: the longest step had %d tokens of prompts", c.Longest)
	even := map[bool]string{true: ", which share its budget evenly"}[c.Even]
	if c.MaxPrompts > 0 {
		line("max_prompts", "%d in a step%s", c.MaxPrompts, even)
	}
	if c.Speculative != nil {
		line("speculative", "%s", draftsOf(c))
	}
	limit("max_sequences", c.MaxSequences > 0, c.MaxSequences, "not reached: %d ran at once", c.MostRunning)
	limit("kv.tokens", c.Memory > 0, c.Memory, "not reached: %d were held", c.MostContext)
	line("seen", "%d steps, %d with a known duration, %d of them with prompts; %.1f %% could not be told apart",
		c.Steps, c.Rows, c.Prefills, 100*c.Miss)
	line("unexplained", "steps are off by %.1f %% (%.1f %% with prompts) in the median, jitter among it; "+
		"the pace drifts by %.1f %%; %.1f %% of prompt tokens were computed beyond the budget; "+
		"%.1f %% of first tokens came at another time than the schedule has them",
		100*c.Off, 100*c.OffPrefill, 100*c.Drift, 100*c.Over, 100*(c.Early+c.Late))
	lasting := map[bool]string{true: " from which nothing is evicted, as its size is not known"}[c.Memory == 0]
	if c.Block > 0 {
		line("prefix cache", "%.1f %% of the prompt tokens were found in it, in blocks of %d; "+
			"other loads have such a cache%s", 100*c.Cached, c.Block, lasting)
	}
	return l
}

// refits are the figures of runs, measured and simulated, behind the runs that were left out.
func refits(c *calibrate.Calibration) doc.Grid {
	g := doc.Grid{Align: "lr", Widths: []int{28, 10, 10, 8}}
	for _, l := range c.Left {
		g.Rows = append(g.Rows, []string{"  " + l.Name + ": left out, since it " + l.Why})
	}
	for _, r := range c.Runs {
		g.Rows = append(g.Rows, []string{"  " + r.Name + ": " + r.Load})
		for _, f := range r.Figures {
			g.Rows = append(g.Rows, refit(f))
		}
		mean := fmt.Sprintf("    mean error of %d", len(r.Figures))
		g.Rows = append(g.Rows, []string{mean, fmt.Sprintf("%28.1f%%", 100*r.Error())})
	}
	return g
}

// refit is a figure: its name, measured, simulated, and the error of that.
func refit(f calibrate.ComparedFigure) []string {
	name, scale := figureName(f.Name)
	off := fmt.Sprintf("%+.1f%%", 100*f.Error())
	return []string{"    " + name, digits(f.Measured * scale), digits(f.Median * scale), off}
}

// shortly has four digits.
func shortly(s engine.Seconds) string { return calibrate.Rounded(s, 4).String() }

// policyOf says how prompts and sequences that decode share the engine.
func policyOf(c *calibrate.Calibration) string {
	text := "prompts are computed beside sequences that decode, as vLLM does"
	switch {
	case c.PrefillFirst:
		text = "prompts stop sequences that decode, as SGLang does"
	case c.PromptBudget:
		text = "prompts are computed beside sequences that decode, by a budget of their own"
	}
	switch {
	case c.Launches():
		text += "; the host launches a step before the tokens of the one before are sent"
	case c.Async:
		text += "; a step is planned while the one before it runs"
	}
	return text
}

// draftsOf says what speculative decoding gives.
func draftsOf(c *calibrate.Calibration) string {
	text := fmt.Sprintf("%.2f tokens a step and sequence with this workload", c.PerStep)
	if !c.DraftsSeen {
		return text + fmt.Sprintf("; how many are drafted is not known, and %d assumed: "+
			"answers with counts in every chunk would show it", c.Speculative.Drafts)
	}
	var at []string
	for _, a := range c.Speculative.Acceptance {
		at = append(at, fmt.Sprintf("%.1f %%", 100*a))
	}
	return text + fmt.Sprintf("; %d drafted, accepted by position: %s", c.Speculative.Drafts, strings.Join(at, ", "))
}

// frontendOf says what a request and its output cost before and behind the engine.
func frontendOf(c *calibrate.Calibration) string {
	f := c.Engine.Frontend
	if c.Launches() {
		return fmt.Sprintf("one event loop: %s on each request and %s at its head, behind %d iterations; "+
			"%s on the output of a step and %s on each chunk; then %s until the engine knows the request",
			shortly(f.Request), shortly(f.Head), f.Passes, shortly(f.Flush), shortly(f.Chunk), shortly(f.Delay))
	}
	text := shortly(f.Request+f.Delay) + " before the engine knows a request"
	if f.Request > 0 {
		text += ", " + shortly(f.Request) + " of it one after the other"
	}
	if !c.DelaySeen {
		text += " (a guess: no request came to an idle engine)"
	}
	text += ", " + shortly(f.Chunk) + " of each token sent"
	if f.Blocking {
		text += "; one worker does both"
	}
	return text
}

// budgetOf is what the budget of a step is called.
func budgetOf(c *calibrate.Calibration) string {
	switch {
	case c.PrefillFirst:
		return "chunk"
	case c.PromptBudget:
		return "prefill_budget"
	}
	return "token_budget"
}

// trust says in a sentence what the engine is good for.
func trust(c *calibrate.Calibration) string {
	s := fmt.Sprintf("trust it for prompts of %d to %d tokens with at most %d requests at once "+
		"and %d tokens of context; not beyond", c.Lo, c.Hi, c.MostRunning, c.MostContext)
	if why := c.Doubts(); why != nil {
		s = "do not trust it: " + strings.Join(why, "; ")
	}
	if len(c.Runs) == 1 {
		s += "; it is one load only: costs that go up and down together in it are not told apart"
	}
	return s
}

// Evidence shows how a profile compares with what was measured in one run.
func Evidence(w io.Writer, c calibrate.Comparison) error {
	e, how := c.Evidence, "not fitted to it"
	if e.Fitted {
		how = "in sample: fitted to it, on other draws"
	}
	g := doc.Grid{Align: "lr", Widths: []int{28, 10, 10, 8, 10}, Rows: [][]string{
		{"  " + doc.Join(" · ", e.Name, describeEvidence(e), how)},
		{"  " + e.Log},
		{"", "measured", "simulated", "error", "draws vary"},
	}}
	for _, f := range c.Figures {
		g.Rows = append(g.Rows, append(refit(f), fmt.Sprintf("%.1f%%", 100*f.Spread)))
	}
	title := fmt.Sprintf("    mean error of %d", len(c.Figures))
	mean := fmt.Sprintf("%30.1f%%   ±%.1f%% over other sets of %d draws", 100*c.Error, 100*c.Within, c.Draws)
	single := fmt.Sprintf("%30.1f%%   %.1f to %.1f%% in nine of ten; %.1f%% of it by chance alone",
		100*c.Single, 100*c.Low, 100*c.High, 100*c.Floor)
	g.Rows = append(g.Rows, []string{title, mean}, []string{"    of a single draw", single})
	return write(w, g)
}

// Fitted shows what a fit found, and which numbers the evidence does not determine.
func Fitted(w io.Writer, f calibrate.Fitted) error {
	g := doc.Grid{Align: "lrrl", Widths: []int{36, 12, 12, 0}}
	g.Rows = append(g.Rows, []string{"", "before", "after", " lies in, 95 % sure"})
	for _, field := range f.Fields {
		g.Rows = append(g.Rows, []string{field.Path, field.Before, field.After, " " + howSure(field)})
	}
	if !math.IsInf(f.Before, 1) {
		before, after := fmt.Sprintf("%.1f%%", 100*f.Before), fmt.Sprintf("%.1f%%", 100*f.After)
		g.Rows = append(g.Rows, []string{"mean error", before, after, ""})
	}
	return write(w, g)
}

// howSure describes the interval of a fitted number.
func howSure(f calibrate.FittedField) string {
	i := f.Interval
	switch {
	case f.Idle:
		return "(the evidence does not depend on it)"
	case i.Share == 0:
		return ""
	case !i.Determined():
		return fmt.Sprintf("%s to %s: not determined by these data", i.Low, i.High)
	}
	return i.Low + " to " + i.High
}

func describeEvidence(e *profile.Evidence) string {
	load := fmt.Sprintf("%d requests", e.Requests)
	switch {
	case e.Rate > 0:
		load += fmt.Sprintf(", Poisson %g req/s", e.Rate)
	case e.Concurrency > 0:
		load += fmt.Sprintf(", closed loop of %d", e.Concurrency)
	default:
		load += ", all at once"
	}
	return load
}

// figureName is a figure in words with its unit, and what to multiply it with.
func figureName(name string) (words string, scale float64) {
	switch name {
	case "duration":
		return "duration (s)", 1
	case "throughput.output":
		return "output (tok/s)", 1
	case "throughput.total":
		return "total (tok/s)", 1
	case "concurrency":
		return "requests in flight", 1
	case "peak.output":
		return "peak output (tok/s)", 1
	case "throughput.requests":
		return "requests (req/s)", 1
	case "peak.concurrency":
		return "peak concurrency", 1
	}
	metric, statistic, _ := strings.Cut(name, ".")
	return fmt.Sprintf("%s %s (ms)", strings.ToUpper(metric), statistic), 1000
}

// digits writes four digits or integers.
func digits(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}
