package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// Run measures.
func (c benchCmd) Run(p *Process, k *kong.Context) error {
	if err := errors.Join(c.checkGiven(k, p.Args), c.complete()); err != nil {
		return err
	}
	s, err := p.newSession(c.Store)
	if err != nil {
		return err
	}
	defer s.close()
	c.spool = s.spool
	s.quiet, s.profile, s.procs = c.Quiet, c.Profiler, c.Procs
	s.run.Plan.Settings = c.settings(k)
	s.run.Env.Embedded = c.URL == ""
	s.run.Env.Profile = c.stoodFor()
	if err := c.checkFileLimit(s.run.Env, c.Requests); err != nil { // before anything is drawn
		return err
	}
	ctx := context.Background()
	if c.URL == "" {
		stop, err := c.embedEngine(ctx, s)
		if err != nil {
			return err
		}
		defer stop()
	}
	if err := s.resolving(ctx, func(ctx context.Context) error { return c.resolve(ctx, s) }); err != nil {
		return err
	}
	t, err := s.execute(ctx)
	if t == nil {
		return err
	}
	printed := p.printReports(t, s.summary, c.Report, c.Form)
	if !slices.Contains(c.Report, "pitot") {
		p.warn(s.summary.Health)
	}
	if err == nil {
		s.kept()
	}
	return errors.Join(printed, err, ended(t), required(c.RequireValid, s.summary.Health))
}

// settings are the texts of all settings, with the profile that was chosen.
func (c *benchCmd) settings(k *kong.Context) map[string]string {
	texts := flagTexts(k)
	if c.deployment != nil {
		texts["profile"] = cmp.Or(string(c.Profile), c.deployment.Name)
	}
	return texts
}

// ended is errInterrupted for a run that was ended early.
func ended(t *trace.Trace) error {
	if t.Run.Status == trace.Interrupted {
		return errInterrupted
	}
	return nil
}

func (c *benchCmd) random() workload.Random {
	r := workload.Random{
		Requests: c.Requests, Input: c.InputLen.fixed, Output: c.OutputLen.fixed, InputRange: c.InputRange, OutputRange: c.OutputRange,
		Prefix: c.PrefixLen, Seed: c.seed(), IDPrefix: c.idPrefix, Exact: true, Names: randomNames, Spool: c.spool,
	}
	if c.grouped() { // texts are put together: they have to be there
		r.Requests, r.Spool = c.Requests*c.textsEach(), nil
	}
	return r
}

// randomNames are the flags of the settings of a random workload.
var randomNames = map[string]string{
	"requests": "--requests", "input length": "--input-len", "input range": "--input-range", "prefix length": "--prefix-len",
	"output length": "--output-len", "output range": "--output-range",
	"items": "--images", "items range": "--image-range", "buckets": "--image-sizes",
}

func (c *benchCmd) randomMM() (workload.RandomMM, error) {
	sizes, err := workload.ParseSizes(c.ImageSizes)
	if err != nil {
		return workload.RandomMM{}, fmt.Errorf("--image-sizes: %w", err)
	}
	return workload.RandomMM{
		Random: c.random(), Items: c.Images, ItemsRange: c.ImageRange, Limits: workload.DefaultLimits(), Buckets: sizes,
	}, nil
}

// newIDPrefix begins the x-request-id of every request of a run, so that the
// logs of a server tell runs apart.
func newIDPrefix() string { return "pitot-" + strings.ToLower(rand.Text()[:8]) + "-" }

// stoodFor is the profile of the embedded engine; nil without one.
func (c *benchCmd) stoodFor() *trace.Profile {
	if p := c.deployment; p != nil {
		return &trace.Profile{Name: p.Name, Error: p.Accuracy(), Text: p.Text}
	}
	return nil
}

// embedEngine starts the engine in this process, on loopback.
func (c *benchCmd) embedEngine(ctx context.Context, s *session) (stop func(), err error) {
	c.server.Precise = s.Alone
	server, err := apiserver.New(c.server)
	if err != nil {
		return nil, usage(err)
	}
	l, err := s.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the embedded engine: %w", err)
	}
	c.URL = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l, nil) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			s.sayf("note: the embedded engine ended with: %v", err)
		}
	}, nil
}

// resolve finds out what only the server can tell and builds the session.
func (c *benchCmd) resolve(ctx context.Context, s *session) error {
	r, err := c.reach(s.Process)
	if err != nil {
		return err
	}
	if s.target, err = s.newTarget(c.URL, r); err != nil {
		return err
	}
	s.target.own, s.download = s.run.Env.Embedded, c.HFDownload
	s.patience, s.patienceFlag = c.patience(s.run.Env.Embedded), "--ready-timeout TIME"
	list, err := s.models(ctx)
	if gone := s.unreachable(err); gone != nil {
		return gone
	}
	model, names, err := choose(list, err, c.Model)
	if err != nil && c.protocol().NamesModel() {
		return err
	}
	s.run.Env.Models = names
	s.run.Env.Server, _ = s.target.server().Version(ctx) // a server need not have one
	tok, err := s.findTokens(ctx, c.Tokenizer, true, s.target, model.ID, c.VocabSize)
	if err != nil {
		return err
	}
	s.run.Env.Tokenizer, s.run.Env.TokenizerWhy = tok.name, plan.Text(tok.why)
	if tok.tok == nil && c.Tokenizer == "" && !c.needsText() {
		s.notef("prompts are counted as token ids: no --tokenizer is named, and the server has no /tokenize that works")
	}
	w, err := c.build(ctx, s, tok)
	if err != nil {
		return err
	}
	s.take(w)
	if err := c.plan(s, model.ID); err != nil {
		return err
	}
	if err := c.checkFileLimit(s.run.Env, len(s.requests)); err != nil { // a file may have held more than was asked for
		return err
	}
	return c.connect(ctx, s, tok, model.ID)
}

