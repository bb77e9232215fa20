package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/dialect"
	"github.com/pitot-bench/pitot/internal/tool/sglangdata"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// sglangCmd is `pitot sglang`: bench_serving of sglang with pitot before it.
type sglangCmd struct {
	Args []string `arg:"" optional:"" help:"bench_serving, and its flags."`
}

// Run runs `bench_serving`.
func (c sglangCmd) Run(p *Process) error {
	if len(c.Args) == 0 || c.Args[0] != "bench_serving" && c.Args[0] != "bench-serving" {
		return usagef("of sglang's commands there is bench_serving: pitot sglang bench_serving <flags>")
	}
	return p.benchServing("bench_serving.py", c.Args[1:], []string{"sglang", c.Args[0]})
}

// pythonCmd is `pitot python`: a python command line with pitot before it.
type pythonCmd struct {
	Args []string `arg:"" optional:"" help:"-m sglang.bench_serving, and its flags."`
}

// benchModules are the modules that are sglang's client, with the names under which
// Python knows their files.
var benchModules = map[string]string{"sglang.bench_serving": "bench_serving.py", "sglang.benchmark.serving": "serving.py"}

// Run runs the module.
func (c pythonCmd) Run(p *Process) error {
	args := c.Args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-m" && !strings.HasPrefix(args[0], "-m") && !strings.HasPrefix(args[0], "-c") {
		args = args[1:] // -u and its like are Python's own
	}
	module := ""
	switch {
	case len(args) > 1 && args[0] == "-m":
		module, args = args[1], args[2:]
	case len(args) > 0 && strings.HasPrefix(args[0], "-m"):
		module, args = args[0][2:], args[1:]
	case len(args) > 0 && path.Base(args[0]) == "bench_serving.py":
		module, args = "sglang.bench_serving", args[1:]
	}
	program, ok := benchModules[module]
	if !ok {
		return usagef("of Python's modules there are sglang.bench_serving and sglang.benchmark.serving: pitot python -m sglang.bench_serving <flags>")
	}
	return p.benchServing(program, args, slices.Concat([]string{"python"}, c.Args[:len(c.Args)-len(args)]))
}

const sglangHelp = `pitot python -m sglang.bench_serving takes the flags of sglang.bench_serving, with
Python's rules: names may be cut short. docs/sglang.md has what differs.

Of its own it has
  --dialect-version FORM    flags, definitions and report of main (default) or of
                            2026-01 (around release 0.5.6)
  --require-valid           exit with 3 unless the run is valid
and every run is kept: see pitot runs. PITOT_STORE names the file.

`

// sglangTimeout is that tool's only time limit of a request.
const sglangTimeout = 6 * time.Hour

// benchServing runs the client under the name of a program; invocation is how it was
// called, without its flags.
func (p *Process) benchServing(program string, args, invocation []string) error {
	a, err := dialect.ParseSGLang(args)
	if errors.Is(err, dialect.ErrHelp) {
		_, err := fmt.Fprint(p.Stdout, sglangHelp, dialect.SGLangUsage(program, args))
		return err
	}
	if err != nil {
		fmt.Fprint(p.Stderr, dialect.SGLangUsage(program, args))
		return usagef("%s: error: %w", program, err)
	}
	fmt.Fprintln(p.Stdout, "benchmark_args="+a.Namespace())
	if a.CacheReport && (!a.SGLang() || a.Embedding()) {
		fmt.Fprintln(p.Stdout, "WARNING: --cache-report is only supported with sglang backends.")
	}
	r := &sglangRun{SGLangArgs: a, p: p, args: args, invocation: invocation}
	if err := a.Check(); err != nil {
		return err
	}
	return r.run(context.Background())
}

// An sglangRun is a checked command line under way.
type sglangRun struct {
	*dialect.SGLangArgs
	p          *Process
	args       []string
	invocation []string

	s         *session
	aside     endpoint.Server // for questions: with the key, without the headers of requests
	tokenizer string          // as it was found
	built     sglangdata.Built
	traffic   dialect.Traffic
	warm      []workload.Request
	profiling bool
}

func (r *sglangRun) run(ctx context.Context) error {
	s, err := r.p.newSession("")
	if err != nil {
		return err
	}
	defer s.close()
	r.s, s.noProgress = s, r.DisableTqdm
	if err := r.tryResult(); err != nil {
		return err
	}
	if err := s.resolving(ctx, r.resolve); err != nil {
		return err
	}
	s.begin, s.end = r.begin, r.end
	t, err := s.execute(ctx)
	if t == nil {
		return err
	}
	reported := r.report(ctx, t)
	r.p.warn(s.summary.Health)
	if err == nil {
		s.kept()
	}
	return errors.Join(reported, err, ended(t), required(r.RequireValid, s.summary.Health))
}

