package calibrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A Calibration is an engine found from runs with records.
type Calibration struct {
	*Found
	Engine engine.Config
	Runs   []Refit
	Left   []LeftOut // runs that say nothing of the engine
	Lo, Hi int       // prompt tokens of the requests, the shortest and the longest
	Cached float64   // share of the prompt tokens that the server found in a cache
	Block  int       // tokens of a block of that cache; 0: nothing was found in one
	// Unplaced is the share that its counters have, where its answers do not say of which prompts.
	Unplaced float64
}

// leastMisfit is the error of a prediction that is left when everything fits.
const leastMisfit = 0.01

// A LeftOut is a run that cannot be used.
type LeftOut struct{ Name, Why string }

func (l LeftOut) String() string { return "run " + l.Name + " " + l.Why }

// FromTraces finds the engine behind runs of the same server. Runs that cannot be used are left out; it is an
// error if none is left. The errors of FitSteps concern the runs together.
func FromTraces(ctx context.Context, traces []*trace.Trace) (*Calibration, error) {
	c := &Calibration{}
	if traces = c.usable(traces); len(traces) == 0 {
		return nil, c.nothingLeft()
	}
	if err := alike(traces); err != nil {
		return nil, err
	}
	var err error
	if c.Found, err = FitSteps(legsOf(traces), reportedMemory(traces)); err != nil {
		return nil, errors.Join(err, c.nothingLeft())
	}
	traces = c.sharp(traces)
	c.prompts(traces)
	c.Block = block(traces, c.PrefillFirst)
	if c.Block == 0 {
		c.Unplaced = cachedByCounters(traces)
	}
	c.counted(traces)
	c.Engine = c.engine()
	reruns := make([]*rerun, len(traces))
	for i, t := range traces {
		reruns[i] = rerunOf(t)
	}
	if err := c.findFrontend(traces, reruns); err != nil {
		return nil, err
	}
	for i, r := range reruns {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		again, err := r.refit(c.hosted(c.Engine, i))
		if err != nil {
			return nil, err
		}
		c.Runs = append(c.Runs, again)
	}
	return c, nil
}

// counted takes drafts and their acceptance from the server's counters where chunks do not show them.
func (c *Calibration) counted(traces []*trace.Trace) {
	if c.Speculative == nil || c.DraftsSeen {
		return
	}
	sum := map[string]float64{}
	for _, t := range traces {
		for name, v := range t.Run.ServerCounters {
			sum[name] += v
		}
	}
	s := metrics.NewSpecDecode(sum)
	if s == nil || s.Drafts == 0 {
		return
	}
	drafts := min(engine.MaxDrafts, int(math.Round(float64(s.DraftTokens)/float64(s.Drafts))))
	if drafts < 1 || s.AcceptanceLength > float64(drafts)+1 {
		return
	}
	c.Speculative, c.DraftsSeen = assumed(s.AcceptanceLength, drafts), true
	if len(s.PerPosition) >= drafts {
		c.Speculative.Acceptance = nil
		before := 1.0
		for _, share := range s.PerPosition[:drafts] {
			c.Speculative.Acceptance = append(c.Speculative.Acceptance, math.Round(1e4*min(1, share/max(before, 1e-9)))/1e4)
			before = share
		}
	}
}

// findFrontend takes the one with which the runs come out nearest to themselves.
func (c *Calibration) findFrontend(traces []*trace.Trace, reruns []*rerun) (err error) {
	if c.clocks == nil {
		c.Engine.Frontend, err = frontend(c.Engine, reruns)
		return err
	}
	for i, r := range reruns {
		r.shape = shapeOf(traces[i], c.promptSteps[i])
	}
	if c.Engine, err = c.loopOf(c.Engine, reruns); err != nil {
		return err
	}
	c.Cost = c.Engine.Cost
	for i := range c.Draws {
		c.Draws[i].PrefillToken, c.Draws[i].LaunchShare = c.Cost.PrefillToken, c.Cost.LaunchShare
	}
	return nil
}

