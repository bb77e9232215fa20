package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/run/collect/source"
	"github.com/pitot-bench/pitot/internal/sys/machine"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// A Prepared run is ready to be executed. After Prepare it does not change; Close ends its fleet, connections and
// engine.
type Prepared struct {
	*Deps
	spec   plan.Spec // with all that was left to defaults, the server and the tokenizer
	run    trace.Run // plan and environment
	load   *load
	built  built
	early  []plan.Message // on the first requests, where all are not made yet
	tokens tokens
	named  [2]string // the user's names of the model, not the server's

	target     *target
	listed     []endpoint.Model // by the server
	client     *endpoint.Client
	markKey    *trace.MarkKey // nil: answers are not marked
	marker     *trace.Marker  // likewise
	stopEngine func() error
	engineLag  func() trace.Lag // of the embedded engine since the last call; nil: it has no part in the run

	server    apiserver.Config     // of the engine
	admission *apiserver.Admission // of a simulation
	standIn   *apiserver.Admission // in place of the engine, which is not started for a forecast

	warmUp []workload.Request
	waves  waves // of a warm-up until steady
}

// Prepare checks a Spec, reads its files, asks the server about itself, and draws the
// requests. A mistake in the Spec is plan.Problems, all in one go, and costs no traffic.
// Cancelling ctx ends it with the cause.
func Prepare(ctx context.Context, spec plan.Spec, deps Deps) (*Prepared, error) {
	p := &Prepared{Deps: &deps}
	err := p.check(spec)
	if err == nil {
		err = p.checkStored().Err()
	}
	if err == nil {
		p.load.spool, p.load.window = p.newSpool(), window
		err = p.load.read(ctx, p.files(p.spec.Tokens.Download))
	}
	if err == nil {
		err = p.resolve(ctx)
	}
	if err == nil && p.Fleet != nil {
		err = p.Fleet.Assemble(ctx, p.Job())
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Run is the run before its first request: plan and environment.
func (p *Prepared) Run() trace.Run { return secret.Clean(p.Secrets, p.run) }

// Requests are those that will be sent, in order.
func (p *Prepared) Requests() workload.List { return p.built.work.All() }

// Close closes the connections, lets a fleet go, and stops the engine.
func (p *Prepared) Close() {
	if p.Fleet != nil {
		p.Fleet.Close()
	}
	if p.target != nil {
		p.target.close()
	}
	if p.stopEngine == nil {
		return
	}
	if err := p.stopEngine(); err != nil {
		p.emit(Noted{plan.Msg(engineEnded, "why", err)})
	}
}

// note adds a note to the run, and reports it.
func (p *Prepared) note(code plan.Code, args ...any) { p.addNotes(plan.Msg(code, args...)) }

func (p *Prepared) addNotes(notes ...plan.Message) {
	for _, n := range notes {
		n = p.hide(n)
		p.run.Notes = append(p.run.Notes, n)
		p.emit(Noted{n})
	}
}

func (p *Prepared) hide(m plan.Message) plan.Message {
	return m.Map(func(text string) string { return endpoint.FirstKilobyte(p.Secrets.Hide(text)) })
}

// check checks the form of the Spec and its kinds. The Spec is then complete.
func (p *Prepared) check(spec plan.Spec) error {
	b, err := json.Marshal(spec)
	if err == nil {
		err = json.Unmarshal(b, &p.spec) // a copy of all of it
	}
	if err != nil {
		return err
	}
	p.addSecrets(b)
	p.named = [...]string{p.spec.Request.Root, p.spec.Request.Model}
	p.run.Name, p.run.Env, p.run.Leg = p.spec.Name, p.Machine, p.Leg
	l, problems := check(&p.spec, p.Kinds)
	p.load = l
	if problems == nil {
		problems = p.checkFiles(p.spec.Requests, p.spec.Load[0].Arrival.Kind == atOnce)
	}
	var mistakes plan.Problems
	err = p.engine()
	if errors.As(err, &mistakes) {
		problems, err = append(problems, mistakes...), nil
	}
	return errors.Join(problems.Err(), err)
}

// Check reports problems with the form of a Spec, and with its kinds.
func Check(spec plan.Spec, kinds Kinds) plan.Problems {
	_, problems := check(&spec, kinds)
	return problems
}

func check(spec *plan.Spec, kinds Kinds) (*load, plan.Problems) {
	form := spec.Check()
	l, ofKinds := newLoad(spec, kinds)
	return l, plan.Merge(form, plan.Merge(ofKinds, source.Check(spec.Telemetry)))
}

// addSecrets adds the secrets in a Spec, and those given with it, to the Set.
func (p *Prepared) addSecrets(spec json.RawMessage) {
	if p.Secrets == nil {
		p.Secrets = new(secret.Set)
	}
	p.Secrets.AddJSON(spec)
	for _, value := range p.Given {
		p.Secrets.Add(secret.InHeader(value)...)
	}
}

// checkStored refuses the Spec of a stored run in which a secret was hidden.
func (p *Prepared) checkStored() (problems plan.Problems) {
	const why = "has a secret, " + secret.Mark + ", whose value was not kept; give it again"
	for path, text := range map[string]string{
		"target.url": p.spec.Target.URL, "target.route": p.spec.Target.Route,
		"request.body": string(p.spec.Request.Body), "request.sampling": string(p.spec.Request.Sampling),
	} {
		problems.If(strings.Contains(text, secret.Mark), path, nil, why)
	}
	headers := func(path string, list []plan.Header) {
		for i, h := range list {
			problems.If(strings.Contains(h.Value, secret.Mark), plan.Item(plan.Join(path, "headers"), i), nil, why)
		}
	}
	headers("target", p.spec.Target.Headers)
	headers("request", p.spec.Request.Headers)
	for i, l := range p.spec.Load {
		at := plan.Item("load", i)
		headers(at, l.Headers)
		for j, part := range l.Mix {
			headers(plan.Item(plan.Join(at, "mix"), j), part.Headers)
		}
	}
	return problems
}

// SpareFiles is the number of files that a run opens in addition to its connections.
const SpareFiles = 64

// checkFiles refuses a run that would run out of file descriptors: n requests, at once or
// within the limit of the gate.
func (p *Prepared) checkFiles(n int, atOnce bool) (problems plan.Problems) {
	connections, limit := p.spec.Gate.Concurrency, p.run.Env.FileLimit
	if atOnce && (connections == 0 || connections > n) {
		connections = n
	}
	connections = min(connections, n)
	need, way := uint64(connections+SpareFiles), ""
	if p.run.Env.Embedded {
		need += uint64(connections) // the engine's ends
		way = ", or run the engine in a process of its own (pitot serve)"
	}
	problems.If(connections > 0 && limit > 0 && need > limit && p.admission == nil && p.Fleet == nil, "gate.concurrency", nil,
		"%d connections need about %d open files and the limit is %d; raise `ulimit -n`, or lower the concurrency%s", connections, need, limit, way)
	return problems
}

// resolve asks the server, and builds the requests.
func (p *Prepared) resolve(ctx context.Context) error {
	p.addNotes(p.Notes...)
	if p.admission == nil {
		if err := p.connect(ctx); err != nil {
			return err
		}
	}
	looking, done := context.WithCancel(ctx)
	defer done()
	inspected := p.inspect(looking)
	var err error
	if p.tokens, err = p.findTokens(ctx); err != nil {
		return err
	}
	p.run.Env.Tokenizer, p.run.Env.TokenizerWhy = p.tokens.name, plan.Text(p.tokens.why)
	p.noteTokens()
	p.spec.Request.IDs = cmp.Or(p.spec.Request.IDs, p.newIDs())
	b := p.builder()
	if p.built, err = b.build(ctx); err != nil {
		return err
	}
	if err := p.lookAhead(ctx, b.source.Spool); err != nil {
		return err
	}
	p.addNotes(append(p.built.work.Notes, p.early...)...)
	p.emit(Built{&p.built.work})
	p.digest()
	atOnce := p.built.due.Rate == 0 && !p.built.due.Ramp && p.spec.Load[0].Arrival.Kind != "replay"
	if problems := p.checkFiles(p.Requests().N, atOnce); problems != nil { // a file may have more
		return problems
	}
	if err := p.newClient(ctx); err != nil {
		return err
	}
	if p.warmUp, err = p.drawWarmUp(ctx, b); err == nil {
		inspected(ctx)
	}
	return err
}

// Requests that are made as they are due are looked at before the run as far as the first two limits go. Those that
// would take more of a processor than maxMaking while the run goes on, or more time each where a server decides how
// many are sent, are all made before.
const (
	lookRequests = 256
	lookFor      = 100 * time.Millisecond
	maxMaking    = 0.25
	maxEach      = time.Millisecond
)

// lookAhead makes the first of the requests that are made as they are due, and notes something about them. The same
// about all of them is known at the end.
func (p *Prepared) lookAhead(ctx context.Context, spool *workload.Spool) error {
	w := &p.built.work
	if w.List == nil {
		return nil
	}
	each, err := costOf(ctx, w.All().Cut(lookRequests))
	if err == nil && p.admission == nil && (p.built.rate()*each.Seconds() > maxMaking || each > maxEach) { // a simulation waits
		err = w.MakeAll(ctx, spool)
	}
	if err != nil {
		return err
	}
	if w.Late != nil {
		p.early = w.Late()
	}
	return context.Cause(ctx)
}

// costOf makes requests, for a while, and returns what one takes of a processor: the least of several spells, in which
// the process did little else.
func costOf(ctx context.Context, requests workload.List) (each time.Duration, err error) {
	const spell = 32 // requests
	began, before, made := time.Now(), machine.OwnCPU(), 0
	for i, r := range requests.All() {
		if _, err := r.Unspooled(); err != nil {
			return 0, fmt.Errorf("make request %d: %w", i, err)
		}
		made++
		over := ctx.Err() != nil || time.Since(began) > lookFor || i+1 == requests.N
		if made < spell && !over {
			continue
		}
		now := machine.OwnCPU()
		if cost := (now - before) / time.Duration(made); each == 0 || cost < each && made == spell {
			each = cost
		}
		if over {
			break
		}
		before, made = now, 0
	}
	return each, context.Cause(ctx)
}

// noteLate replaces the notes on the first requests by those on all that were made.
func (x *execution) noteLate() {
	if x.built.work.Late == nil {
		return
	}
	early := func(n plan.Message) bool {
		return slices.ContainsFunc(x.early, func(m plan.Message) bool { return m.Code == n.Code })
	}
	x.run.Notes = slices.DeleteFunc(slices.Clone(x.run.Notes), early) // sinks have read those of before
	for _, n := range x.built.work.Late() {
		x.add(n)
	}
}

// connect starts the embedded engine if there is no other server, waits for the server,
// and asks for its model and version.
func (p *Prepared) connect(ctx context.Context) error {
	base := p.spec.Target.URL
	var err error
	if p.run.Env.Embedded {
		if base, err = p.startEngine(); err != nil {
			return err
		}
	}
	if p.target, err = newTarget(&p.spec, base, &secrets{Deps: p.Deps}); err != nil {
		return err
	}
	if err := p.poll(ctx); err != nil {
		return err
	}
	if err := p.findModel(ctx); err != nil {
		return err
	}
	p.run.Env.Server, _ = p.target.server().Version(ctx) // a server need not have one
	return nil
}

// noteTokens notes prompts that are not made with the tokenizer of the model.
func (p *Prepared) noteTokens() {
	tool := p.spec.Dialect.Name
	switch {
	case p.tokens.local || p.spec.Tokens.Where == noTokens || p.admission != nil:
	case tool != "" && tool != "pitot":
		p.note(otherTokenizer, "tokenizer", cmp.Or(p.spec.Tokens.Where, p.spec.Request.Root), "tool", tool, "server", p.tokens.tok != nil)
	case p.tokens.tok == nil && p.spec.Tokens.Where == "" && !p.load.ask.Text:
		p.note(noTokenizer)
	}
}

// newIDs is the beginning of the x-request-id of every request of a run, by which the logs
// of a server distinguish runs. In a simulation the same Spec gives the same records.
func (p *Prepared) newIDs() string {
	if p.admission != nil {
		return "sim-"
	}
	return "pitot-" + strings.ToLower(rand.Text()[:8]) + "-"
}

func (p *Prepared) builder() *builder {
	source := p.load.source(&part{}, p.files(p.spec.Tokens.Download))
	source.Tokens, source.Local, source.Vocab = p.tokens.tok, p.tokens.local, p.tokens.vocab
	source.Model = cmp.Or(p.spec.Tokens.Where, p.spec.Request.Root)
	if p.target != nil {
		source.Server = p.askingTokenizer()
	}
	source.Local = source.Local || p.admission != nil
	source.InOrder = p.Fleet == nil && !p.Shared
	return &builder{load: p.load, source: *source, headers: p.headers, noTokens: p.tokens.none}
}

// window is the number of requests beyond which they are made as they are due: fewer are made at once, and all that is
// to be noted about them is known before.
const window = 4096

// newSpool is for prompts that are too many for memory, nil where they have to stay there.
func (p *Prepared) newSpool() *workload.Spool {
	if p.Spool == nil {
		return nil
	}
	return workload.NewSpool(p.Spool, spoolLimit)
}

// spoolLimit is the limit of prompts in memory, in bytes.
const spoolLimit = 64 << 20

// headers are the headers of one part, with its key.
func (p *Prepared) headers(path string, own plan.Override) (map[string]string, error) {
	if own.Key == nil && len(own.Headers) == 0 {
		return nil, nil
	}
	s := secrets{Deps: p.Deps}
	all := map[string][]string{}
	err := errors.Join(s.add(all, plan.Join(path, "headers"), own.Headers), s.key(all, plan.Join(path, "key"), own.Key))
	one := map[string]string{}
	for name, values := range all {
		one[name] = values[0]
	}
	return one, err
}

// digest sums up the Spec, for lists and comparisons.
func (p *Prepared) digest() {
	spec, due, url := &p.spec, p.built.due, p.spec.Target.URL
	if p.target != nil {
		url = p.target.base
	}
	p.run.Plan = trace.Load{
		Dialect: cmp.Or(spec.Dialect.Name, "pitot"), URL: url, Protocol: spec.Request.Protocol, Model: spec.Request.Model,
		Stream: spec.Request.Stream, Workload: p.built.what, Requests: p.planned(), Seed: spec.Seed, Arrival: p.built.when,
		Rate: due.Rate, Ramp: due.Ramp, Concurrency: spec.Gate.Concurrency,
		Objectives: slices.Clone(spec.Objectives), Percentiles: slices.Clone(spec.Percentiles), Spec: spec,
	}
}

// planned is the number of requests that the run is to have, 0 where time decides.
func (p *Prepared) planned() int {
	if p.spec.Requests == 0 && p.spec.Duration > 0 {
		return 0
	}
	return p.Requests().N
}

func (p *Prepared) newClient(ctx context.Context) (err error) {
	asked := p.spec.Request
	protocol := endpoint.Protocol(asked.Protocol)
	o := endpoint.Options{
		Protocol: protocol, Model: asked.Model, Stream: asked.Stream, IncludeUsage: asked.Usage != plan.NoUsage, ContinuousUsage: asked.Usage == plan.UsageEach,
		IgnoreEOS: asked.IgnoreEOS, PartsAlways: asked.PartsAlways, MediaFirst: asked.MediaFirst, AsMessages: asked.AsMessages, KeepText: p.spec.KeepText, Secrets: p.Secrets, Count: p.tokens.count,
		NullOmits: !p.foreign(),
		Recount:   endpoint.Recount{Answer: asked.Recount.Answer, Reasoning: asked.Recount.Reasoning, Last: asked.Recount.Last},
		MaxEvent:  p.spec.Client.MaxEvent << 20, MaxBody: p.spec.Client.MaxBody << 20,
	}
	if err = p.markAnswers(protocol); err != nil {
		return err
	}
	o.Marker = p.marker
	if o.Extra, err = fields("request.body", asked.Body); err != nil {
		return err
	}
	if o.Sampling, err = fields("request.sampling", asked.Sampling); err != nil {
		return err
	}
	var carrier endpoint.Transport
	if p.target != nil {
		carrier = p.target.transport
		o.URL = p.target.base + cmp.Or(p.spec.Target.Route, protocol.PathOf(asked.Stream))
		o.Header = p.target.requests
		o.Recount.Chunks = p.drafts(ctx)
	}
	if p.client, err = endpoint.New(carrier, o); err != nil {
		return plan.Problems{{Path: "request.body", Why: err.Error()}}
	}
	return nil
}

// markAnswers finds the key under which answers are marked, of a protocol that has some. Simulated ones say nothing
// unless the profile has them vary.
func (p *Prepared) markAnswers(of endpoint.Protocol) error {
	if p.MarkKey == nil || of.Silent() || p.spec.Target.Simulated && p.server.Answers == nil {
		return nil
	}
	key, err := p.MarkKey()
	if err != nil {
		return err
	}
	p.markKey, p.marker = &key, trace.NewMarker(key)
	p.run.MarkedBy = p.marker.ID()
	return nil
}

func fields(path string, raw json.RawMessage) (all map[string]json.RawMessage, err error) {
	if raw == nil {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, plan.Problems{{Path: path, Why: fmt.Sprintf("must be an object: %v", err)}}
	}
	return all, nil
}