// resolve goes from arguments to a session, in that tool's order: readiness, model,
// tokenizer, dataset.
func (r *sglangRun) resolve(ctx context.Context) error {
	if err := r.reach(); err != nil {
		return err
	}
	if r.RustClient {
		r.s.notef("--rust-client changes nothing: requests are sent by Pitot's own client")
	}
	if err := r.awaitServer(ctx); err != nil {
		return err
	}
	model, err := r.findModel(ctx)
	if err != nil {
		return err
	}
	r.Resolve(model)
	fmt.Fprintln(r.p.Stdout, r.Namespace())
	fmt.Fprintln(r.p.Stdout)
	r.s.run.Env.Server, _ = r.aside.Version(ctx) // a server need not have one
	tok, err := r.findTokenizer(ctx)
	if err != nil {
		return err
	}
	if err := r.build(ctx, tok); err != nil {
		return err
	}
	if err := r.plan(); err != nil {
		return err
	}
	return r.connect(ctx, tok)
}

// reach makes the target. Requests have the key and --header; --backend trt sends
// neither.
func (r *sglangRun) reach() (err error) {
	base, _ := r.URLs()
	flag := "--base-url"
	if r.BaseURL == nil {
		flag = "--host and --port"
	}
	if err := checkURL(flag, base); err != nil {
		return err
	}
	header := http.Header{}
	if key := r.p.getenv("API_KEY"); key != "" && r.p.getenv("OPENAI_API_KEY") == "" {
		header.Set("Authorization", key)
	}
	to := reach{header: header.Clone(), key: r.p.getenv("OPENAI_API_KEY"), timeout: sglangTimeout, noReuse: true, direct: true}
	for _, kv := range r.Headers() {
		to.header.Set(kv[0], kv[1])
	}
	if r.s.target, err = r.p.newTarget(base, to); err != nil {
		return err
	}
	if to.key != "" {
		header.Set("Authorization", "Bearer "+to.key)
	}
	if r.Backend == "trt" {
		r.s.target.header = http.Header{}
	}
	r.aside = r.s.target.server()
	r.aside.Header = header
	if lost := len(r.Header) - len(r.Headers()); lost > 0 {
		r.s.notef("--header: %d of %d are left out, as that tool does: they are not NAME=VALUE", lost, len(r.Header))
	}
	return nil
}

// readyCall is how long one question for readiness may take, readyPause the time
// between two.
const (
	readyCall  = 5 * time.Second
	readyPause = time.Second
)

