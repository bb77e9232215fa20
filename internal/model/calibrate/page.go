package calibrate

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// A Cost is a linear cost of a step by its name in a profile.
type Cost struct {
	Name          string
	Value, Spread engine.Seconds
	Of            string // what has it
}

// Linear are the costs that are not tables, in the order of a profile.
func (c *Calibration) Linear() (out []Cost) {
	all := []Cost{
		{"step", c.Cost.Step, c.Spread.Step, ""},
		{"sequence", c.Cost.Sequence, c.Spread.Sequence, "of each that decodes"},
		{"context_token", c.Cost.ContextToken, c.Spread.ContextToken, "of each token behind them"},
		{"prefill", c.Cost.Prefill, c.Spread.Prefill, "of a step with prompts"},
		{"prefill_token", c.Cost.PrefillToken, c.Spread.PrefillToken, "of each token of a prompt"},
		{"prefill_pair", c.Cost.PrefillPair, c.Spread.PrefillPair, "of each pair of such tokens"},
	}
	if c.Launches() {
		all = append(all, []Cost{
			{"tail_token", c.Cost.TailToken, c.Spread.TailToken, "of each token of a prompt, behind its launch"},
			{"launch", c.Cost.Launch, c.Spread.Launch, "of a step by the host"},
			{"launch_sequence", c.Cost.LaunchSequence, c.Spread.LaunchSequence, "of each that decodes, by the host"},
			{"launch_prefill", c.Cost.LaunchPrefill, c.Spread.LaunchPrefill, "of a step with prompts, by the host"},
			{"launch_prompt", c.Cost.LaunchPrompt, c.Spread.LaunchPrompt, "of each of those"},
			{"launch_prefill_token", c.Cost.LaunchPrefillToken, c.Spread.LaunchPrefillToken, "of each of their tokens"},
		}...)
	}
	for _, k := range all {
		switch k.Name {
		case "step", "sequence":
			if c.Cost.DecodeTable != nil {
				continue
			}
		case "prefill", "prefill_token":
			if c.Cost.PrefillTable != nil || k.Name == "prefill" && c.Cost.MixedTable != nil {
				continue
			}
		}
		if c.Launches() && k.Value == 0 && k.Spread == 0 {
			continue
		}
		out = append(out, k)
	}
	return out
}

// A Table is a cost that depends on a number.
type Table struct {
	Name   string
	Points []engine.Point
	Of     string // what the points are at
}

// Tables are the costs that are tables.
func (c *Calibration) Tables() (out []Table) {
	for _, t := range []Table{
		{"decode_table", c.Cost.DecodeTable, "sequences that decode"},
		{"mixed_table", c.Cost.MixedTable, "sequences that decode beside prompts"},
		{"prefill_table", c.Cost.PrefillTable, "tokens of prompts"},
	} {
		if t.Points != nil {
			out = append(out, t)
		}
	}
	return out
}

// Rounded has some digits.
func Rounded(s engine.Seconds, digits int) engine.Seconds {
	if s <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(float64(s)))-float64(digits-1))
	return engine.Seconds(math.Round(float64(s)/unit) * unit)
}

// A page is a profile as text.
type page struct{ strings.Builder }

func (p *page) line(format string, a ...any) { fmt.Fprintf(p, format+"\n", a...) }

// Profile is the YAML of the engine, with what each number is worth.
func (c *Calibration) Profile(title string) string {
	p := new(page)
	p.line("title: %q", title)
	p.line("about: >-")
	p.line("  Prompts of %d to %d tokens; at most %d sequences and %d tokens of context at once.", c.Lo, c.Hi, c.MostRunning, c.MostContext)
	p.line("  Beyond that it was not seen.")
	p.line("source: >-")
	p.line("  pitot calibrate, from %d steps of %d runs; %.1f %% of the steps could not be seen.", c.Steps, len(c.Runs), 100*c.Miss)
	p.line("error: %q", fmt.Sprintf("%.1f %% on the runs it was found from, mean of %d figures each", 100*c.Misfit(), len(refitted)))
	p.line("")
	p.scheduler(c)
	p.cost(c)
	p.frontend(c.Engine.Frontend)
	p.calibration(c)
	return p.String()
}

