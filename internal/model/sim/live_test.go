package sim_test

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/wire/driver"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// drive runs a workload with the driver against the engine behind its server, over
// a network without delay.
func drive(t *testing.T, cfg apiserver.Config, p driver.Plan) (records []*trace.Record) {
	synctest.Test(t, func(t *testing.T) {
		server, err := apiserver.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		l := memnet.Listen()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- server.Serve(ctx, l, nil) }()
		network := transport.New(transport.Config{Dial: l.Dial})
		client, err := endpoint.New(network, endpoint.Options{
			Protocol: endpoint.Completions, URL: "http://engine/v1/completions", Stream: true, IncludeUsage: true, ContinuousUsage: true, IgnoreEOS: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		records = driver.Driver{Sender: client, Now: network.Now}.Run(ctx, nil, p).Records
		network.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return inOrder(records)
}

// inOrder returns the records in workload order, without the fields that only a
// network sets: connections, timestamps, and coalesced events.
func inOrder(records []*trace.Record) []*trace.Record {
	for _, r := range records {
		r.Dialed, r.Connected, r.Stamps = trace.Never, trace.Never, ""
		for i := range r.Chunks {
			r.Chunks[i].Kind &^= trace.Coalesced
		}
	}
	slices.SortFunc(records, func(a, b *trace.Record) int { return cmp.Compare(a.Index, b.Index) })
	return records
}

// A simulated engine and the same engine behind its server and the driver give the
// same records, for all kinds of requests. (With a gate of several places two
// requests could be released at the same instant, and race to the server.)
func TestSimulatedEqualsDriven(t *testing.T) {
	costs := engine.Costs{Step: 0.008, Sequence: 20e-6, ContextToken: 1e-9, PrefillToken: 30e-6, Cold: 0.3, Jitter: 0.1}
	for name, cfg := range map[string]engine.Config{
		"roomy":    {Cost: costs},
		"tight":    {Cost: costs, KV: engine.KVCache{Tokens: 1024, PrefixCache: true}, MaxModelLen: 400},
		"sglang":   {Cost: costs, Scheduler: engine.Scheduler{Policy: "sglang", MaxSequences: 6}, KV: engine.KVCache{Tokens: 2048, PrefixCache: true}},
		"static":   {Cost: costs, Scheduler: engine.Scheduler{Policy: "static", MaxSequences: 4}},
		"frontend": {Cost: costs, Frontend: engine.Frontend{Request: 0.002, PromptToken: 1e-6, Chunk: 50e-6, Blocking: true}},
		"replicas": {Cost: costs, Replicas: engine.Replicas{Count: 3, Router: "least-loaded"}},
		"uneven": {
			Cost: costs, Pace: engine.Pace{Slower: 0.03, StartSpread: 0.05, Drift: &engine.Drift{Change: 0.2, Over: 1}},
			Disaggregation: &engine.Disaggregation{Cost: costs},
		},
		"speculative": {Cost: costs, Speculative: &engine.Speculative{Drafts: 3, Acceptance: engine.Acceptance{0.7}}},
	} {
		for _, concurrency := range []int{0, 1} {
			t.Run(name, func(t *testing.T) {
				config := apiserver.Config{Engine: &cfg, Seed: 5}
				w, err := workload.Random{
					Requests: 60, Input: 120, InputRange: 0.8, Output: 30, OutputRange: 0.9, Prefix: 40,
				}.Build(t.Context(), workload.Vocabulary{Size: 16000}, nil)
				if err != nil {
					t.Fatal(err)
				}
				schedule := func() arrival.Schedule {
					return arrival.New(arrival.Poisson(pyrand.NewLegacy(3)), arrival.Constant(30))
				}
				driven := drive(t, config, driver.Plan{Requests: workload.Listed(w.Requests), Schedule: schedule(), Concurrency: concurrency})
				intake, err := apiserver.NewAdmission(config)
				if err != nil {
					t.Fatal(err)
				}
				model, err := config.NewModel()
				if err != nil {
					t.Fatal(err)
				}
				p := sim.SimulationPlan{Schedule: schedule(), Concurrency: concurrency, Stream: true, Cached: config.PrefixCache()}
				for _, r := range w.Requests {
					taken := intake.Tokens(r.Tokens, r.OutputTokens, true)
					p.Requests = append(p.Requests, sim.Request{
						ID: r.ID, PromptTokens: r.PromptTokens, WantTokens: r.OutputTokens, Job: taken.Job, Finish: taken.Finish,
						Status: taken.Status, Refused: string(taken.Refused),
					})
				}
				if diff := gocmp.Diff(driven, inOrder(sim.Run(model, p).Records)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}
