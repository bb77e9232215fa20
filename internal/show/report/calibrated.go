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
	"github.com/pitot-bench/pitot/internal/show/plain"
)

// Calibrated shows an engine that was found from runs: its costs, its limits, what could not be
// seen, how the runs come out, and what it may be trusted for.
func Calibrated(w io.Writer, c *calibrate.Calibration) error {
	var d doc.Builder
	line := func(format string, a ...any) { d.Line(fmt.Sprintf(format, a...)) }
	line("costs of a step")
	for _, t := range c.Tables() {
		for _, point := range t.Points {
			line("  %-14s %10s             with %g %s", t.Name, shortly(point.Time), point.At, t.Of)
		}
	}
	for _, k := range c.Linear() {
		d.Line(strings.TrimRight(fmt.Sprintf("  %-14s %10s ± %-9s %s", k.Name, shortly(k.Value), shortly(k.Spread), k.Of), " "))
	}
	line("  %-14s %9.1f %%%s", "jitter", 100*c.Jitter, map[bool]string{true: ", not lognormal", false: ""}[c.Cost.JitterQuantiles != nil])
	if slow := c.Cost.SlowSteps; slow != nil {
		line("  %-14s %9.1f %%   %s longer in the median", "slow_steps", 100*float64(slow.Share), shortly(slow.Extra[len(slow.Extra)/2]))
	}
	d.Line("")
	line("frontend         %s", frontendOf(c))
	line("policy           %s", policyOf(c))
	line("%-16s %s", budgetOf(c), limitOf(c.BudgetSeen, c.Budget, fmt.Sprintf("not reached: the longest step had %d tokens of prompts", c.Longest)))
	if c.MaxPrompts > 0 {
		line("max_prompts      %d in a step%s", c.MaxPrompts, map[bool]string{true: ", which share its budget evenly", false: ""}[c.Even])
	}
	line("max_sequences    %s", limitOf(c.MaxSequences > 0, c.MaxSequences, fmt.Sprintf("not reached: %d ran at once", c.MostRunning)))
	line("kv.tokens        %s", limitOf(c.Memory > 0, c.Memory, fmt.Sprintf("not reached: %d were held", c.MostContext)))
	line("seen             %d steps, %d with a known duration, %d of them with prompts; %.1f %% could not be told apart", c.Steps, c.Rows, c.Prefills, 100*c.Miss)
	line("unexplained      steps are off by %.1f %% (%.1f %% with prompts) in the median, jitter among it; the pace drifts by %.1f %%; %.1f %% of prompt tokens were computed beyond the budget; %.1f %% of first tokens came at another time than the schedule has them",
		100*c.Off, 100*c.OffPrefill, 100*c.Drift, 100*c.Over, 100*(c.Early+c.Late))
	if c.Block > 0 {
		line("prefix cache     %.1f %% of the prompt tokens were found in it, in blocks of %d; other loads have such a cache%s", 100*c.Cached, c.Block, map[bool]string{true: "", false: " from which nothing is evicted, as its size is not known"}[c.Memory > 0])
	}
	d.Line("")
	d.Line("the same requests, simulated (misfit, not prediction)")
	for _, r := range c.Runs {
		line("  %s: %s", plain.Line(r.Name), r.Load)
		for _, f := range r.Figures {
			name, scale := figureName(f.Name)
			line("    %-24s %10s %10s %+7.1f%%", name, digits(f.Measured*scale), digits(f.Median*scale), 100*f.Error())
		}
		line("    %-24s %28.1f%%", fmt.Sprintf("mean error of %d", len(r.Figures)), 100*r.Error())
	}
	d.Line("")
	d.Line(trust(c))
	_, err := io.WriteString(w, d.String())
	return err
}

// shortly has four digits.
func shortly(s engine.Seconds) string { return calibrate.Rounded(s, 4).String() }

