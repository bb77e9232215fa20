package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/endpoint"
	"github.com/pitot-bench/pitot/internal/engine"
	"github.com/pitot-bench/pitot/internal/trace"
	"github.com/pitot-bench/pitot/internal/workload"
)

// Run measures.
func (c benchCmd) Run(p *Process, k *kong.Context) error {
	if err := c.complete(); err != nil {
		return err
	}
	s, err := p.newSession(c.Store)
	if err != nil {
		return err
	}
	defer s.close()
	s.quiet, s.profile = c.Quiet, c.Profile
	s.run.Plan.Settings = flagTexts(k)
	s.run.Env.Embedded = c.URL == ""
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
	if err := c.resolve(ctx, s); err != nil {
		return err
	}
	t, err := s.execute(ctx)
	if t == nil {
		return err
	}
	return errors.Join(p.printReports(t, c.Report, s), err, ended(t))
}

// ended is errInterrupted for a run that was ended early.
func ended(t *trace.Trace) error {
	if t.Run.Status == trace.Interrupted {
		return errInterrupted
	}
	return nil
}

// complete fills in the defaults that depend on other settings, and reports
// everything wrong with them at once.
func (c *benchCmd) complete() error {
	random := c.Workload == "random" || c.Workload == "random-mm"
	if c.Requests == 0 && c.Workload != "custom" {
		c.Requests = 100
	}
	if c.OutputLen == 0 && random {
		c.OutputLen = 64
	}
	if c.IgnoreEOS == nil {
		c.IgnoreEOS = &random
	}
	if c.Protocol == "" {
		c.Protocol = string(endpoint.Completions)
		if c.Workload == "random-mm" {
			c.Protocol = string(endpoint.Chat)
		}
	}
	err := errors.Join(c.checkTarget(), c.checkRequests(random), c.check(c.Data != ""), c.checkOrder())
	if err == nil {
		err = c.checkFiles()
	}
	return err
}

// checkFiles reads the files before anything is sent.
func (c *benchCmd) checkFiles() error {
	var errs []error
	if c.Replay != "" && c.Replay != "data" {
		_, err := readTimes(c.Replay)
		errs = append(errs, named("--replay", c.Replay, err))
	}
	switch c.Workload {
	case "sharegpt":
		errs = append(errs, checkFile("--data", c.Data, c.shareGPT().Check))
	case "custom":
		errs = append(errs, checkFile("--data", c.Data, c.custom().Check))
	}
	return errors.Join(errs...)
}

// checkFile lets check read a file that a flag names.
func checkFile(flag, name string, check func(io.Reader) error) error {
	file, err := os.Open(name)
	if err != nil {
		return usagef("%s: %w", flag, err)
	}
	defer file.Close()
	return named(flag, name, check(file))
}

// named puts a flag and its file before an error, if there is one. Errors of the
// file system name the file themselves.
func named(flag, name string, err error) error {
	var path *fs.PathError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &path):
		return usagef("%s: %w", flag, err)
	}
	return usagef("%s %s: %w", flag, name, err)
}

func (c *benchCmd) checkTarget() error {
	var errs []error
	if c.URL != "" {
		base, err := parseBase(c.URL)
		c.URL, errs = base, append(errs, err)
	}
	if c.Timeout < 0 || c.IdleTimeout < 0 {
		errs = append(errs, usagef("--timeout and --idle-timeout must not be negative"))
	}
	_, err := c.extraBody()
	return errors.Join(append(errs, err)...)
}

func (c *benchCmd) checkRequests(random bool) error {
	var errs []error
	bad := func(cond bool, format string, a ...any) {
		if cond {
			errs = append(errs, usagef(format, a...))
		}
	}
	bad(!random && c.Requests < 0, "--requests %d: must not be negative", c.Requests)
	bad(random && c.Data != "", "--data: a %s workload reads no file; for a file use --workload sharegpt or custom", c.Workload)
	bad(!random && c.Data == "", "--workload %s needs --data FILE", c.Workload)
	bad(c.VocabSize < 2, "--vocab-size %d: must be at least 2", c.VocabSize)
	bad(c.Workload == "random-mm" && c.Protocol != string(endpoint.Chat), "--workload random-mm sends pictures and needs --protocol chat")
	bad(!random && c.OutputLen < 0, "--output-len %d: must not be negative", c.OutputLen)
	switch c.Workload {
	case "random":
		errs = append(errs, usage(c.random().Validate()))
	case "random-mm":
		r, err := c.randomMM()
		if err == nil {
			err = r.Validate()
		}
		errs = append(errs, usage(err))
	}
	return errors.Join(errs...)
}

