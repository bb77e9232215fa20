package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/grade"
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
	work := x.newForecast(ctx)
	defer work.end()
	if err := work.look(); err != nil {
		return nil, err
	}
	x.run.Kind, x.run.Started, x.run.Status = trace.Simulated, time.Now(), trace.Running
	begun := x.run
	if err := x.handle(Starting{Run: &begun, Load: PlannedWork{Requests: work.Len()}}); err != nil {
		return nil, err
	}
	records := &kept{elsewhere: x.Stored, most: mostKept}
	what := x.simulation()
	what.Source, what.Stop = work, func() bool { return ctx.Err() != nil }
	asked := x.spec.Request
	uncounted := asked.Stream && asked.Usage != plan.UsageEach && !what.Native
	what.Each = func(r *trace.Record) {
		if uncounted {
			forgetCounts(r)
		}
		r.Map(x.Secrets.Hide)
		_ = x.handle(Recorded{r})
		records.add(r)
	}
	out := sim.Run(model, what)
	if err := x.simulated(ctx, out); err != nil {
		return nil, err
	}
	x.noteSpent(records.n, time.Duration(out.End))
	x.noteLate()
	err = x.handle(Ended{&x.run})
	r, err := x.judge(records.records, records.stored(), err)
	if ctx.Err() == nil { // else it was stopped
		err = errors.Join(out.Err, err)
	}
	return r, err
}

func (x *execution) simulated(ctx context.Context, out sim.Outcome) error {
	page, err := exposition.Parse(ctx, "", x.server.Metrics(out.Load))
	if err != nil {
		return err
	}
	_, x.run.KVTokens = cacheConfig(page.Samples)
	x.run.ServerCounters, x.run.AcceptLength = countersAmong(page.Samples), x.server.AcceptLength(out.Load)
	x.run.ServerCounters["vllm:request_queue_time_seconds_sum"] = out.Queued.Seconds()
	x.run.ServerCounters["vllm:request_queue_time_seconds_count"] = float64(out.Done)
	x.run.End, x.run.Status = out.End, trace.Complete
	if out.Stopped {
		x.run.Status = trace.Interrupted
	}
	x.run.Verdict = &trace.Verdict{Validity: trace.Valid} // there is no client to be in the way
	return nil
}

// simulation is the work of a simulated engine but for its requests.
func (p *Prepared) simulation() sim.SimulationPlan {
	asked := p.spec.Request
	native := asked.Protocol == string(endpoint.Generate)
	return sim.SimulationPlan{
		Schedule: p.built.due.Schedule, Until: p.spec.Duration.Std(), Concurrency: p.spec.Gate.Concurrency, Hold: p.hold(), Stream: asked.Stream,
		Chat: asked.Protocol == string(endpoint.Chat), Native: native, Accept: native && p.server.Drafts() > 0,
		Cached: native || p.server.PrefixCache(),
	}
}

// Simulation is the work of a simulated engine: all requests as it takes them, and when they are sent. It does not
// depend on the cost of steps.
func (p *Prepared) Simulation(ctx context.Context) (sim.SimulationPlan, error) {
	what, work := p.simulation(), p.newForecast(ctx)
	defer work.end()
	what.Requests = make([]sim.Request, work.Len())
	for i := range what.Requests {
		r, err := work.Request(i)
		if err != nil {
			return what, err
		}
		what.Requests[i] = *r
	}
	return what, nil
}

// A forecast makes the requests of a simulation as the engine takes them, some of them ahead. The turns of a
// conversation are made together with the first, since each depends on the answers before it.
type forecast struct {
	*Prepared
	requests  workload.List
	followers arrival.Followers
	made      map[int]*sim.Request // that were not asked for
	more      func() ([]forecasted, error)
	end       func()
}

// A forecasted request is one at its position in the workload.
type forecasted struct {
	sim.Request
	position int
}

// Requests are made atATime by one goroutine, and so many parts of them ahead.
const (
	atATime = 16
	ahead   = 32
)