// policyOf says how prompts and sequences that decode share the engine.
func policyOf(c *calibrate.Calibration) string {
	said := "prompts are computed beside sequences that decode, as vLLM does"
	switch {
	case c.PrefillFirst:
		said = "prompts stop sequences that decode, as SGLang does"
	case c.Beside:
		said = "prompts are computed beside sequences that decode, by a budget of their own"
	}
	if c.Async {
		said += "; a step is planned while the one before it runs"
	}
	return said
}

// frontendOf says what a request and its output cost before and behind the engine.
func frontendOf(c *calibrate.Calibration) string {
	f := c.Engine.Frontend
	said := shortly(f.Request+f.Delay) + " before the engine knows a request"
	if f.Request > 0 {
		said += ", " + shortly(f.Request) + " of it one after the other"
	}
	if !c.DelaySeen {
		said += " (a guess: no request came to an idle engine)"
	}
	said += ", " + shortly(f.Chunk) + " of each token sent"
	if f.Blocking {
		said += "; one worker does both"
	}
	return said
}

// budgetOf is what the budget of a step is called.
func budgetOf(c *calibrate.Calibration) string {
	switch {
	case c.PrefillFirst:
		return "chunk"
	case c.Beside:
		return "prefill_budget"
	}
	return "token_budget"
}

func limitOf(seen bool, n int, otherwise string) string {
	if seen {
		return fmt.Sprint(n)
	}
	return otherwise
}

// trust says in a sentence what the engine is good for.
func trust(c *calibrate.Calibration) string {
	s := fmt.Sprintf("trust it for prompts of %d to %d tokens with at most %d requests at once and %d tokens of context; not beyond",
		c.Lo, c.Hi, c.MostRunning, c.MostContext)
	if why := c.Doubts(); why != nil {
		s = "do not trust it: " + strings.Join(why, "; ")
	}
	if len(c.Runs) == 1 {
		s += "; it is one load only: costs that go up and down together in it are not told apart"
	}
	return s
}

// Evidence shows how a profile compares with what was measured in one run.
func Evidence(w io.Writer, c calibrate.Comparison) {
	e := c.Evidence
	how := "not fitted to it"
	if e.Fitted {
		how = "in sample: fitted to it, on other draws"
	}
	fmt.Fprintf(w, "\n  %s · %s · %s\n  %s\n", e.Name, describeEvidence(e), how, e.Log)
	fmt.Fprintf(w, "    %-24s %10s %10s %8s %10s\n", "", "measured", "simulated", "error", "draws vary")
	for _, f := range c.Figures {
		name, scale := figureName(f.Name)
		fmt.Fprintf(w, "    %-24s %10s %10s %+7.1f%% %9.1f%%\n", name, digits(f.Measured*scale), digits(f.Median*scale), 100*f.Error(), 100*f.Spread)
	}
	fmt.Fprintf(w, "    %-24s %30.1f%%   ±%.1f%% over other sets of %d draws\n", fmt.Sprintf("mean error of %d", len(c.Figures)), 100*c.Error, 100*c.Within, c.Draws)
	fmt.Fprintf(w, "    %-24s %30.1f%%   %.1f to %.1f%% in nine of ten; %.1f%% of it by chance alone\n", "of a single draw", 100*c.Single, 100*c.Low, 100*c.High, 100*c.Floor)
}

// Fitted shows what a fit found, and which numbers the evidence does not determine.
func Fitted(w io.Writer, f calibrate.Fitted) {
	fmt.Fprintf(w, "%-36s %12s %12s  %s\n", "", "before", "after", "lies in, 95 % sure")
	for _, field := range f.Fields {
		line := fmt.Sprintf("%-36s %12s %12s  %s", field.Path, field.Before, field.After, howSure(field))
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	if !math.IsInf(f.Before, 1) {
		fmt.Fprintf(w, "%-36s %11.1f%% %11.1f%%\n", "mean error", 100*f.Before, 100*f.After)
	}
}

// howSure is what is known of where a fitted number lies.
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

// digits writes four digits or whole numbers.
func digits(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}