// awaitServer waits for an answer with status 200, and says so as that tool does.
func (r *sglangRun) awaitServer(ctx context.Context) error {
	limit := r.ReadyCheckTimeoutSec
	if limit <= 0 {
		return nil
	}
	url := r.ReadyURL()
	fmt.Fprintf(r.p.Stdout, "Waiting up to %ds for %s to become ready...\n", limit, url)
	server := r.aside
	server.URL = url
	for begin := time.Now(); ; {
		call, cancel := context.WithTimeout(ctx, readyCall)
		_, err := server.Get(call, "")
		cancel()
		took := time.Since(begin)
		var refused *endpoint.StatusError
		var silent *endpoint.CallError
		if err == nil || !errors.As(err, &refused) && !errors.As(err, &silent) { // an answer that is no JSON is one
			fmt.Fprintf(r.p.Stdout, "Server ready in %.1fs.\n", took.Seconds())
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if took >= time.Duration(limit)*time.Second {
			fmt.Fprintf(r.p.Stdout, "Server did not become ready within %ds timeout.\n", limit)
			return fmt.Errorf("the server at %s is not ready: %w\n--ready-check-timeout-sec waits longer, and 0 does without", url, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(readyPause):
		}
	}
}

// findModel is --model, or the first that the server lists.
func (r *sglangRun) findModel(ctx context.Context) (string, error) {
	list, err := r.aside.Models(ctx)
	for _, m := range list {
		r.s.run.Env.Models = append(r.s.run.Env.Models, m.ID)
	}
	switch {
	case r.Model != nil:
		return *r.Model, nil
	case err != nil:
		return "", fmt.Errorf("find out the model: %w\nname it with --model, or check --host and --port", err)
	}
	return list[0].ID, nil
}

// findTokenizer follows that tool's order: --tokenizer, what the server says it has,
// the model.
func (r *sglangRun) findTokenizer(ctx context.Context) (tokens, error) {
	where, given := *r.Model, r.Tokenizer != nil
	switch {
	case given:
		where = *r.Tokenizer
	case r.DialectVersion.Since("main"):
		where = r.serversTokenizer(ctx, where)
	}
	tok, err := r.p.findTokens(ctx, where, given && (isPath(where) || isRegular(where)), r.s.target, *r.Model, vllmVocabulary)
	if err != nil {
		return tok, err
	}
	r.tokenizer = where
	r.s.run.Env.Tokenizer, r.s.run.Env.TokenizerWhy = tok.name, plan.Text(tok.why)
	if !tok.local {
		how := "prompts are made with the server's /tokenize"
		if tok.tok == nil {
			how = "prompts are sent as token ids"
		}
		r.s.notef("no tokenizer %q on this machine: %s, so they differ from those of sglang.bench_serving at the same seed, and the retokenized line has the server's count; lengths and send times are the seed's", where, how)
	}
	return tok, nil
}

// serversTokenizer is what the server's /model_info names.
func (r *sglangRun) serversTokenizer(ctx context.Context, otherwise string) string {
	call, cancel := context.WithTimeout(ctx, readyCall)
	defer cancel()
	var info struct {
		Tokenizer string `json:"tokenizer_path"`
		Model     string `json:"model_path"`
	}
	if err := r.aside.Ask(call, "/model_info", &info); err != nil {
		return otherwise
	}
	for _, name := range []string{info.Tokenizer, info.Model} {
		if name != "" {
			return name
		}
	}
	return otherwise
}

// plan fixes the schedule and writes down what was asked.
func (r *sglangRun) plan() error {
	s, n := r.s, len(r.s.requests)
	base, _ := r.URLs()
	foreign, err := r.Foreign(r.args, r.tokenizer, r.built.Turns)
	if err != nil {
		return err
	}
	what, when := r.Describe(n)
	s.schedule, s.hold, s.keepText = r.traffic.Schedule, r.built.Turns, r.OutputDetails
	s.run.Plan = trace.Plan{
		Dialect: "sglang", URL: base, Protocol: r.Protocol(), Model: r.ServedModel(), Stream: r.Streams(),
		Workload: plan.Text(what), Requests: n, Seed: uint64(r.Seed), Arrival: plan.Text(when), Rate: r.ConstantRate(), Concurrency: r.Concurrency(),
		Objectives: r.Objectives(), Settings: s.masked(r.Settings()), Foreign: foreign,
	}
	if r.Tag != nil {
		s.run.Name = *r.Tag
	}
	s.run.Env.Invocation = slices.Concat(r.invocation, r.Masked(r.args))
	return enoughFiles(s.run.Plan, s.run.Env, r.ConstantRate() == 0)
}

// connect makes the client.
func (r *sglangRun) connect(ctx context.Context, tok tokens) error {
	top, sampling, err := r.BodyFields()
	if err != nil {
		return err
	}
	_, url := r.URLs()
	s := r.s
	s.client, err = endpoint.New(s.target.transport, endpoint.Options{
		Protocol: endpoint.Protocol(r.Protocol()), URL: url, Model: r.ServedModel(), Header: s.target.header,
		Stream: r.Streams() || r.Embedding(), IgnoreEOS: r.Backend == "trt" && !r.DisableIgnoreEOS, MediaFirst: true, Extra: top, Sampling: sampling,
		KeepText: r.OutputDetails, Count: tok.count, Secrets: s.target.secrets,
		Recount: endpoint.Recount{Answer: true, Chunks: r.drafts(ctx), Reasoning: r.DialectVersion.Since("main"), Last: r.Native()},
	})
	if r.PrintRequests && err == nil {
		s.front = &announcer{Sender: s.client, run: r}
	}
	return usage(err)
}

// drafts tells whether the server drafts tokens: that tool then divides the gaps of
// its own servers' OpenAI protocols over the tokens of texts.
func (r *sglangRun) drafts(ctx context.Context) bool {
	if r.Backend != "sglang-oai" && r.Backend != "sglang-oai-chat" {
		return false
	}
	var info serverInfo
	if err := r.aside.Ask(ctx, r.infoRoute(), &info); err != nil {
		return false
	}
	return info.drafts()
}