func (c *benchCmd) checkOrder() error {
	var errs []error
	if c.Warmup < 0 {
		errs = append(errs, usagef("--warmup %d: must not be negative", c.Warmup))
	}
	for _, p := range c.Percentiles {
		if !(p > 0 && p < 100) {
			errs = append(errs, usagef("--percentiles %v: must be between 0 and 100", p))
		}
	}
	_, err := parseSLOs(c.SLO)
	return errors.Join(append(errs, err)...)
}

func (c *benchCmd) random() workload.Random {
	r := workload.Random{
		Requests: c.Requests, Input: c.InputLen, Output: c.OutputLen, InputRange: c.InputRange, OutputRange: c.OutputRange,
		Prefix: c.PrefixLen, Seed: uint64(c.Seed), IDPrefix: idPrefix, Names: randomNames,
	}
	if c.otherPrompts {
		r.Seed |= 1 << 32 // beyond the seeds that can be asked for
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

// idPrefix begins the x-request-id of every request.
const idPrefix = "pitot-"

// embedEngine starts the engine in this process, on loopback.
func (c *benchCmd) embedEngine(ctx context.Context, s *session) (stop func(), err error) {
	server, err := engine.New(c.Engine.config())
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
	ctx, release := s.untilInterrupt(ctx)
	defer release()
	model, names, err := s.target.models(ctx, c.Model)
	if err != nil {
		return err
	}
	s.run.Env.Models = names
	s.run.Env.Server, _ = s.target.server().Version(ctx) // a server need not have one
	tok, err := s.findTokens(ctx, c.Tokenizer, true, s.target, model.ID, c.VocabSize)
	if err != nil {
		return err
	}
	s.run.Env.Tokenizer = tok.name
	w, err := c.build(ctx, tok)
	if err != nil {
		return err
	}
	s.requests, s.run.Notes = w.Requests, append(s.run.Notes, w.Notes...)
	if err := c.plan(s, model.ID); err != nil {
		return err
	}
	return c.connect(ctx, s, tok, model.ID)
}

// build draws or reads the requests.
func (c *benchCmd) build(ctx context.Context, tok tokens) (workload.Workload, error) {
	chat := c.Protocol == string(endpoint.Chat)
	if chat && tok.tok == nil && c.Workload != "custom" {
		return workload.Workload{}, usagef("the chat protocol takes no token ids, and nothing here can turn them into text: name a tokenizer file with --tokenizer, or use --protocol completions")
	}
	switch c.Workload {
	case "random":
		return c.random().Build(ctx, tok.vocab, tok.tok)
	case "random-mm":
		r, err := c.randomMM()
		if err != nil {
			return workload.Workload{}, err
		}
		return r.Build(ctx, tok.vocab, tok.tok)
	}
	file, err := os.Open(c.Data)
	if err != nil {
		return workload.Workload{}, usagef("--data: %w", err)
	}
	defer file.Close()
	var w workload.Workload
	if c.Workload == "sharegpt" {
		w, err = c.shareGPT().Build(ctx, file, tok.tok)
	} else {
		w, err = c.custom().Build(ctx, file, tok.tok)
	}
	if err != nil {
		return w, named("--data", c.Data, err)
	}
	if !chat && slices.ContainsFunc(w.Requests, func(r workload.Request) bool { return r.Messages != nil }) {
		return w, usagef("--data %s holds messages, which need --protocol chat", c.Data)
	}
	return w, nil
}

func (c *benchCmd) shareGPT() workload.ShareGPT {
	return workload.ShareGPT{
		Requests: c.Requests, Output: c.OutputLen, Seed: uint64(c.Seed), NoOversample: c.NoOversample, IDPrefix: idPrefix,
	}
}

func (c *benchCmd) custom() workload.Custom {
	return workload.Custom{
		Requests: c.Requests, Output: c.OutputLen, Shuffle: c.Shuffle, Seed: uint64(c.Seed), NoOversample: c.NoOversample,
		IDPrefix: idPrefix, NeedTime: c.Replay == "data",
	}
}

// plan fixes the schedule and writes down what was asked.
func (c *benchCmd) plan(s *session, model string) error {
	slos, err := parseSLOs(c.SLO)
	if err != nil {
		return err
	}
	load, err := c.schedule(s.requests, c.Seed)
	if err != nil {
		return err
	}
	s.schedule, s.requests = load.schedule, s.requests[:load.requests]
	s.run.Name = c.Name
	s.run.Plan = trace.Plan{
		Dialect: "pitot", URL: c.URL, Protocol: c.Protocol, Model: model, Stream: !c.NoStream,
		Workload: c.describeWorkload(len(s.requests)), Requests: len(s.requests), Seed: uint64(c.Seed),
		Arrival: load.description, Rate: load.rate, Concurrency: c.Concurrency,
		Objectives: slos, Percentiles: c.Percentiles, Settings: s.masked(s.run.Plan.Settings),
	}
	s.run.Env.Invocation = s.maskedArgs()
	return c.checkFileLimit(s.run.Env, len(s.requests)) // a file may have held more than was asked for
}

// checkFileLimit refuses a plan of n requests that is bound to run out of files.
func (c *benchCmd) checkFileLimit(env trace.Environment, n int) error {
	return checkFiles(trace.Plan{Requests: n, Concurrency: c.Concurrency}, env, c.kind() == "at-once")
}

func (c *benchCmd) describeWorkload(n int) string {
	switch c.Workload {
	case "random", "random-mm":
		text := fmt.Sprintf("%s %d→%d tokens", c.Workload, c.InputLen, c.OutputLen)
		if c.PrefixLen > 0 {
			text += fmt.Sprintf(", prefix %d", c.PrefixLen)
		}
		return fmt.Sprintf("%s, %d requests", text, n)
	}
	return fmt.Sprintf("%s %s, %d requests", c.Workload, c.Data, n)
}

// connect makes the client and the requests that precede the run.
func (c *benchCmd) connect(ctx context.Context, s *session, tok tokens, model string) (err error) {
	extra, err := c.extraBody()
	if err != nil {
		return err
	}
	protocol := endpoint.Protocol(c.Protocol)
	route := c.Endpoint
	if route == "" {
		route = protocol.Path()
	}
	s.client, err = endpoint.New(s.target.transport, endpoint.Options{
		Protocol: protocol, URL: s.target.base + route, Model: model, Header: s.target.header,
		Stream: !c.NoStream, IncludeUsage: true, ContinuousUsage: c.TokenUsage, IgnoreEOS: *c.IgnoreEOS, Extra: extra,
		KeepText: c.KeepText, Count: tok.count, Secrets: s.target.secrets,
	})
	if err != nil {
		return usage(err)
	}
	if c.ReadyTimeout > 0 {
		s.ready, s.readyLimit = &workload.Request{Text: "Hello", OutputTokens: 1}, c.ReadyTimeout
	}
	return c.warmUp(ctx, s, tok)
}

// warmUp draws the warm-up prompts: the measured ones if asked for, else others
// of the same kind from another seed, and for files a plain text.
func (c *benchCmd) warmUp(ctx context.Context, s *session, tok tokens) error {
	switch {
	case c.WarmupMeasured:
		s.warmup = slices.Clone(s.requests[:min(c.Warmup, len(s.requests))])
	case c.Warmup > 0 && (c.Workload == "random" || c.Workload == "random-mm"):
		other := *c
		other.Requests, other.otherPrompts = c.Warmup, true
		w, err := other.build(ctx, tok)
		s.warmup = w.Requests
		return err
	default:
		for i := range c.Warmup {
			s.warmup = append(s.warmup, workload.Request{Text: fmt.Sprintf("Warm-up request %d: say something.", i), OutputTokens: 16})
		}
	}
	return nil
}

// masked hides secrets in settings.
func (s *session) masked(settings map[string]string) map[string]string {
	for name, text := range settings {
		settings[name] = hide(text, s.target.secrets)
	}
	return settings
}

// maskedArgs are the process's arguments without secrets.
func (s *session) maskedArgs() []string {
	args := slices.Clone(s.Args)
	for i := range args {
		args[i] = hide(args[i], s.target.secrets)
	}
	return args
}

func hide(text string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// flagTexts are the values of the flags of a command, in text.
func flagTexts(k *kong.Context) map[string]string {
	texts := map[string]string{}
	for _, f := range k.Flags() {
		v := reflect.Indirect(f.Target)
		switch {
		case f.Name == "help" || f.Name == "config":
		case v.IsValid():
			texts[f.Name] = fmt.Sprint(v)
		default:
			texts[f.Name] = "" // left to its default
		}
	}
	return texts
}
