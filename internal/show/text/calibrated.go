package text

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/show/plain"
)

// Calibrated shows an engine that was found from runs: its costs, its limits, what could not be
// seen, how the runs come out, and what it may be trusted for.
func Calibrated(w io.Writer, c *calibrate.Calibration) error {
	var d Document
	line := func(format string, a ...any) { d.Line(fmt.Sprintf(format, a...)) }
	line("costs of a step")
	for _, point := range c.Cost.DecodeTable {
		line("  %-14s %10s             with %g sequences that decode", "decode_table", shortly(point.Time), point.At)
	}
	for _, k := range []struct {
		name        string
		value, sure engine.Seconds
		per         string
	}{
		{"step", c.Cost.Step, c.Spread.Step, ""},
		{"sequence", c.Cost.Sequence, c.Spread.Sequence, "of each that decodes"},
		{"context_token", c.Cost.ContextToken, c.Spread.ContextToken, "of each token behind them"},
		{"prefill", c.Cost.Prefill, c.Spread.Prefill, "of a step with prompts"},
		{"prefill_token", c.Cost.PrefillToken, c.Spread.PrefillToken, "of each token of a prompt"},
		{"prefill_pair", c.Cost.PrefillPair, c.Spread.PrefillPair, "of each pair of such tokens"},
	} {
		if len(c.Cost.DecodeTable) > 0 && (k.name == "step" || k.name == "sequence") {
			continue
		}
		d.Line(strings.TrimRight(fmt.Sprintf("  %-14s %10s ± %-9s %s", k.name, shortly(k.value), shortly(k.sure), k.per), " "))
	}
	line("  %-14s %9.1f %%", "jitter", 100*c.Cost.Jitter)
	d.Line("")
	line("frontend         %s before the engine knows a request, %s of each token sent", shortly(c.Engine.Frontend.Delay), shortly(c.Engine.Frontend.Chunk))
	line("policy           prompts are computed beside sequences that decode, as vLLM does")
	line("token_budget     %s", limitOf(c.BudgetSeen, c.Budget, fmt.Sprintf("not reached: the longest step had %d", c.Longest)))
	line("max_sequences    %s", limitOf(c.MaxSequences > 0, c.MaxSequences, fmt.Sprintf("not reached: %d ran at once", c.MostRunning)))
	line("seen             %d steps, %d with a known duration, %d of them with prompts; %.1f %% could not be told apart", c.Steps, c.Rows, c.Prefills, 100*c.Miss)
	line("unexplained      steps are off by %.1f %% (%.1f %% with prompts) in the median, jitter among it; %.1f %% of prompt tokens were computed beyond the budget",
		100*c.Off, 100*c.OffPrefill, 100*c.Over)
	if c.Cached > 0.01 {
		line("prefix cache     %.0f %% of the prompt tokens were found in it; simulations below leave those out, of contexts too", 100*c.Cached)
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
func shortly(s engine.Seconds) string {
	if s <= 0 {
		return "0s"
	}
	unit := math.Pow(10, math.Floor(math.Log10(float64(s)))-3)
	return engine.Seconds(math.Round(float64(s)/unit) * unit).String()
}

func limitOf(seen bool, n int, otherwise string) string {
	if seen {
		return fmt.Sprint(n)
	}
	return otherwise
}

// trust says in a sentence what the engine is good for.
func trust(c *calibrate.Calibration) string {
	s := fmt.Sprintf("trust it for prompts of %d to %d tokens with at most %d requests at once and %d tokens of context; not beyond, not for prefix caches, and not for a KV cache that is full",
		c.Lo, c.Hi, c.MostRunning, c.MostContext)
	if m := c.Misfit(); m > 0.1 {
		s = fmt.Sprintf("do not trust it: its own runs are off by %.0f %% on average, so this engine works in another way, or did not keep its pace", 100*m)
	}
	if len(c.Runs) == 1 {
		s += "; it is one load only: costs that go up and down together in it are not told apart"
	}
	return s
}
