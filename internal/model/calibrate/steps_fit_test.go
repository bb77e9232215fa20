package calibrate_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// A client makes legs against an engine, and sees its tokens 60 µs late on average.
type client struct {
	t      *testing.T
	engine engine.Config
	dice   *rand.Rand
}

func lognormal(r *rand.Rand, mean, cv float64) int {
	s := math.Sqrt(math.Log(1 + cv*cv))
	return max(1, int(math.Exp(math.Log(mean)-s*s/2+s*r.NormFloat64())))
}

// leg runs requests for some time: limit in flight at once, or by a rate.
func (c *client) leg(n, limit int, rate float64, prompt, output float64) calibrate.Leg {
	c.t.Helper()
	plan := sim.SimulationPlan{Schedule: arrival.Burst(), Concurrency: limit, Stream: true, Until: 8 * time.Second}
	if rate > 0 {
		at := make([]float64, n)
		sum := 0.0
		for i := range at {
			sum += c.dice.ExpFloat64()
			at[i] = sum
		}
		plan.Schedule = arrival.New(slices.Values(at), arrival.Constant(rate))
	}
	for range n {
		job := engine.Job{PromptTokens: lognormal(c.dice, prompt, 0.8), OutputTokens: lognormal(c.dice, output, 0.7)}
		if c.engine.KV.PrefixCache {
			job.Prompt = make([]int32, job.PromptTokens)
			for i := range job.Prompt {
				if job.Prompt[i] = c.dice.Int32(); len(plan.Requests)%5 < 3 && i < 192 {
					job.Prompt[i] = int32(i)
				}
			}
		}
		plan.Requests = append(plan.Requests, sim.Request{PromptTokens: job.PromptTokens, WantTokens: job.OutputTokens, Job: job, Finish: "length"})
	}
	cfg := c.engine
	cfg.Seed = c.dice.Uint64()
	model, err := engine.New(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	leg := calibrate.Leg{Limit: limit}
	records := sim.Run(model, plan).Records
	slices.SortFunc(records, func(a, b *trace.Record) int { return a.Index - b.Index })
	for _, r := range records {
		if !r.OK() {
			continue
		}
		s := calibrate.Stream{Sent: time.Duration(r.Sent), Prompt: r.PromptTokens, Cached: min(r.Usage.Cached, r.PromptTokens-1)}
		for _, chunk := range r.Chunks {
			at := time.Duration(chunk.At) + time.Duration(60e3*c.dice.ExpFloat64())
			if n := len(s.At); n > 0 {
				at = max(at, s.At[n-1])
			}
			s.At = append(s.At, at)
		}
		leg.Streams = append(leg.Streams, s)
	}
	return leg
}

// protocol is the legs of a calibration.
func (c *client) protocol() []calibrate.Leg {
	return []calibrate.Leg{
		c.leg(400, 1, 0, 400, 120), c.leg(400, 4, 0, 400, 120), c.leg(600, 16, 0, 400, 120), c.leg(900, 64, 0, 400, 120),
		c.leg(80, 0, 8, 400, 120), c.leg(320, 0, 0, 100, 40), c.leg(200, 0, 0, 800, 120),
	}
}

// family are engines of the kind that is fitted, with what must be found besides their costs.
var family = map[string]struct {
	engine engine.Config
	want   calibrate.Found
	told   int
}{
	"small": {
		engine: engine.Config{
			Scheduler: engine.Scheduler{TokenBudget: 2048, MaxSequences: 48},
			Cost:      engine.Costs{Step: 0.0077, Sequence: 37e-6, ContextToken: 45e-9, Prefill: 0.0026, PrefillToken: 27e-6, PrefillPair: 1.6e-9, Jitter: 0.03},
			Frontend:  engine.Frontend{Request: 0.0006, Delay: 0.002, Chunk: 15e-6},
		},
		want: calibrate.Found{Budget: 2048, BudgetSeen: true, MaxSequences: 48},
	},
	"large": {
		engine: engine.Config{
			Scheduler: engine.Scheduler{TokenBudget: 1024, MaxSequences: 256},
			Cost:      engine.Costs{Step: 0.013, Sequence: 80e-6, ContextToken: 25e-9, Prefill: 0.001, PrefillToken: 50e-6, PrefillPair: 4e-9, Jitter: 0.05},
			Frontend:  engine.Frontend{Request: 0.001, Chunk: 20e-6, Blocking: true},
		},
		want: calibrate.Found{Budget: 1024, BudgetSeen: true},
	},
	"cached": {
		engine: engine.Config{
			Scheduler: engine.Scheduler{TokenBudget: 2048, MaxSequences: 256}, KV: engine.KVCache{Tokens: 400000, PrefixCache: true},
			Cost:     engine.Costs{Step: 0.01, Sequence: 45e-6, ContextToken: 60e-9, Prefill: 0.0015, PrefillToken: 35e-6, PrefillPair: 3e-9, Jitter: 0.02},
			Frontend: engine.Frontend{Delay: 0.001, Chunk: 12e-6},
		},
		want: calibrate.Found{Budget: 2048, BudgetSeen: true},
	},
	"full": {
		engine: engine.Config{
			Scheduler: engine.Scheduler{TokenBudget: 4096, MaxSequences: 256}, KV: engine.KVCache{Tokens: 44000},
			Cost:     engine.Costs{Step: 0.0136, Sequence: 85e-6, ContextToken: 21e-9, Prefill: 0.0011, PrefillToken: 52e-6, PrefillPair: 3.8e-9, Jitter: 0.06},
			Frontend: engine.Frontend{Request: 0.0008, Delay: 0.001, Chunk: 20e-6, Blocking: true},
		},
		want: calibrate.Found{Budget: 4096, BudgetSeen: true, Memory: 44000},
	},
	"prompts first": {
		engine: engine.Config{
			Scheduler: engine.Scheduler{Policy: "sglang", MaxSequences: 112, Chunk: 4096},
			Cost:      engine.Costs{Step: 0.0088, Sequence: 31e-6, ContextToken: 42e-9, Prefill: 0.0041, PrefillToken: 26e-6, PrefillPair: 1e-9, Jitter: 0.04},
			Frontend:  engine.Frontend{Delay: 0.0015, Chunk: 10e-6},
		},
		want: calibrate.Found{PrefillFirst: true, Budget: 4096, BudgetSeen: true, MaxSequences: 112},
	},
	"beside": {
		engine: engine.Config{
			Scheduler: engine.Scheduler{PrefillBudget: 512, MaxSequences: 256},
			Cost:      engine.Costs{Step: 0.0091, Sequence: 44e-6, ContextToken: 35e-9, Prefill: 0.0022, PrefillToken: 24e-6, PrefillPair: 2e-9, Jitter: 0.03},
			Frontend:  engine.Frontend{Delay: 0.0012, Chunk: 14e-6},
		},
		want: calibrate.Found{PromptBudget: true, Budget: 512, BudgetSeen: true},
	},
	"few prompts": {
		engine: engine.Config{
			Scheduler: engine.Scheduler{TokenBudget: 1024, MaxSequences: 256, MaxPrompts: 2},
			Cost:      engine.Costs{Step: 0.0091, Sequence: 44e-6, ContextToken: 35e-9, Prefill: 0.0022, PrefillToken: 24e-6, PrefillPair: 2e-9, Jitter: 0.03},
			Frontend:  engine.Frontend{Delay: 0.0012, Chunk: 14e-6},
		},
		want: calibrate.Found{MaxPrompts: 2, Budget: 1024, BudgetSeen: true},
	},
	"equal parts": {
		engine: engine.Config{
			Scheduler: engine.Scheduler{TokenBudget: 768, MaxSequences: 80, MaxPrompts: 4, EvenPrompts: true},
			Cost:      engine.Costs{Step: 0.0105, Sequence: 47e-6, ContextToken: 33e-9, Prefill: 0.0021, PrefillToken: 26e-6, PrefillPair: 2e-9, Jitter: 0.03},
			Frontend:  engine.Frontend{Request: 0.0006, Delay: 0.0008, Chunk: 14e-6},
		},
		want: calibrate.Found{MaxPrompts: 4, Even: true, Budget: 768, BudgetSeen: true, MaxSequences: 80},
	},
	"async": {
		engine: engine.Config{
			Scheduler: engine.Scheduler{TokenBudget: 1024, MaxSequences: 96, Async: true},
			Cost:      engine.Costs{Step: 0.0121, Sequence: 51e-6, ContextToken: 31e-9, Prefill: 0.0019, PrefillToken: 30e-6, PrefillPair: 2e-9, Jitter: 0.03},
			Frontend:  engine.Frontend{Delay: 0.0012, Chunk: 14e-6},
		},
		want: calibrate.Found{Async: true, Budget: 1024, BudgetSeen: true, MaxSequences: 96},
	},
}

func TestCostsAreFound(t *testing.T) {
	race.Skip(t)
	for name, c := range family {
		t.Run(name, func(t *testing.T) {
			client := &client{t, c.engine, rand.New(rand.NewPCG(11, 12))}
			legs := client.protocol()
			began := time.Now()
			f, err := calibrate.FitSteps(legs, c.told)
			if err != nil {
				t.Fatal(err)
			}
			draws := f.Draws
			f.Draws = nil
			t.Logf("fitted in %v: %+v", time.Since(began), f)
			if len(draws) < 10 || draws[0].Step == draws[1].Step {
				t.Errorf("%d draws", len(draws))
			}
			costsMatch(t, f, c.engine.Cost)
			w := c.want
			if f.PrefillFirst != w.PrefillFirst || f.PromptBudget != w.PromptBudget || f.Async != w.Async || f.MaxPrompts != w.MaxPrompts || f.Even != w.Even || f.Budget != w.Budget || f.BudgetSeen != w.BudgetSeen || f.MaxSequences != w.MaxSequences && f.MaxSequences != c.engine.Scheduler.MaxSequences {
				t.Errorf("found %+v, not %+v", *f, w)
			}
			if off := math.Abs(float64(f.Memory - w.Memory)); off > 0.02*float64(w.Memory) {
				t.Errorf("memory %d, not %d", f.Memory, w.Memory)
			}
			if off := f.Chunk.Seconds()/float64(c.engine.Frontend.Chunk) - 1; math.Abs(off) > 0.1 {
				t.Errorf("chunk %v, not %v", f.Chunk, c.engine.Frontend.Chunk)
			}
		})
	}
}

// costsMatch holds costs to the true ones: within 2 %, or three of their standard deviations.
func costsMatch(t *testing.T, f *calibrate.Found, want engine.Costs) {
	t.Helper()
	for name, of := range map[string][3]engine.Seconds{
		"step": {f.Cost.Step, want.Step, f.Spread.Step}, "sequence": {f.Cost.Sequence, want.Sequence, f.Spread.Sequence},
		"context_token": {f.Cost.ContextToken, want.ContextToken, f.Spread.ContextToken}, "prefill": {f.Cost.Prefill, want.Prefill, f.Spread.Prefill},
		"prefill_token": {f.Cost.PrefillToken, want.PrefillToken, f.Spread.PrefillToken}, "prefill_pair": {f.Cost.PrefillPair, want.PrefillPair, f.Spread.PrefillPair},
	} {
		if off := math.Abs(float64(of[0] - of[1])); off > 0.02*float64(of[1]) && off > 3*float64(of[2]) {
			t.Errorf("%s: %v, not %v (spread %v)", name, of[0], of[1], of[2])
		}
	}
	if off := f.Jitter/want.Jitter - 1; math.Abs(off) > 0.15 {
		t.Errorf("jitter %v, not %v", f.Jitter, want.Jitter)
	}
}

// The time of a step need not grow evenly with its sequences.
func TestATableIsFound(t *testing.T) {
	table := []engine.Point{{At: 1, Time: 0.005}, {At: 4, Time: 0.012}, {At: 16, Time: 0.014}, {At: 64, Time: 0.03}}
	c := &client{t, engine.Config{Cost: engine.Costs{DecodeTable: table, ContextToken: 30e-9, Prefill: 0.002, PrefillToken: 30e-6, Jitter: 0.03}}, rand.New(rand.NewPCG(7, 8))}
	f, err := calibrate.FitSteps(c.protocol(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range table {
		found := slices.IndexFunc(f.Cost.DecodeTable, func(p engine.Point) bool { return p.At == want.At })
		if found < 0 || math.Abs(float64(f.Cost.DecodeTable[found].Time/want.Time)-1) > 0.03 {
			t.Errorf("%v is not in %v", want, f.Cost.DecodeTable)
		}
	}
}

func TestTooLittleIsRefused(t *testing.T) {
	c := &client{t, engine.Config{Cost: engine.Costs{Step: 0.009, PrefillToken: 25e-6}}, rand.New(rand.NewPCG(3, 4))}
	for name, legs := range map[string][]calibrate.Leg{"nothing": nil, "one at a time": {c.leg(60, 1, 0, 200, 50)}} {
		little := (*calibrate.TooLittleError)(nil)
		if f, err := calibrate.FitSteps(legs, 0); !errors.As(err, &little) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
}
