package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/sim"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/driver"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// simCmd is `pitot sim`: what `pitot bench` does with its embedded engine,
// without the server and the wait. Every flag is also a key of the --config file.
type simCmd struct {
	Config string `placeholder:"FILE" help:"YAML file of the same settings; flags override it."`

	askSettings     `embed:"" group:"Requests:"`
	requestSettings `embed:"" group:"Requests:"`
	loadSettings    `embed:"" group:"Load:"`
	outputSettings  `embed:"" group:"Results:"`
	profileSetting  `embed:"" group:"Engine:"`
	Engine          engineSettings `embed:"" prefix:"engine-" group:"Engine:"` // but see bareEngineFlags
}

// bareEngineFlags gives the engine's flags of `pitot sim` the names that they
// have in `pitot serve`, where those are not taken; the names of `pitot bench`
// go on working. What has no meaning in virtual time is not shown, nor the protocols
// that are not spoken there.
func bareEngineFlags(k *kong.Kong) error {
	i := slices.IndexFunc(k.Model.Children, func(n *kong.Node) bool { return n.Name == "sim" })
	flags := k.Model.Children[i].Flags
	for _, f := range flags {
		f.Hidden = f.Hidden || f.Name == "engine-fault" || f.Name == "keep-text" || f.Name == "require-valid"
		if f.Name == "protocol" {
			f.Help = "completions, chat or generate (SGLang's own). Default: completions, or chat for random-mm and conversations."
		}
		bare, ours := strings.CutPrefix(f.Name, "engine-")
		if ours && !slices.ContainsFunc(flags, func(other *kong.Flag) bool { return other.Name == bare }) {
			f.Name, f.Aliases = bare, append(f.Aliases, f.Name)
		}
	}
	return nil
}

// simIDs begin the ids of simulated requests: nobody else sees them, and the
// same command line is to give the same records.
const simIDs = "sim-"

// Run simulates.
func (c simCmd) Run(p *Process, k *kong.Context) error {
	b := &benchCmd{
		targetSettings: targetSettings{askSettings: c.askSettings}, requestSettings: c.requestSettings,
		loadSettings: c.loadSettings, outputSettings: c.outputSettings, profileSetting: c.profileSetting, Engine: c.Engine,
		enginePrefix: "--",
	}
	if err := errors.Join(b.checkGiven(k, p.Args), c.check(), b.complete()); err != nil {
		return err
	}
	b.idPrefix = simIDs
	s, err := p.newSession(c.Store)
	if err != nil {
		return err
	}
	defer s.close()
	b.spool = s.spool
	s.quiet, s.target = c.Quiet, new(target)
	s.run.Plan.Settings = b.settings(k)
	s.run.Env.Profile = b.stoodFor()
	t, stored, err := b.simulate(s)
	if err != nil {
		return err
	}
	_, release := p.untilInterrupt(context.Background()) // one interrupt must not leave the run half kept
	defer release()
	printed := p.printReports(t, metrics.Summarize(t, metrics.Options{}), c.Report, c.Form)
	if err = stored(); err == nil {
		s.kept()
	}
	return errors.Join(printed, err, ended(t))
}

// check refuses what makes no sense in virtual time.
func (c simCmd) check() error {
	var errs []error
	if c.KeepText {
		errs = append(errs, usagef("--keep-text: a simulated answer has no text"))
	}
	if p := endpoint.Protocol(c.Protocol); !slices.Contains([]endpoint.Protocol{"", endpoint.Completions, endpoint.Chat, endpoint.Generate}, p) {
		errs = append(errs, usagef("--protocol %s: a simulation speaks completions, chat and generate; pitot bench without --url has the engine answer in the others", p))
	}
	if len(c.Engine.Fault) > 0 {
		errs = append(errs, usagef("--fault: nothing is sent that could go wrong; faults are for pitot serve and pitot bench"))
	}
	return errors.Join(errs...)
}

