package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/judge/stats"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/model/steps"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Calibration is an engine found from runs with records.
type Calibration struct {
	*steps.Found
	Engine engine.Config
	Runs   []Refit
	Lo, Hi int     // prompt tokens of the requests, the shortest and the longest
	Cached float64 // share of the prompt tokens that the server found in a cache
}

// A Refit is how a run comes out that the engine was found from: its own requests are
// simulated, so this is misfit and not a prediction.
type Refit struct {
	Name    string
	Load    string // in words
	Figures []Figure
}

// Error is the mean of the sizes of the relative errors of all figures.
func (r Refit) Error() float64 {
	sum := 0.0
	for _, f := range r.Figures {
		sum += math.Abs(f.Error())
	}
	return sum / float64(max(1, len(r.Figures)))
}

// refitDraws is how often the requests of a run are simulated, each time with other jitter.
const refitDraws = 6

// refitted are the figures that a refit has.
var refitted = []string{"throughput.output", "ttft.mean", "ttft.p99", "tpot.mean", "tpot.p99", "itl.mean", "itl.p99", "e2el.mean", "e2el.p99"}

// FromTraces finds the engine behind runs of the same server. What is wrong with a run is said
// of all runs at once; the errors of steps.Fit are about all of them together.
func FromTraces(ctx context.Context, traces []*trace.Trace) (*Calibration, error) {
	if err := fit(traces); err != nil {
		return nil, err
	}
	c := &Calibration{Lo: math.MaxInt}
	legs, tokens := make([]steps.Leg, len(traces)), 0
	for i, t := range traces {
		legs[i] = steps.Leg{Limit: t.Run.Plan.Concurrency}
		for _, r := range t.Records {
			if s := stream(r); len(s.At) > 0 {
				legs[i].Streams = append(legs[i].Streams, s)
				tokens += s.Prompt
				c.Cached += float64(s.Cached)
				c.Lo, c.Hi = min(c.Lo, prompt(r)), max(c.Hi, prompt(r))
			}
		}
	}
	c.Cached /= float64(max(1, tokens))
	found, err := steps.Fit(legs)
	if err != nil {
		return nil, err
	}
	c.Found = found
	c.Engine = engine.Config{
		Scheduler: engine.Scheduler{TokenBudget: found.Budget, MaxSequences: found.MaxSequences},
		Cost:      found.Cost,
		Frontend:  engine.Frontend{Delay: engine.Seconds(found.Delay.Seconds()), Chunk: engine.Seconds(found.Chunk.Seconds())},
	}
	if found.MaxSequences == 0 {
		c.Engine.Scheduler.MaxSequences = max(256, 2*found.MostRunning)
	}
	for _, t := range traces {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		r, err := refit(c.Engine, t)
		if err != nil {
			return nil, err
		}
		c.Runs = append(c.Runs, r)
	}
	return c, nil
}

// fit says what is wrong with runs.
func fit(traces []*trace.Trace) error {
	var errs []error
	for _, t := range traces {
		if why := unfit(t); why != "" {
			errs = append(errs, fmt.Errorf("run %s %s", nameOf(&t.Run), why))
		}
		first, other := &traces[0].Run, &t.Run
		if a, b := first.Plan.Model, other.Plan.Model; a != b {
			errs = append(errs, fmt.Errorf("runs %s and %s asked two models, %s and %s: calibrate each by itself", nameOf(first), nameOf(other), a, b))
		} else if a, b := first.Plan.URL, other.Plan.URL; a != b && a != "" && b != "" {
			errs = append(errs, fmt.Errorf("runs %s and %s asked two servers, %s and %s: calibrate each by itself", nameOf(first), nameOf(other), a, b))
		}
	}
	return errors.Join(errs...)
}

func nameOf(r *trace.Run) string { return cmp.Or(r.Name, r.ID) }

// The limits of what can be calibrated from.
const (
	mostFailed   = 0.01
	mostPerChunk = 1.15
)

// unfit is why a run shows no engine, or empty.
func unfit(t *trace.Trace) string {
	ok, chunks, tokens := 0, 0, 0
	for _, r := range t.Records {
		if !r.OK() {
			continue
		}
		ok++
		tokens += r.OutputTokens
		for _, c := range r.Chunks {
			if c.Kind.Output() {
				chunks++
			}
		}
	}
	switch {
	case len(t.Records) == 0:
		return "has no records of its requests: use one that was measured, or a result file with details"
	case t.Run.Verdict != nil && t.Run.Verdict.Validity == trace.Invalid:
		return "is INVALID: what it shows is the client, not the server"
	case float64(ok) < (1-mostFailed)*float64(len(t.Records)):
		return fmt.Sprintf("has %d failures among %d requests", len(t.Records)-ok, len(t.Records))
	case chunks < 2*ok:
		return "was not streamed: its answers do not show steps"
	case float64(tokens) > mostPerChunk*float64(chunks):
		return fmt.Sprintf("has %.2f tokens a chunk: speculative decoding, or somebody who combines chunks, hides the steps", float64(tokens)/float64(chunks))
	}
	return ""
}

// stream is what a record shows of the engine; without tokens it shows nothing.
func stream(r *trace.Record) (s steps.Stream) {
	if !r.OK() || !r.Sent.Happened() {
		return s
	}
	s.Sent, s.Prompt = time.Duration(r.Sent), prompt(r)
	s.Cached = min(r.Credible().Cached, s.Prompt-1)
	for _, c := range r.Chunks {
		if c.Kind.Output() && c.At >= r.Sent {
			s.At = append(s.At, time.Duration(c.At))
		}
	}
	slices.Sort(s.At)
	return s
}

