package calibrate_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/aliens"
)

// A truth is an engine that a calibration has to find.
type truth struct {
	name   string
	start  func(seed uint64) (engine.Model, error)
	shares bool // prompts begin with the same tokens, which are cached
}

// ours are engines of our own family; their values appear nowhere else.
var ours = map[string]engine.Config{
	"vllm small": {
		Scheduler: engine.Scheduler{TokenBudget: 1536, MaxSequences: 56},
		Cost:      engine.Costs{Step: 0.0074, Sequence: 57e-6, ContextToken: 61e-9, Prefill: 0.0024, PrefillToken: 27e-6, PrefillPair: 1.7e-9, Jitter: 0.035},
		Frontend:  engine.Frontend{Request: 0.0005, Delay: 0.0018, Chunk: 18e-6},
	},
	"vllm 48 000": {
		Scheduler: engine.Scheduler{TokenBudget: 4096, MaxSequences: 224},
		KV:        engine.KVCache{Tokens: 48_000},
		Cost:      engine.Costs{Step: 0.0125, Sequence: 78e-6, ContextToken: 24e-9, Prefill: 0.0015, PrefillToken: 47e-6, PrefillPair: 3.2e-9, Jitter: 0.05},
		Frontend:  engine.Frontend{Request: 0.0008, Delay: 0.001, Chunk: 13e-6, Blocking: true},
	},
	"sglang": {
		Scheduler: engine.Scheduler{Policy: "sglang", MaxSequences: 112, Chunk: 4096},
		KV:        engine.KVCache{Tokens: 180_000},
		Cost:      engine.Costs{Step: 0.0102, Sequence: 33e-6, ContextToken: 44e-9, Prefill: 0.0035, PrefillToken: 29e-6, PrefillPair: 0.9e-9, Jitter: 0.04},
		Frontend:  engine.Frontend{Request: 0.0004, Delay: 0.0022, Chunk: 9e-6},
	},
}

// truths are all: ours, then the aliens.
func truths() (all []truth) {
	for _, name := range []string{"vllm small", "vllm 48 000", "sglang"} {
		all = append(all, truth{name: name, start: func(seed uint64) (engine.Model, error) {
			c := ours[name]
			c.Seed = seed
			return engine.New(c)
		}})
	}
	for _, alien := range aliens.Named {
		all = append(all, truth{alien.Name, func(seed uint64) (engine.Model, error) { return alien.New(seed), nil }, alien.Name == "experts"})
	}
	return all
}

// A mix is the mean lengths of requests; they are lognormal, with coefficients of variation of
// 0.8 and 0.7.
type mix struct{ prompt, output float64 }

var usual, longPrompts, longAnswers = mix{400, 120}, mix{800, 120}, mix{400, 480}

// A load is what is sent: at a share of the capacity for its mix, or some at once.
type load struct {
	name   string
	mix    mix
	share  float64
	bursty bool // gaps between requests are of a gamma distribution of shape 1/4
	limit  int  // in flight, without a share
	n      int  // requests, without a share or until
	until  time.Duration
}

// An observer is a client of a truth.
type observer struct {
	truth
	dice     *rand.Rand
	capacity map[mix]float64 // requests/s, as far as it was asked for
	common   int             // tokens that prompts begin with, where the truth caches them,
	sharing  float64         // of this share of the prompts
	silent   bool            // the truth does not tell what it found
}

func newObserver(own truth, seed uint64) *observer {
	return &observer{own, rand.New(rand.NewPCG(seed, 4711)), map[mix]float64{}, 256, 0.6, false}
}

// most is the capacity for a mix: how fast requests end while 300 are in flight.
func (o *observer) most(t *testing.T, m mix) float64 {
	t.Helper()
	if o.capacity[m] == 0 {
		var ends []time.Duration
		for _, r := range o.run(t, o.plan(t, load{mix: m, limit: 300, n: 1300})).Records {
			ends = append(ends, time.Duration(r.Done))
		}
		slices.Sort(ends)
		o.capacity[m] = 700 / (ends[1000] - ends[300]).Seconds()
	}
	return o.capacity[m]
}

// openFor is the time in which a load at a rate sends.
const openFor = 60 * time.Second

