package calibrate_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/calibrate"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/race"
)

// A bench makes runs against an engine.
type bench struct {
	t      *testing.T
	engine engine.Config
	dice   *rand.Rand
}

// plan is n requests, limit at once or by a rate; prompts and answers are lognormal.
func (b *bench) plan(n, limit int, rate, prompt, output float64) sim.SimulationPlan {
	p := sim.SimulationPlan{Schedule: arrival.Burst(), Concurrency: limit, Stream: true}
	if rate > 0 {
		at := make([]float64, n)
		for i := range at {
			at[i] = b.dice.ExpFloat64()
			if i > 0 {
				at[i] += at[i-1]
			}
		}
		p.Schedule = arrival.New(slices.Values(at), arrival.Constant(rate))
	}
	for range n {
		job := engine.Job{PromptTokens: max(1, int(prompt*math.Exp(0.7*b.dice.NormFloat64()))), OutputTokens: max(2, int(output*math.Exp(0.6*b.dice.NormFloat64())))}
		p.Requests = append(p.Requests, sim.Request{PromptTokens: job.PromptTokens, WantTokens: job.OutputTokens, Job: job, Finish: "length"})
	}
	return p
}

func (b *bench) run(c engine.Config, p sim.SimulationPlan, rate float64) *trace.Trace {
	b.t.Helper()
	c.Seed = b.dice.Uint64()
	model, err := engine.New(c)
	if err != nil {
		b.t.Fatal(err)
	}
	out := sim.Run(model, p)
	run := trace.Run{ID: fmt.Sprintf("c%d-r%g", p.Concurrency, rate), Kind: trace.Simulated, End: out.End}
	run.Plan = trace.Load{Stream: true, Protocol: "completions", Requests: len(p.Requests), Concurrency: p.Concurrency, Rate: rate, Model: "m", Percentiles: []float64{95, 99}}
	return &trace.Trace{Run: run, Records: out.Records}
}

var hidden = engine.Config{
	Scheduler: engine.Scheduler{TokenBudget: 2048, MaxSequences: 200},
	Cost:      engine.Costs{Step: 0.0113, Sequence: 52e-6, ContextToken: 33e-9, Prefill: 0.0018, PrefillToken: 31e-6, PrefillPair: 2.1e-9, Jitter: 0.04},
	Frontend:  engine.Frontend{Delay: 0.0015, Chunk: 12e-6},
}

func (b *bench) protocol() []*trace.Trace {
	return []*trace.Trace{
		b.run(b.engine, b.plan(20, 1, 0, 350, 90), 0), b.run(b.engine, b.plan(60, 4, 0, 350, 90), 0), b.run(b.engine, b.plan(160, 16, 0, 350, 90), 0),
		b.run(b.engine, b.plan(400, 64, 0, 350, 90), 0), b.run(b.engine, b.plan(60, 0, 7, 350, 90), 7), b.run(b.engine, b.plan(200, 0, 1e4, 600, 90), 1e4),
	}
}

// An engine that was found from some loads has the figures of the hidden one at others: the
// same requests, under other jitter.
func TestOtherLoadsArePredicted(t *testing.T) {
	race.Skip(t)
	b := &bench{t, hidden, rand.New(rand.NewPCG(21, 22))}
	found, err := calibrate.FromTraces(t.Context(), b.protocol())
	if err != nil {
		t.Fatal(err)
	}
	total, n := 0.0, 0
	for _, load := range []struct {
		n, limit             int
		rate, prompt, output float64
	}{{150, 2, 0, 350, 90}, {300, 8, 0, 350, 90}, {400, 32, 0, 350, 90}, {300, 0, 12, 350, 90}, {300, 0, 20, 200, 60}, {300, 24, 0, 700, 50}} {
		p := b.plan(load.n, load.limit, load.rate, load.prompt, load.output)
		truth := metrics.Rules{}.Figures(b.run(hidden, p, load.rate), "pitot", "")
		for _, f := range (metrics.Rules{}).Figures(b.run(found.Engine, p, load.rate), "pitot", "") {
			at := slices.IndexFunc(truth, func(g trace.ReportedFigure) bool { return g.Name == f.Name })
			if !strings.HasSuffix(f.Name, ".mean") && !strings.HasSuffix(f.Name, ".p99") && f.Name != "throughput.output" || truth[at].Value == 0 {
				continue
			}
			off := math.Abs(math.Log(f.Value / truth[at].Value))
			total += off
			if n++; off > 0.15 {
				t.Errorf("%+v: %s is %v, not %v", load, f.Name, f.Value, truth[at].Value)
			}
		}
	}
	t.Logf("mean error of %d figures: %.2f %%", n, 100*total/float64(n))
	if n < 40 || total/float64(n) > 0.02 {
		t.Errorf("mean error of %d figures is %.2f %%", n, 100*total/float64(n))
	}
	if _, err := profile.Parse("calibrated.yaml", []byte(found.Profile("a model: \"m\""))); err != nil {
		t.Error(err)
	}
}

func TestRunsThatShowNoEngine(t *testing.T) {
	race.Skip(t)
	b := &bench{t, hidden, rand.New(rand.NewPCG(1, 2))}
	good := func() *trace.Trace { return b.run(hidden, b.plan(40, 4, 0, 100, 20), 0) }
	table, invalid, failed, whole, other, elsewhere, silent := good(), good(), good(), good(), good(), good(), good()
	silent.Records[0].PromptTokens, silent.Records[0].Usage = 0, trace.Usage{}
	table.Records = nil
	invalid.Run.Verdict = &trace.Verdict{Validity: trace.Invalid}
	for _, r := range failed.Records[:10] {
		r.Class = trace.HTTP
	}
	for _, r := range whole.Records {
		r.Chunks = r.Chunks[len(r.Chunks)-1:]
	}
	other.Run.Plan.Model = "n"
	elsewhere.Run.Plan.URL = "http://b"
	first := good()
	first.Run.Plan.URL = "http://a"
	for want, traces := range map[string][]*trace.Trace{
		"has no records of its requests": {table}, "is INVALID": {invalid}, "has 10 failures among 40 requests": {failed},
		"how long 1 of its 40 prompts are": {silent}, "was not streamed": {whole}, "asked two models": {good(), other}, "asked two servers": {first, elsewhere},
	} {
		if _, err := calibrate.FromTraces(t.Context(), traces); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	found, err := calibrate.FromTraces(t.Context(), append(b.protocol(), invalid, whole))
	if err != nil || len(found.Left) != 2 || len(found.Runs) != 6 || found.Left[0].String() != "run c4-r0 is INVALID: what it shows is the client, not the server" {
		t.Errorf("of eight runs two cannot be used: %+v, %v", found, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := calibrate.FromTraces(ctx, b.protocol()); err == nil {
		t.Error("goes on after its end")
	}
}