func (p *page) scheduler(c *Calibration) {
	s := c.Engine.Scheduler
	p.line("scheduler:")
	if c.PrefillFirst {
		p.line("  policy: sglang # prompts stop sequences that decode")
	} else {
		p.line("  policy: vllm # prompts beside sequences that decode")
	}
	if s.MaxPrompts > 0 {
		p.line("  max_prompts: %d # in a step", s.MaxPrompts)
	}
	if s.EvenPrompts {
		p.line("  even_prompts: true # they share its budget evenly")
	}
	if s.Async {
		p.line("  async: true # a step is planned while the one before it runs")
	}
	if c.MaxSequences > 0 {
		p.line("  max_sequences: %d", s.MaxSequences)
	} else {
		p.line("  max_sequences: %d # assumed: no limit was reached, %d ran at once", s.MaxSequences, c.MostRunning)
	}
	assumed := ""
	if !c.BudgetSeen {
		assumed = fmt.Sprintf(" # assumed: no prompt waited for it, the longest step had %d", c.Longest)
	}
	switch {
	case c.PrefillFirst:
		p.line("  chunk: %d%s", s.Chunk, assumed)
		p.line("  token_budget: %d", s.TokenBudget)
	case c.PromptBudget:
		p.line("  prefill_budget: %d%s", s.PrefillBudget, assumed)
		p.line("  token_budget: %d", s.TokenBudget)
	default:
		p.line("  token_budget: %d%s", s.TokenBudget, assumed)
	}
	p.memory(c)
	p.speculative(c)
	p.line("")
}

func (p *page) speculative(c *Calibration) {
	s := c.Engine.Speculative
	if s == nil {
		return
	}
	how := "by position, of this workload"
	if !c.DraftsSeen {
		how = fmt.Sprintf("drafts are assumed, as chunks have no counts of their tokens; known are %.2f tokens a step, "+
			"of this workload", c.PerStep)
	}
	p.line("")
	p.line("speculative: # %s", how)
	p.line("  drafts: %d", s.Drafts)
	p.line("  acceptance: %s", flow(reflect.ValueOf(s.Acceptance)))
}

func (p *page) memory(c *Calibration) {
	k := c.Engine.KV
	if k.Tokens == 0 {
		return
	}
	p.line("")
	p.line("kv:")
	if c.Memory > 0 {
		p.line("  tokens: %d", k.Tokens)
	} else {
		p.line("  tokens: %d # assumed: no limit was reached, so nothing is evicted", k.Tokens)
	}
	if k.PrefixCache {
		p.line("  prefix_cache: true # %.1f %% of the prompt tokens were found in it", 100*c.Cached)
		p.line("  block: %d # divides all that was found of prompts", k.Block)
	}
}

func (p *page) cost(c *Calibration) {
	p.line("cost: # ± standard deviation")
	for _, t := range c.Tables() {
		p.line("  %s: # by %s", t.Name, t.Of)
		for _, point := range t.Points {
			p.line("    - {at: %g, time: %v}", point.At, point.Time)
		}
	}
	for _, k := range c.Linear() {
		if k.Value > 0 || k.Spread > 0 {
			p.line("  %s: %v%s", k.Name, k.Value, c.sure(k))
		}
	}
	if c.Cost.JitterQuantiles != nil {
		p.line("  jitter_quantiles: %v", flow(reflect.ValueOf(c.Cost.JitterQuantiles)))
	} else {
		p.line("  jitter: %.4f # coefficient of variation", c.Cost.Jitter)
	}
	if c.Cost.LaunchShare > 0 {
		p.line("  launch_share: %g # of the device's time for a step with prompts that its launch waits for", c.Cost.LaunchShare)
	}
	if h := c.Cost.Host; h != nil {
		p.line("  host: %s # levels of its speed; run is from run to run", flow(reflect.ValueOf(h)))
	}
	if s := c.Cost.SlowSteps; s != nil {
		p.line("  slow_steps: {share: %v, extra: %s}", s.Share, flow(reflect.ValueOf(s.Extra)))
	}
	p.line("")
}