func (p *Prepared) newForecast(ctx context.Context) *forecast {
	f := &forecast{Prepared: p, requests: p.Requests(), made: map[int]*sim.Request{}}
	n := 0
	if f.requests.Chained {
		n = f.requests.N
	}
	f.followers = arrival.NewFollowers(n, func(i int) int { return f.requests.Brief(i).After })
	ctx, cancel := context.WithCancel(ctx)
	parts, running := make(chan func() ([]forecasted, error), ahead), new(sync.WaitGroup)
	running.Go(func() {
		defer close(parts)
		for from := 0; from < f.requests.N; from += atATime {
			select {
			case parts <- f.part(running, from):
			case <-ctx.Done():
				return
			}
		}
	})
	f.more = func() ([]forecasted, error) {
		if part := <-parts; part != nil {
			return part()
		}
		return nil, context.Cause(ctx)
	}
	f.end = func() {
		cancel()
		running.Wait()
	}
	return f
}

// part makes the requests from a position on that wait for no other, and their followers. What they are is drawn in
// order; how the engine takes them is found out by another goroutine, which the result waits for.
func (f *forecast) part(running *sync.WaitGroup, from int) func() ([]forecasted, error) {
	positions, requests := make([]int, 0, atATime), make([]*workload.Request, 0, atATime)
	for i := from; i < min(from+atATime, f.requests.N); i++ {
		if f.requests.Brief(i).After != 0 {
			continue
		}
		req, err := f.requests.At(i).Unspooled()
		if err != nil {
			return func() ([]forecasted, error) { return nil, fmt.Errorf("request %d: %w", i, err) }
		}
		positions, requests = append(positions, i), append(requests, req)
	}
	var out []forecasted
	var err error
	done := make(chan struct{})
	running.Go(func() {
		defer close(done)
		for k := 0; k < len(requests) && err == nil; k++ {
			out, err = f.ask(out, positions[k], requests[k])
		}
	})
	return func() ([]forecasted, error) {
		<-done
		return out, err
	}
}

// Len is the number of requests.
func (f *forecast) Len() int { return f.requests.N }

// Turn is what request i waits for, and how long after.
func (f *forecast) Turn(i int) (after int, think time.Duration) {
	b := f.requests.Brief(i)
	return b.After, b.Think
}

// Request is request i as the engine takes it.
func (f *forecast) Request(i int) (*sim.Request, error) {
	for f.made[i] == nil {
		if err := f.look(); err != nil {
			return nil, err
		}
	}
	r := f.made[i]
	delete(f.made, i)
	return r, nil
}

func (f *forecast) look() error {
	some, err := f.more()
	for i := range some {
		f.made[some[i].position] = &some[i].Request
	}
	return err
}

// ask appends request i, with its history, and then those that wait for its answer.
func (f *forecast) ask(out []forecasted, i int, req *workload.Request) ([]forecasted, error) {
	taken, err := f.take(req)
	if err != nil {
		return out, fmt.Errorf("request %d: %w", i, err)
	}
	var marks trace.Marks
	var defects trace.Defects
	if f.marker != nil {
		marks, defects = taken.Mark(f.marker, f.client.Open(req))
	}
	var graded grade.Grade
	if req.Question != nil && taken.Status == 0 {
		graded = req.Question.Grade(taken.Text(), taken.Finish == "length")
	}
	out = append(out, forecasted{sim.Request{
		Blank: taken.Blank(), Marks: marks, Defects: defects, Grade: graded,
		ID: req.ID, PromptTokens: req.PromptTokens, VisionTokens: req.VisionTokens, WantTokens: req.OutputTokens, Job: taken.Job, Finish: taken.Finish,
		Status: taken.Status, Refused: endpoint.FirstKilobyte(string(taken.Refused)),
		Tenant: req.Tenant, Session: req.Session, Number: req.Number, After: req.After, Think: req.Think,
	}, i})
	for follower := range f.followers.Of(i) {
		next := *f.requests.At(follower)
		if err := driver.Remember(&next, req, taken.Text()); err != nil {
			return out, fmt.Errorf("request %d: %w", follower, err)
		}
		if out, err = f.ask(out, follower, &next); err != nil {
			return out, err
		}
	}
	return out, nil
}

// take is how the engine would take a request. A body is only made and read if it may
// contain more than a prompt and a length.
func (f *forecast) take(req *workload.Request) (apiserver.Admitted, error) {
	asked := f.spec.Request
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