// plan draws the requests of a load.
func (o *observer) plan(t *testing.T, l load) sim.SimulationPlan {
	t.Helper()
	p := sim.SimulationPlan{Schedule: arrival.Burst(), Concurrency: l.limit, Stream: true, Until: l.until, Cached: o.shares}
	n := l.n
	if l.share > 0 {
		due := o.arrivals(l.share*o.most(t, l.mix), l.bursty, cmp.Or(l.until, openFor))
		p.Schedule, n = slices.Values(due), len(due)
	}
	for range n {
		job := engine.Job{PromptTokens: o.lognormal(l.mix.prompt, 0.8), OutputTokens: o.lognormal(l.mix.output, 0.7)}
		if o.shares {
			job.Prompt = o.prompt(job.PromptTokens)
		}
		p.Requests = append(p.Requests, sim.Request{PromptTokens: job.PromptTokens, WantTokens: job.OutputTokens, Job: job, Finish: "length"})
	}
	return p
}

func (o *observer) lognormal(mean, cv float64) int {
	s := math.Sqrt(math.Log(1 + cv*cv))
	return max(1, int(math.Exp(math.Log(mean)-s*s/2+s*o.dice.NormFloat64())))
}

// arrivals are those until over, at a rate in requests/s.
func (o *observer) arrivals(rate float64, bursty bool, over time.Duration) (due []time.Duration) {
	shape := 1.0
	if bursty {
		shape = 0.25
	}
	process, err := arrival.Gamma(shape, pyrand.NewLegacy(o.dice.Uint32()))
	if err != nil {
		panic(err) // of the shapes above
	}
	for at := range arrival.New(process, arrival.Constant(rate)) {
		if at >= over {
			break
		}
		due = append(due, at)
	}
	return due
}

func (o *observer) prompt(n int) []int32 {
	ids := make([]int32, n)
	common := 0
	if o.dice.Float64() < o.sharing {
		common = o.common
	}
	for i := range ids {
		if ids[i] = int32(i); i >= common {
			ids[i] = 1000 + o.dice.Int32N(1<<30)
		}
	}
	return ids
}

// run makes a new engine and sends it a plan; every token is seen late, by 60 µs on average.
func (o *observer) run(t *testing.T, p sim.SimulationPlan) *trace.Trace {
	t.Helper()
	model, err := o.start(o.dice.Uint64())
	if err != nil {
		t.Fatal(err)
	}
	made := traced(model, p)
	for _, r := range made.Records {
		last := trace.Instant(0)
		for i := range r.Chunks {
			last = max(last, r.Chunks[i].At+trace.Instant(60e3*o.dice.ExpFloat64()))
			r.Chunks[i].At = last
		}
		r.Done = max(r.Done, last)
		made.Run.End = max(made.Run.End, r.Done)
	}
	return made
}

// traced runs a plan.
func traced(m engine.Model, p sim.SimulationPlan) *trace.Trace {
	out, run := sim.Run(m, p), runOf(p)
	run.End, run.Plan.Requests = out.End, len(out.Records)
	return &trace.Trace{Run: run, Records: out.Records}
}

// runOf is the header of a run of a plan.
func runOf(p sim.SimulationPlan) trace.Run {
	run := trace.Run{ID: fmt.Sprintf("%d at once of %d", p.Concurrency, len(p.Requests)), Kind: trace.Simulated}
	run.Plan = trace.Load{Stream: true, Protocol: "completions", Requests: len(p.Requests), Concurrency: p.Concurrency, Model: "m", Percentiles: []float64{99}}
	return run
}

// lasting is how long a run of a calibration lasts: half of it in the short form.
func lasting(long time.Duration) time.Duration { return either(long/2, long) }

// either returns the first value in the short form and the second in the long one.
func either[T any](short, long T) T {
	if *calibrate.Long {
		return long
	}
	return short
}

// protocol is the runs that a calibration is made from.
func (o *observer) protocol(t *testing.T) (runs []*trace.Trace) {
	t.Helper()
	for _, limit := range []int{1, 4, 16, 64} {
		runs = append(runs, o.run(t, o.plan(t, load{mix: usual, limit: limit, n: 900, until: lasting(8 * time.Second)})))
	}
	for _, l := range []load{{mix: usual, share: 0.25, until: lasting(12 * time.Second)}, {mix: mix{100, 40}, n: 320}, {mix: mix{800, 120}, n: 200}} {
		runs = append(runs, o.run(t, o.plan(t, l)))
	}
	return runs
}