// usable are the runs that show an engine.
func (c *Calibration) usable(traces []*trace.Trace) (out []*trace.Trace) {
	for _, t := range traces {
		if why := unfit(t); why != "" {
			c.Left = append(c.Left, LeftOut{nameOf(&t.Run), why})
		} else {
			out = append(out, t)
		}
	}
	return out
}

// sharp are the runs with steps that FitSteps could tell apart.
func (c *Calibration) sharp(traces []*trace.Trace) (out []*trace.Trace) {
	for i, t := range traces {
		if miss := c.misses[i]; miss > mostMiss {
			const why = "shows %.0f %% of the tokens of a stream out of step with the one before"
			c.Left = append(c.Left, LeftOut{nameOf(&t.Run), fmt.Sprintf(why, 100*min(1, miss))})
		} else {
			out = append(out, t)
		}
	}
	return out
}

// nothingLeft are the reasons why runs were left out, as errors; nil if none was.
func (c *Calibration) nothingLeft() error {
	var errs []error
	for _, l := range c.Left {
		errs = append(errs, errors.New(l.String()))
	}
	return errors.Join(errs...)
}

// reportedMemory is the capacity of the server's cache in tokens, as reported in one of the runs;
// 0: in none.
func reportedMemory(traces []*trace.Trace) (tokens int) {
	for _, t := range traces {
		tokens = cmp.Or(tokens, t.Run.KVTokens)
	}
	return tokens
}

// legsOf are the runs as the engine's clients saw them.
func legsOf(traces []*trace.Trace) []Leg {
	legs := make([]Leg, len(traces))
	for i, t := range traces {
		legs[i] = Leg{Limit: t.Run.Plan.Concurrency}
		for _, r := range slices.SortedFunc(slices.Values(t.Records), func(a, b *trace.Record) int { return cmp.Compare(a.Index, b.Index) }) {
			if s := stream(r); len(s.At) > 0 {
				legs[i].Streams = append(legs[i].Streams, s)
			}
		}
	}
	return legs
}

// prompts finds how long they were, and what of them was cached.
func (c *Calibration) prompts(traces []*trace.Trace) {
	tokens, cached := 0, 0
	c.Lo = math.MaxInt
	for _, t := range traces {
		for _, r := range t.Records {
			if s := stream(r); len(s.At) > 0 {
				tokens, cached = tokens+s.Prompt, cached+s.Cached
				c.Lo, c.Hi = min(c.Lo, s.Prompt), max(c.Hi, s.Prompt)
			}
		}
	}
	c.Cached = float64(cached) / float64(max(1, tokens))
}

// Launches reports whether the engine launches steps ahead of its device, so that both have costs.
func (c *Calibration) Launches() bool { return c.clocks != nil }

// engine is one as it was found, with what was not reached assumed.
func (c *Calibration) engine() engine.Config {
	f := c.Found
	out := engine.Config{
		Scheduler: engine.Scheduler{TokenBudget: f.Budget, MaxSequences: f.MaxSequences, MaxPrompts: f.MaxPrompts, EvenPrompts: f.Even, Async: f.Async},
		KV:        engine.KVCache{Tokens: f.Memory},
		Cost:      f.Cost, Speculative: f.Speculative,
		Frontend: engine.Frontend{
			Request: engine.Seconds(f.Work.Seconds()), Delay: engine.Seconds((f.Delay - f.Work).Seconds()), Chunk: engine.Seconds(f.Chunk.Seconds()),
		},
	}
	if c.Block > 0 {
		out.KV = engine.KVCache{Tokens: cmp.Or(f.Memory, boundless), Block: c.Block, PrefixCache: true}
	}
	s := &out.Scheduler
	if f.MaxSequences == 0 {
		s.MaxSequences = max(256, 2*f.MostRunning)
	}
	switch {
	case f.PrefillFirst:
		s.Policy, s.Chunk, s.TokenBudget = "sglang", f.Budget, max(16384, f.Budget)
	case f.PromptBudget:
		s.PrefillBudget, s.TokenBudget = f.Budget, max(8192, s.MaxSequences)
	default:
		s.TokenBudget = max(s.TokenBudget, s.MaxSequences)
	}
	return out
}

