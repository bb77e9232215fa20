package predict_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/predict"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A truth is an engine whose pace changes from run to run.
type truth struct {
	engine.Config
	drift float64 // standard deviation of the logarithm of the pace
	dice  *rand.Rand
}

// A load is n requests, limit at once or by a rate; prompts and answers are lognormal.
type load struct {
	n, limit             int
	rate, prompt, output float64
}

// plan draws the requests and arrivals of a load.
func (l load) plan(dice *rand.Rand) sim.SimulationPlan {
	p := sim.SimulationPlan{Schedule: arrival.Burst(), Concurrency: l.limit, Stream: true}
	if l.rate > 0 {
		at := make([]float64, l.n)
		for i := range at {
			at[i] = dice.ExpFloat64()
			if i > 0 {
				at[i] += at[i-1]
			}
		}
		p.Schedule = arrival.New(slices.Values(at), arrival.Constant(l.rate))
	}
	for range l.n {
		length := func(mean, sigma float64, least int) int {
			return max(least, int(mean*math.Exp(sigma*dice.NormFloat64()-sigma*sigma/2)))
		}
		job := engine.Job{PromptTokens: length(l.prompt, 0.7, 1), OutputTokens: length(l.output, 0.6, 2)}
		p.Requests = append(p.Requests, sim.Request{PromptTokens: job.PromptTokens, WantTokens: job.OutputTokens, Job: job, Finish: "length"})
	}
	return p
}

// plans are draws of a load.
func (l load) plans(dice *rand.Rand) (all []sim.SimulationPlan) {
	for range predict.Draws {
		all = append(all, l.plan(dice))
	}
	return all
}

func runOf(l load) trace.Run {
	return trace.Run{Kind: trace.Simulated, Plan: trace.Load{Stream: true, Protocol: "completions", Model: "m", Requests: l.n, Concurrency: l.limit, Rate: l.rate, Percentiles: []float64{99}}}
}

// run is a new run of a load, at a pace of its own.
func (t *truth) run(tb testing.TB, l load) *trace.Trace {
	tb.Helper()
	c := t.Config
	c.Seed, c.Slower = t.dice.Uint64(), engine.Relative(math.Exp(t.drift*t.dice.NormFloat64())-1)
	model, err := engine.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	out := sim.Run(model, l.plan(t.dice))
	run := runOf(l)
	run.End = out.End
	return &trace.Trace{Run: run, Records: out.Records}
}

func figures(t *trace.Trace) map[string]float64 {
	out := map[string]float64{}
	for _, f := range (metrics.Rules{}).Figures(t, "pitot", "") {
		out[f.Name] = f.Value
	}
	return out
}

// calibrated is the profile that is found from runs of a truth, with what it is worth: costs
// drawn by their deviations, the misfit of those runs, and what was seen.
func (t *truth) calibrated(tb testing.TB, loads []load) *profile.Profile {
	tb.Helper()
	var traces []*trace.Trace
	for _, l := range loads {
		traces = append(traces, t.run(tb, l))
	}
	found, err := calibrate.FromTraces(tb.Context(), traces)
	if err != nil {
		tb.Fatal(err)
	}
	k := &profile.Calibration{Runs: len(traces), Steps: found.Steps, Drift: engine.Relative(t.drift), Misfit: misfits(found)}
	k.Seen = profile.Seen{
		Sequences: found.MostRunning, Context: found.MostContext, StepTokens: cmp.Or(found.Longest, found.Budget), Prompt: found.Hi,
		Limit: found.MaxSequences > 0, Budget: found.BudgetSeen,
	}
	k.Draws = found.Draws
	return &profile.Profile{Engine: found.Engine, Calibration: k}
}

// misfits are the root mean squares over the runs, by figure.
func misfits(found *calibrate.Calibration) map[string]engine.Relative {
	squares := map[string][]float64{}
	for _, r := range found.Runs {
		for _, f := range r.Figures {
			x := math.Log(f.Median / f.Measured)
			squares[f.Name] = append(squares[f.Name], x*x)
		}
	}
	out := map[string]engine.Relative{}
	for name, all := range squares {
		sum := 0.0
		for _, s := range all {
			sum += s
		}
		out[name] = engine.Relative(max(0.01, math.Sqrt(sum/float64(len(all)))))
	}
	return out
}

// The truths are of the family of the engine, with numbers of their own.
func truths() []*truth {
	dice := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 77)) }
	return []*truth{
		{engine.Config{
			Scheduler: engine.Scheduler{TokenBudget: 2048, MaxSequences: 64},
			Cost:      engine.Costs{Step: 9.1e-3, Sequence: 37e-6, ContextToken: 48e-9, Prefill: 2.7e-3, PrefillToken: 21e-6, PrefillPair: 1.1e-9, Jitter: 0.03},
			Frontend:  engine.Frontend{Delay: 2.2e-3, Chunk: 15e-6},
		}, 0.01, dice(1)},
		{engine.Config{
			Scheduler: engine.Scheduler{TokenBudget: 8192, MaxSequences: 200},
			Cost:      engine.Costs{Step: 14.6e-3, Sequence: 82e-6, ContextToken: 22e-9, Prefill: 1.3e-3, PrefillToken: 49e-6, PrefillPair: 3e-9, Jitter: 0.05},
			Frontend:  engine.Frontend{Delay: 1.1e-3, Chunk: 20e-6},
		}, 0.02, dice(2)},
	}
}

// protocol are the loads of a calibration.
var protocol = []load{{20, 1, 0, 400, 110}, {60, 4, 0, 400, 110}, {160, 16, 0, 400, 110}, {400, 80, 0, 400, 110}, {60, 0, 5, 400, 110}, {320, 0, 1e4, 400, 110}}

// others are loads that it has not seen.
var others = []load{{150, 2, 0, 400, 110}, {300, 8, 0, 400, 110}, {400, 32, 0, 400, 110}, {200, 0, 3, 400, 110}, {300, 0, 7, 400, 110}, {300, 0, 10, 300, 80}, {300, 24, 0, 700, 50}}