// defaultReady is how long a server that accepts connections may take until it
// answers a first request.
const defaultReady = 30 * time.Second

// patience is how long to wait for a server that does not accept connections:
// only as long as was asked for, since mostly the address is wrong. The embedded
// engine is sure to come, and may refuse connections on purpose.
func (c *benchCmd) patience(embedded bool) time.Duration {
	switch {
	case embedded:
		return defaultReady
	case c.ReadyTimeout == nil:
		return 0
	}
	return *c.ReadyTimeout
}

// plan fixes the schedule and writes down what was asked.
func (c *benchCmd) plan(s *session, model string) error {
	slos, err := parseSLOs(c.SLO)
	if err != nil {
		return err
	}
	load, err := c.load(s.requests)
	if err != nil {
		return err
	}
	if load.requests < len(s.requests) {
		s.notef("the replay has fewer times than there are requests: the last %d requests are not sent", len(s.requests)-load.requests)
	}
	s.schedule, s.requests, s.hold = load.schedule, s.requests[:load.requests], c.Hold
	s.run.Name = c.Name
	s.run.Plan = trace.Plan{
		Dialect: "pitot", URL: c.URL, Protocol: c.Protocol, Model: model, Stream: !c.NoStream,
		Workload: plan.Text(c.describeWorkload(len(s.requests))), Requests: len(s.requests), Seed: uint64(c.Seed),
		Arrival: plan.Text(load.description), Rate: load.rate, Ramp: c.Ramp != "", Concurrency: c.Concurrency,
		Objectives: slos, Percentiles: c.Percentiles, Settings: s.masked(s.run.Plan.Settings),
	}
	s.run.Env.Invocation = s.maskedArgs()
	return nil
}

// checkFileLimit refuses a plan of n requests that is bound to run out of files.
func (c *benchCmd) checkFileLimit(env trace.Environment, n int) error {
	return enoughFiles(trace.Plan{Requests: n, Concurrency: c.Concurrency}, env, c.kind() == "at-once")
}

// spread is the share by which a length may differ, in words.
func spread(share float64) string {
	if share == 0 {
		return ""
	}
	return fmt.Sprintf("±%.4g %%", 100*share)
}

// connect makes the client and the requests that precede the run.
func (c *benchCmd) connect(ctx context.Context, s *session, tok tokens, model string) (err error) {
	extra, err := c.extraBody()
	if err != nil {
		return err
	}
	s.keepText = c.KeepText
	extra, sampling, err := c.sampling(extra)
	if err != nil {
		return err
	}
	s.client, err = endpoint.New(s.target.transport, endpoint.Options{
		Protocol: c.protocol(), URL: s.target.base + c.route(), Model: model, Header: s.target.header,
		Stream: !c.NoStream, IncludeUsage: true, ContinuousUsage: c.TokenUsage, IgnoreEOS: *c.IgnoreEOS, Extra: extra, Sampling: sampling,
		KeepText: c.KeepText, Count: tok.count, Secrets: s.target.secrets,
	})
	if err != nil {
		return usage(err)
	}
	limit := defaultReady
	if c.ReadyTimeout != nil {
		limit = *c.ReadyTimeout
	}
	if limit > 0 {
		ready := c.small("Hello", 1, s.requests)
		s.ready, s.readyLimit = &ready, limit
	}
	return c.warmUp(ctx, s, tok)
}

// warmUp draws the warm-up prompts: the measured ones if asked for, else others
// of the same kind from another seed, and for files a plain text.
func (c *benchCmd) warmUp(ctx context.Context, s *session, tok tokens) error {
	switch {
	case c.WarmupMeasured:
		s.warmup = firstTurns(s.requests, c.Warmup)
	case c.Warmup > 0 && c.drawn() && !c.manyParts():
		other := *c
		other.otherPrompts = true
		other.arrive(c.Warmup)
		w, err := other.build(ctx, s, tok)
		s.warmup = firstTurns(w.Requests, c.Warmup)
		return err
	default:
		for i := range c.Warmup {
			s.warmup = append(s.warmup, c.small(fmt.Sprintf("Warm-up request %d: say something.", i), 16, s.requests))
		}
	}
	return nil
}

// firstTurns are up to n of the requests, none of which remembers another.
func firstTurns(requests []workload.Request, n int) (first []workload.Request) {
	for _, r := range requests {
		if r.After == 0 && len(first) < n {
			r.Followed = false
			first = append(first, r)
		}
	}
	return first
}

// flagTexts are the values of the flags of a command, in text.
func flagTexts(k *kong.Context) map[string]string {
	texts := map[string]string{}
	for _, f := range k.Flags() {
		v := reflect.Indirect(f.Target)
		switch {
		case f.Name == "help" || f.Name == "config":
		case f.Name == "header":
			var pairs []string
			for _, pair := range v.Interface().([]string) {
				pairs = append(pairs, maskHeader(pair))
			}
			texts[f.Name] = fmt.Sprint(pairs)
		case v.IsValid():
			texts[f.Name] = fmt.Sprint(v)
		default:
			texts[f.Name] = "" // left to its default
		}
	}
	return texts
}