// sure is what is known of a cost beyond its value, as a comment.
func (c *Calibration) sure(k Cost) string {
	switch {
	case k.Name == "prefill_token" && c.Launches():
		return " # by simulation: launches hide it"
	case k.Spread == 0:
		return ""
	}
	return fmt.Sprintf(" # ± %v", Rounded(k.Spread, 2))
}

func (p *page) frontend(f engine.Frontend) {
	p.line("frontend:")
	if f.Flush > 0 {
		p.loop(f)
		return
	}
	if f.Request > 0 {
		p.line("  request: %v # of work for each", f.Request)
	}
	p.line("  delay: %v # of a request", f.Delay)
	p.line("  chunk: %v # of output", f.Chunk)
	if f.Blocking {
		p.line("  blocking: true # one worker for both")
	}
	p.line("")
}

func (p *page) loop(f engine.Frontend) {
	for _, k := range []Cost{
		{"request", f.Request, 0, "of work for each"},
		{"head", f.Head, 0, "of it as its response begins"},
		{"finish", f.Finish, 0, "and as it ends"},
		{"tokenize", f.Tokenize, 0, "for each token of a prompt, outside of the loop"},
		{"delay", f.Delay, 0, "of a request"},
		{"flush", f.Flush, 0, "of work on the output of a step"},
		{"token", f.Token, 0, "on each of its tokens"},
		{"chunk", f.Chunk, 0, "on each chunk"},
	} {
		p.line("  %s: %v # %s", k.Name, Rounded(k.Value, 4), k.Of)
	}
	p.line("  passes: %d # iterations of the loop that a request waits for", f.Passes)
	p.line("  host: %v # power of the speed of the host that it has", f.Host)
	p.line("")
}

// calibration is what predictions take their intervals from.
func (p *page) calibration(c *Calibration) {
	p.line("calibration:")
	p.line("  runs: %d", len(c.Runs))
	p.line("  steps: %d", c.Steps)
	p.line("  missed: %.2f%%", 100*c.Miss)
	p.line("  seen: {sequences: %d, context: %d, step_tokens: %d, prompt: %d, limit: %t, budget: %t, memory: %t}",
		c.MostRunning, c.MostContext, c.Longest, c.Hi, c.MaxSequences > 0, c.BudgetSeen, c.Memory > 0)
	if why := c.Doubts(); why != nil {
		p.line("  doubts:")
		for _, doubt := range why {
			p.line("    - %q", doubt)
		}
	}
	p.line("  drift: %.2f%%", 100*c.Drift)
	p.line("  misfit: # root mean square of ln(simulated/measured) over the runs")
	off := c.misfits()
	for _, name := range slices.Sorted(maps.Keys(off)) {
		p.line("    %s: %.1f%%", name, 100*float64(off[name]))
	}
	p.line("  draws: # costs found again from blocks of 2 s drawn anew")
	for i := range c.Draws {
		p.line("    - %s", flow(reflect.ValueOf(c.Draws[i])))
	}
}

// flow is a value in YAML's flow style, without members that are zero.
func flow(v reflect.Value) string {
	if text, ok := v.Interface().(fmt.Stringer); ok {
		return text.String()
	}
	var parts []string
	switch v.Kind() {
	case reflect.Pointer:
		return flow(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			parts = append(parts, flow(v.Index(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				parts = append(parts, v.Type().Field(i).Tag.Get("yaml")+": "+flow(f))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprintf("%.6g", v.Interface())
}
