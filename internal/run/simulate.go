package run

import (
	"context"
	"fmt"
	"runtime"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/driver"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
	"github.com/pitot-bench/pitot/internal/wire/exposition"
)

// simulate makes the run in virtual time.
func (x *execution) simulate(ctx context.Context) (*Result, error) {
	ctx, release := x.untilStopped(ctx)
	defer release()
	model, err := x.server.NewModel()
	if err != nil {
		return nil, plan.Problems{{Path: "target.engine", Why: err.Error()}}
	}
	what, err := x.Simulation(ctx)
	if err != nil {
		return nil, err
	}
	x.run.Kind, x.run.Started, x.run.Status = trace.Simulated, time.Now(), trace.Running
	begun := x.run
	if err := x.handle(Starting{Run: &begun, Load: PlannedWork{Requests: len(what.Requests)}}); err != nil {
		return nil, err
	}
	what.Stop = func() bool { return ctx.Err() != nil }
	out := sim.Run(model, what)
	if asked := x.spec.Request; asked.Stream && asked.Usage != plan.UsageEach && !what.Native {
		forgetCounts(out.Records)
	}
	page, err := exposition.Parse(ctx, "", x.server.Metrics(out.Load))
	if err != nil {
		return nil, err
	}
	_, x.run.KVTokens = cacheConfig(page.Samples)
	x.run.ServerCounters, x.run.AcceptLength = countersAmong(page.Samples), x.server.AcceptLength(out.Load)
	x.run.ServerCounters["vllm:request_queue_time_seconds_sum"] = out.Queued.Seconds()
	x.run.ServerCounters["vllm:request_queue_time_seconds_count"] = float64(out.Done)
	x.run.End, x.run.Status = out.End, trace.Complete
	if out.Stopped {
		x.run.Status = trace.Interrupted
	}
	x.noteSpent(len(out.Records), time.Duration(out.End))
	x.run.Verdict = &trace.Verdict{Validity: trace.Valid} // there is no client to be in the way
	for _, r := range out.Records {
		r.Map(x.Secrets.Hide)
		_ = x.handle(Recorded{r})
	}
	return x.judge(out.Records, x.handle(Ended{&x.run}))
}

// Simulation is the work of a simulated engine: all requests as it takes them, and when they are sent. It does not
// depend on the cost of steps.
func (p *Prepared) Simulation(ctx context.Context) (sim.SimulationPlan, error) {
	requests, err := p.forecastRequests(ctx)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	asked := p.spec.Request
	native := asked.Protocol == string(endpoint.Generate)
	return sim.SimulationPlan{
		Requests: requests, Schedule: p.built.due.Schedule, Until: p.spec.Duration.Std(), Concurrency: p.spec.Gate.Concurrency, Hold: p.hold(), Stream: asked.Stream,
		Chat: asked.Protocol == string(endpoint.Chat), Native: native, Accept: native && p.server.Drafts() > 0,
		Cached: native || p.server.PrefixCache(),
	}, err
}

// forecastRequests finds out how the engine would take all requests, with conversations spread over
// the processors: a request depends on the answers before it.
func (p *Prepared) forecastRequests(ctx context.Context) ([]sim.Request, error) {
	requests := p.Requests()
	f := forecaster{
		Prepared: p, requests: requests, followers: map[int][]int{}, out: make([]sim.Request, requests.N),
	}
	for i := range requests.N {
		if after := requests.Brief(i).After; after != 0 {
			f.followers[after-1] = append(f.followers[after-1], i)
		}
	}
	var parts errgroup.Group
	size := max(1, (requests.N+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for from := 0; from < requests.N; from += size {
		parts.Go(func() error {
			for i := from; i < min(from+size, requests.N) && ctx.Err() == nil; i++ {
				if requests.Brief(i).After != 0 {
					continue
				}
				if err := f.ask(i, requests.At(i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return f.out, parts.Wait()
}

// A forecaster finds out how the engine would take the requests of a workload.
type forecaster struct {
	*Prepared
	requests  workload.List
	followers map[int][]int // by the request that they wait for
	out       []sim.Request
}

// ask takes request i, with its history, and then those that wait for its answer.
func (f *forecaster) ask(i int, req *workload.Request) error {
	taken, err := f.take(req)
	if err != nil {
		return fmt.Errorf("request %d: %w", i, err)
	}
	f.out[i] = sim.Request{
		ID: req.ID, PromptTokens: req.PromptTokens, VisionTokens: req.VisionTokens, WantTokens: req.OutputTokens, Job: taken.Job, Finish: taken.Finish,
		Status: taken.Status, Refused: endpoint.FirstKilobyte(string(taken.Refused)),
		Tenant: req.Tenant, Session: req.Session, Number: req.Number, After: req.After, Think: req.Think,
	}
	for _, follower := range f.followers[i] {
		next := *f.requests.At(follower)
		if err := driver.Remember(&next, req, taken.Text()); err != nil {
			return fmt.Errorf("request %d: %w", follower, err)
		}
		if err := f.ask(follower, &next); err != nil {
			return err
		}
	}
	return nil
}

// take is how the engine would take a request. A body is only made and read if it may
// contain more than a prompt and a length.
func (f *forecaster) take(req *workload.Request) (apiserver.Admitted, error) {
	asked := f.spec.Request
	req, err := req.Unspooled()
	if err != nil {
		return apiserver.Admitted{}, err
	}
	plain := asked.Protocol != string(endpoint.Chat) && asked.Model == f.admission.Model() && asked.Body == nil && asked.Sampling == nil &&
		req.OutputTokens > 0 && req.Extra == nil && req.Model == "" && req.Messages == nil && req.Media == nil
	switch {
	case plain && len(req.Tokens) > 0:
		return f.admission.Tokens(req.Tokens, req.OutputTokens, asked.IgnoreEOS), nil
	case plain && req.Text != "" && utf8.ValidString(req.Text):
		return f.admission.Text(req.Text, req.OutputTokens, asked.IgnoreEOS), nil
	}
	body, err := f.client.Encode(req)
	if err != nil {
		return apiserver.Admitted{}, err
	}
	return f.admission.Body(body, asked.Protocol), nil
}
