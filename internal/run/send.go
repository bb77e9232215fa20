package run

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/proof/doctor"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/clock"
	"github.com/pitot-bench/pitot/internal/wire/driver"
)

// sending is requests of a run on their way from this process.
type sending struct {
	*Prepared
	sender   driver.Sender
	progress *driver.Progress
	record   func(*trace.Record)
}

// run sends them. The client of the Outcome is complete.
func (s sending) run(ctx context.Context, stop <-chan struct{}, p driver.Plan) driver.Outcome {
	s.target.transport.Hurry(awaits(p))
	d := driver.Driver{Sender: s.sender, Now: s.target.transport.Now, Progress: s.progress, Tokens: s.client.Tokens, OnRecord: s.record}
	end := func() int { return s.Prepared.run.Env.CPUs }
	if s.Quiet != nil {
		d.Timer = clock.NewPrecise()
		defer d.Timer.Close()
		end = s.Quiet(s.spec.Client.Procs, expectedChunks(p.Requests))
	}
	s.target.transport.TakeLag() // of the requests before the run
	s.takeEngineLag()
	out := d.Run(ctx, stop, p)
	s.health(&out.Client, end())
	return out
}

// health adds the statistics of connections and clock.
func (s sending) health(c *trace.Client, procs int) {
	steps := s.target.clock.Steps()
	c.Engine, c.Procs = s.target.transport.Engine(s.target.base), procs
	c.Lag, c.Unstamped = s.target.transport.TakeLag()
	c.ClockSteps, c.ClockStep = steps.Count, steps.Largest
	c.EngineLag = s.takeEngineLag()
}

// A Part is requests of a prepared run that one machine of several sends.
type Part struct {
	Requests workload.List
	Due      iter.Seq[time.Duration] // of those that wait for no answer
	Index    []int                   // position of each in the run
	Start    time.Time               // the instant 0 of the run; it has a monotonic reading
	Places   *driver.Places          // nil: no limit
	Limit    int                     // places at the beginning
	Probe    bool                    // this part has the probes of the run
}

// Send sends a part of the run, and nothing else: no warm-up, no telemetry, no verdict. The records count from
// Start and have their index in the run. It is Execute for one machine of a fleet.
func (p *Prepared) Send(ctx context.Context, stop <-chan struct{}, part Part, progress *driver.Progress, record func(*trace.Record)) driver.Outcome {
	s := sending{Prepared: p, sender: p.client, progress: progress, record: func(r *trace.Record) {
		r.Index = part.Index[r.Index]
		record(r)
	}}
	what := p.planOf(part.Requests, part.Due, part.Limit, part.Probe)
	what.Places = part.Places
	what.Zero = p.target.transport.Now() + int64(time.Until(part.Start))
	return s.run(ctx, stop, what)
}

// Reach asks the server for its version, and fails if it does not answer at all.
func (p *Prepared) Reach(ctx context.Context) error {
	if _, err := p.target.server().Version(ctx); silent(err) {
		return err
	}
	return nil
}

// ServedBy names the server, by the headers of the first answer.
func (p *Prepared) ServedBy() string { return p.client.ServedBy() }

// TryStamps tests the kernel's receive timestamps on this machine, where a run has the process to itself. The notes
// report wrong ones.
func (p *Prepared) TryStamps(ctx context.Context) (t *trace.SelfTest, notes []plan.Message) {
	if p.Quiet == nil || ctx.Err() != nil {
		return nil, nil
	}
	system, _, _ := strings.Cut(p.run.Env.OS, "/")
	t, finding, err := doctor.SelfTest(ctx, p.target.clock)
	switch {
	case ctx.Err() != nil: // it is over
	case err != nil:
		notes = append(notes, plan.Msg(selfTestFailed, "why", err))
	case finding.Verdict != doctor.OK && system == "linux":
		notes = append(notes, plan.Msg(selfTestDoubtful, "value", finding.Value, "advice", finding.Advice))
	}
	return t, notes
}

// Job is the load, as a fleet takes it.
func (p *Prepared) Job() Job {
	spec := p.spec
	if p.target != nil {
		spec.Target.URL, spec.Target.Engine = p.target.base, nil
	}
	if _, asked := p.tokens.tok.(serverTokenizer); asked {
		spec.Tokens.Where = tokensOfServer
	}
	return Job{Spec: spec, Requests: p.Requests(), Due: p.built.due.Schedule, Given: p.Given, Env: p.Env, Read: p.Read, Host: p.Machine.Host, Embedded: p.run.Env.Embedded, MarkKey: p.markKey}
}

// awaits reports whether something waits for the ends of answers: another request for the place in the gate,
// or the next turn of a conversation.
func awaits(p driver.Plan) bool {
	return p.Concurrency > 0 && p.Concurrency < p.Requests.N || p.Places != nil || p.Requests.Chained
}

// A Fleet sends the requests of a run from other machines. All else of the run stays here.
type Fleet interface {
	// Assemble has machines prepare the run. It is called at the end of Prepare, before any load;
	// an error refuses the run.
	Assemble(ctx context.Context, j Job) error
	// Start has them agree on the instant at which the run begins, soon. r is the run as it is then.
	// An error says that nothing was sent, and nothing will be.
	Start(ctx context.Context, r *trace.Run) error
	// Drive follows the requests that are sent from then on, and reports progress and records; stop and ctx are
	// those of driver.Run. All requests that were sent or lost are in the Outcome.
	Drive(ctx context.Context, stop <-chan struct{}, t FleetSink) (Outcome, error)
	// Close lets the machines go.
	Close()
}

// A Job is the load of a run, ready to be sent.
type Job struct {
	Spec     plan.Spec // complete: server, model, tokenizer and ids are settled
	Requests workload.List
	Due      iter.Seq[time.Duration] // of those that wait for no answer
	Given    map[string]string       // secrets, by path
	Env      func(name string) (value string, ok bool)
	Read     func(name string) ([]byte, error) // a small file
	Host     string                            // this machine
	Embedded bool                              // the server is the engine inside this process
	MarkKey  *trace.MarkKey                    // answers are marked under it; nil: they are not
}

// FleetSink receives the events of a Fleet. Record may come from many goroutines.
type FleetSink struct {
	Progress *driver.Progress
	Record   func(*trace.Record)
	Note     func(plan.Message)
}

// An Outcome is the result of a Fleet. Its Client is complete.
type Outcome struct {
	driver.Outcome
	Fleet    *trace.Fleet
	ServedBy string
}