func alike(traces []*trace.Trace) error {
	var errs []error
	for _, t := range traces {
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

// mostFailed is the share of the requests of a run that may fail.
const mostFailed = 0.01

// unfit is why a run shows no engine, or empty.
func unfit(t *trace.Trace) string {
	ok, chunks, unknown := 0, 0, 0
	for _, r := range t.Records {
		if !r.OK() {
			continue
		}
		ok++
		if cmp.Or(r.Credible().Prompt, r.PromptTokens) <= 0 {
			unknown++
		}
		for _, c := range r.Chunks {
			if c.Kind.Output() {
				chunks++
			}
		}
	}
	lost, inFlight := t.Run.Missing()
	switch missing := lost + inFlight; {
	case float64(missing) > mostFailed*float64(len(t.Records)+missing):
		return fmt.Sprintf("lacks the records of %d requests, which took their share of the engine", missing)
	case len(t.Records) == 0:
		return "has no records of its requests: use one that was measured, or a result file with details"
	case t.Run.Verdict != nil && t.Run.Verdict.Validity == trace.Invalid:
		return "is INVALID: what it shows is the client, not the server"
	case float64(ok) < (1-mostFailed)*float64(len(t.Records)):
		return fmt.Sprintf("has %d failures among %d requests", len(t.Records)-ok, len(t.Records))
	case unknown > 0:
		return fmt.Sprintf("does not say how long %d of its %d prompts are: no cost of a prompt can be told without", unknown, ok)
	case chunks < 2*ok:
		return "was not streamed: its answers do not show steps"
	}
	return ""
}

// stream is what a record shows of the engine; without tokens it shows nothing.
func stream(r *trace.Record) (s Stream) {
	if !r.OK() || !r.Sent.Happened() {
		return s
	}
	s.Sent, s.Prompt = time.Duration(r.Sent), prompt(r)
	s.Cached, s.Output = min(r.Credible().Cached, s.Prompt-1), r.Streamed()
	if r.FirstByte.Happened() && r.FirstByte >= r.Sent {
		s.Head = time.Duration(r.FirstByte)
	}
	counted := true
	for _, c := range r.Chunks {
		if c.Kind.Output() && c.At >= r.Sent {
			s.At = append(s.At, time.Duration(c.At))
			s.Tokens = append(s.Tokens, int(c.Tokens))
			counted = counted && c.Tokens > 0
		}
	}
	if slices.Sort(s.At); !counted {
		s.Tokens = nil
	}
	return s
}

func prompt(r *trace.Record) int { return max(1, cmp.Or(r.Credible().Prompt, r.PromptTokens)) }

// Misfit is the mean error over the runs.
func (c *Calibration) Misfit() float64 {
	sum := 0.0
	for _, r := range c.Runs {
		sum += r.Error()
	}
	return sum / float64(max(1, len(c.Runs)))
}

// misfits are by figure the root of the mean square of ln(simulated/measured) over the runs.
func (c *Calibration) misfits() map[string]engine.Relative {
	squares, n := map[string]float64{}, map[string]float64{}
	for _, r := range c.Runs {
		for _, f := range r.Figures {
			if f.Median > 0 && f.Measured > 0 {
				squares[f.Name] += math.Pow(math.Log(f.Median/f.Measured), 2)
				n[f.Name]++
			}
		}
	}
	out := map[string]engine.Relative{}
	for name, sum := range squares {
		out[name] = engine.Relative(max(leastMisfit, math.Sqrt(sum/n[name])))
	}
	return out
}