// prompt is the length of a prompt in tokens.
func prompt(r *trace.Record) int { return max(1, cmp.Or(r.Credible().Prompt, r.PromptTokens)) }

// refit simulates the requests of a run.
func refit(c engine.Config, t *trace.Trace) (Refit, error) {
	records := slices.SortedFunc(slices.Values(t.Records), func(a, b *trace.Record) int { return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Index, b.Index)) })
	p := sim.Plan{Concurrency: t.Run.Plan.Concurrency, Stream: true, Chat: t.Run.Plan.Protocol == "chat"}
	var due []time.Duration
	for _, r := range records {
		if !r.OK() {
			continue
		}
		n := prompt(r)
		p.Requests = append(p.Requests, sim.Request{
			PromptTokens: n, WantTokens: r.OutputTokens, Finish: "length",
			Job: engine.Job{PromptTokens: max(1, n-r.Credible().Cached), OutputTokens: max(1, r.OutputTokens)},
		})
		due = append(due, time.Duration(max(0, r.Due)))
	}
	p.Schedule = slices.Values(due)
	out := Refit{Name: nameOf(&t.Run), Load: loadOf(t, len(p.Requests))}
	measured := byName(metrics.Rules{}.Figures(t, "pitot", ""))
	drawn := map[string][]float64{}
	for seed := range refitDraws {
		c.Seed = uint64(seed) + 1
		model, err := engine.New(c)
		if err != nil {
			return out, err
		}
		made := sim.Run(model, p)
		run := t.Run
		run.Kind, run.End = trace.Simulated, made.End
		for name, v := range byName(metrics.Rules{}.Figures(&trace.Trace{Run: run, Records: made.Records}, "pitot", "")) {
			drawn[name] = append(drawn[name], v)
		}
	}
	for _, name := range refitted {
		if m := measured[name]; m > 0 && len(drawn[name]) == refitDraws {
			values := drawn[name]
			out.Figures = append(out.Figures, Figure{Name: name, Measured: m, Median: stats.Sort(values).Median(), Spread: stats.Std(values) / stats.Mean(values)})
		}
	}
	return out, nil
}

// loadOf says what a run sent.
func loadOf(t *trace.Trace, n int) string {
	limit, rate := t.Run.Plan.Concurrency, t.Run.Plan.Rate
	var parts []string
	if rate > 0 {
		parts = append(parts, fmt.Sprintf("%g req/s", rate))
	}
	if limit > 0 {
		parts = append(parts, fmt.Sprintf("%d in flight", limit))
	}
	if parts == nil {
		parts = append(parts, "by its schedule")
	}
	return fmt.Sprintf("%d requests, %s", n, strings.Join(parts, ", "))
}

// Misfit is the mean error over the runs.
func (c *Calibration) Misfit() float64 {
	sum := 0.0
	for _, r := range c.Runs {
		sum += r.Error()
	}
	return sum / float64(max(1, len(c.Runs)))
}

// Profile is the YAML of the engine, with what each number is worth.
func (c *Calibration) Profile(title string) string {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	line("title: %q", title)
	line("about: >-")
	line("  Prompts of %d to %d tokens; at most %d sequences and %d tokens of context at once.", c.Lo, c.Hi, c.MostRunning, c.MostContext)
	line("  Beyond that it was not seen.")
	line("source: >-")
	line("  pitot calibrate, from %d steps of %d runs; %.1f %% of the steps could not be seen.", c.Steps, len(c.Runs), 100*c.Miss)
	line("error: %q", fmt.Sprintf("%.1f %% on the runs it was found from, mean of %d figures each", 100*c.Misfit(), len(refitted)))
	line("")
	line("scheduler:")
	line("  policy: vllm # prompts beside sequences that decode")
	if c.MaxSequences > 0 {
		line("  max_sequences: %d", c.MaxSequences)
	} else {
		line("  max_sequences: %d # assumed: no limit was reached, %d ran at once", c.Engine.Scheduler.MaxSequences, c.MostRunning)
	}
	if c.BudgetSeen {
		line("  token_budget: %d", c.Budget)
	} else {
		line("  token_budget: %d # assumed: no prompt waited for it, the longest step had %d", c.Budget, c.Longest)
	}
	line("")
	line("cost: # ± standard deviation")
	if len(c.Cost.DecodeTable) > 0 {
		line("  decode_table: # time by the number of sequences that decode")
		for _, point := range c.Cost.DecodeTable {
			line("    - {at: %g, time: %v}", point.At, point.Time)
		}
	}
	for _, k := range []struct {
		name         string
		value, about engine.Seconds
	}{
		{"step", c.Cost.Step, c.Spread.Step},
		{"sequence", c.Cost.Sequence, c.Spread.Sequence},
		{"context_token", c.Cost.ContextToken, c.Spread.ContextToken},
		{"prefill", c.Cost.Prefill, c.Spread.Prefill},
		{"prefill_token", c.Cost.PrefillToken, c.Spread.PrefillToken},
		{"prefill_pair", c.Cost.PrefillPair, c.Spread.PrefillPair},
	} {
		if k.value > 0 || k.about > 0 && len(c.Cost.DecodeTable) == 0 {
			line("  %s: %v # ± %v", k.name, k.value, rounded(k.about))
		}
	}
	line("  jitter: %.4f # coefficient of variation", c.Cost.Jitter)
	line("")
	line("frontend:")
	line("  delay: %v # of a request", c.Engine.Frontend.Delay)
	line("  chunk: %v # of output", c.Engine.Frontend.Chunk)
	return b.String()
}

// rounded has two digits.
func rounded(s engine.Seconds) engine.Seconds {
	if s <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(float64(s)))-1)
	return engine.Seconds(math.Round(float64(s)/unit) * unit)
}