// simulate makes the run. It is written to the store meanwhile: stored waits for
// that.
func (c *benchCmd) simulate(s *session) (t *trace.Trace, stored func() error, err error) {
	ctx, release := s.untilInterrupt(context.Background())
	defer release()
	model, err := c.server.NewModel()
	if err != nil {
		return nil, nil, usage(err)
	}
	var requests []sim.Request
	err = s.resolving(ctx, func(ctx context.Context) (err error) {
		requests, err = c.foresee(ctx, s)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	s.run.ID, s.run.Kind, s.run.Started = newRunID(time.Now()), trace.Simulated, time.Now()
	native := c.Protocol == string(endpoint.Generate)
	out := sim.Run(model, sim.Plan{
		Requests: requests, Schedule: s.schedule, Concurrency: c.Concurrency, Hold: c.Hold, Stream: !c.NoStream,
		Chat: c.Protocol == string(endpoint.Chat), Native: native, Accept: native && c.server.Drafts() > 0, Stop: func() bool { return ctx.Err() != nil },
	})
	if !c.NoStream && !c.TokenUsage && !native {
		forgetCounts(out.Records)
	}
	counted, err := endpoint.ParseMetrics(c.server.Metrics(out.Load))
	if err != nil {
		return nil, nil, err
	}
	s.run.ServerCounters, s.run.AcceptLength = countersAmong(counted), c.server.AcceptLength(out.Load)
	s.run.End, s.run.Status = out.End, trace.Complete
	s.run.ServerCounters["vllm:request_queue_time_seconds_sum"] = out.Queued.Seconds()
	s.run.ServerCounters["vllm:request_queue_time_seconds_count"] = float64(out.Done)
	if out.Stopped {
		s.run.Status = trace.Interrupted
	}
	s.run.Verdict = &trace.Verdict{Validity: trace.Valid} // there is no client to be in the way
	return &trace.Trace{Run: s.run, Records: out.Records}, s.keep(out.Records), nil
}

// forgetCounts leaves out the tokens of each chunk, which a stream tells with
// --token-usage alone: there are figures that depend on whether they are known.
func forgetCounts(records []*trace.Record) {
	for _, r := range records {
		for i := range r.Chunks {
			r.Chunks[i].Tokens = 0
		}
	}
}

// keep writes the run beside what else is to be done; the function it returns
// waits for that.
func (s *session) keep(records []*trace.Record) (wait func() error) {
	done := make(chan error, 1)
	go func() {
		writer, err := s.store.Create(s.run)
		if err == nil {
			for _, r := range records {
				writer.Append(r)
			}
			err = writer.Finish(s.run)
		}
		done <- err
	}()
	return func() error { return <-done }
}

// foresee builds the workload and the schedule, and finds out what the server
// would make of each request.
func (c *benchCmd) foresee(ctx context.Context, s *session) ([]sim.Request, error) {
	intake, err := apiserver.NewIntake(c.server)
	if err != nil {
		return nil, usage(err)
	}
	model := cmp.Or(c.Model, intake.Model())
	if names := intake.Models(); !slices.Contains(names, model) {
		return nil, usagef("--model %s: the engine serves %s", model, strings.Join(names, ", "))
	}
	s.download = c.HFDownload
	tok, err := c.simTokens(ctx, s.Process, intake)
	if err != nil {
		return nil, err
	}
	s.run.Env.Tokenizer = tok.name
	w, err := c.build(ctx, s, tok)
	if err != nil {
		return nil, err
	}
	s.take(w)
	if err := c.plan(s, model); err != nil {
		return nil, err
	}
	client, err := endpoint.New(nil, endpoint.Options{
		Protocol: endpoint.Protocol(c.Protocol), Model: model, Stream: !c.NoStream, IncludeUsage: true, ContinuousUsage: c.TokenUsage, IgnoreEOS: *c.IgnoreEOS,
	})
	if err != nil {
		return nil, usage(err)
	}
	return c.askAll(ctx, client, intake, s.requests)
}

// askAll is asked for all requests, on each processor for some of the conversations:
// what a request asks depends on the answers before it.
func (c *benchCmd) askAll(ctx context.Context, client *endpoint.Client, intake *apiserver.Intake, requests []workload.Request) ([]sim.Request, error) {
	a := asker{benchCmd: c, client: client, intake: intake, requests: requests, followers: map[int][]int{}, out: make([]sim.Request, len(requests))}
	for i := range requests {
		if after := requests[i].After; after != 0 {
			a.followers[after-1] = append(a.followers[after-1], i)
		}
	}
	var parts errgroup.Group
	size := max(1, (len(requests)+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for from := 0; from < len(requests); from += size {
		parts.Go(func() error {
			for i := from; i < min(from+size, len(requests)) && ctx.Err() == nil; i++ {
				if requests[i].After != 0 {
					continue
				}
				if err := a.ask(i, &requests[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return a.out, parts.Wait()
}

// An asker finds out what the server would make of the requests of a workload.
type asker struct {
	*benchCmd
	client    *endpoint.Client
	intake    *apiserver.Intake
	requests  []workload.Request
	followers map[int][]int // by the request whose answer they wait for
	out       []sim.Request
}

// ask asks request i, with what it remembers, and then what waits for its answer.
func (a *asker) ask(i int, req *workload.Request) error {
	taken, err := a.take(req)
	if err != nil {
		return fmt.Errorf("request %d: %w", i, err)
	}
	a.out[i] = sim.Request{
		ID: req.ID, PromptTokens: req.PromptTokens, VisionTokens: req.VisionTokens, WantTokens: req.OutputTokens, Job: taken.Job, Finish: taken.Finish,
		Status: taken.Status, Refused: endpoint.Redact(string(taken.Refused), nil),
		Tenant: req.Tenant, Session: req.Session, Number: req.Number, After: req.After, Think: req.Think,
	}
	for _, follower := range a.followers[i] {
		next := a.requests[follower]
		if err := driver.Remember(&next, req, taken.Text()); err != nil {
			return fmt.Errorf("request %d: %w", follower, err)
		}
		if err := a.ask(follower, &next); err != nil {
			return err
		}
	}
	return nil
}

// take is what the server would make of a request. Bodies are read only where there
// may be something in them that a prompt and a length do not say.
func (a *asker) take(req *workload.Request) (apiserver.Taken, error) {
	c, intake := a.benchCmd, a.intake
	req, err := req.Whole()
	if err != nil {
		return apiserver.Taken{}, err
	}
	plain := c.Protocol != string(endpoint.Chat) && (c.Model == "" || c.Model == intake.Model()) &&
		req.OutputTokens > 0 && req.Extra == nil && req.Model == "" && req.Messages == nil && req.Media == nil
	switch {
	case plain && len(req.Tokens) > 0:
		return intake.Tokens(req.Tokens, req.OutputTokens, *c.IgnoreEOS), nil
	case plain && req.Text != "" && utf8.ValidString(req.Text):
		return intake.Text(req.Text, req.OutputTokens, *c.IgnoreEOS), nil
	}
	body, err := a.client.Encode(req)
	if err != nil {
		return apiserver.Taken{}, err
	}
	return intake.Body(body, c.Protocol), nil
}

// An engineTokenizer is what /tokenize and /detokenize of the engine do.
type engineTokenizer struct{ *apiserver.Intake }

func (t engineTokenizer) Encode(_ context.Context, text string, _ bool) ([]int32, error) {
	return t.Intake.Encode(text), nil
}

func (t engineTokenizer) Decode(_ context.Context, ids []int32) (string, error) {
	return t.Intake.Decode(ids)
}

// simTokens settles where prompt lengths come from, as findTokens does where the
// server is the embedded engine.
func (c *benchCmd) simTokens(ctx context.Context, p *Process, intake *apiserver.Intake) (tokens, error) {
	switch c.Tokenizer {
	case "none":
		return tokens{name: noTokenizer, vocab: workload.Vocabulary{Size: c.VocabSize}}, nil
	case "", "server":
		return tokens{name: plan.Say("tokenizer.engine"), tok: engineTokenizer{intake}, vocab: workload.Vocabulary{Size: c.VocabSize}}, nil
	}
	return p.loadTokens(ctx, c.Tokenizer)
}
