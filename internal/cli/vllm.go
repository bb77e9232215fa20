package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/dialect"
	"github.com/pitot-bench/pitot/internal/wire/driver"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// vllmCmd is `pitot vllm`: a vllm command line with pitot before it.
type vllmCmd struct {
	Args []string `arg:"" optional:"" help:"bench serve, and its flags."`
}

// vllmTimeout is that tool's only time limit of a request.
const vllmTimeout = 6 * time.Hour

// vllmKeepAlive is how long that tool keeps an unused connection.
const vllmKeepAlive = time.Minute

// Run runs `bench serve`.
func (c vllmCmd) Run(p *Process) error {
	if slices.ContainsFunc(c.Args[:min(2, len(c.Args))], func(a string) bool { return a == "--help" || a == "-h" }) {
		_, err := fmt.Fprint(p.Stdout, vllmHelp)
		return err
	}
	if len(c.Args) < 2 || c.Args[0] != "bench" || c.Args[1] != "serve" {
		return usagef("of vllm's commands there is `bench serve`: pitot vllm bench serve <flags>")
	}
	args, err := dialect.ExpandConfig(c.Args[2:], os.ReadFile)
	if err != nil {
		return usage(err)
	}
	a, err := dialect.ParseVLLM(args, randomIDPrefix())
	if errors.Is(err, dialect.ErrHelp) {
		_, err := fmt.Fprint(p.Stdout, vllmHelp)
		return err
	}
	if err != nil {
		return usagef("vllm bench serve: error: %w", err)
	}
	fmt.Fprintln(p.Stdout, a.Namespace())
	v := vllmRun{a, args, p}
	if err := errors.Join(a.Check(), v.checkFile(context.Background())); err != nil {
		return usage(err)
	}
	return v.run(context.Background())
}

const vllmHelp = `pitot vllm bench serve takes the flags of vllm bench serve, with its rules: names
may be cut short, underscores are dashes, --extra-body.a.b VALUE builds JSON, and
--config FILE reads flags from YAML. What is not built, or does not go together, is
refused by name before anything is sent. docs/vllm.md lists it. Datasets of the hub
are read from a copy, and downloaded only if PITOT_HF_DOWNLOAD=1.

Of its own it has
  --dialect-version FORM    definitions and report of main (default), 2026-11
                            (release 0.33), 2026-08 (0.28 to 0.32), 2025-12 or
                            2025-07
  --require-valid           exit with 3 unless the run is valid
and every run is kept: see pitot runs. PITOT_STORE names the file.
`

// randomIDPrefix is that tool's default prefix of request ids.
func randomIDPrefix() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return "bench-" + hex.EncodeToString(b[:]) + "-"
}

// A vllmRun is a checked command line under way.
type vllmRun struct {
	*dialect.VLLMArgs
	args []string
	p    *Process
}

func (v vllmRun) run(ctx context.Context) error {
	s, err := v.p.newSession("")
	if err != nil {
		return err
	}
	defer s.close()
	s.noProgress, s.profile, s.stubborn = v.DisableTqdm, v.Profile, true
	if err := v.prepareResults(); err != nil {
		return err
	}
	if err := s.resolving(ctx, func(ctx context.Context) error { return v.resolve(ctx, s) }); err != nil {
		return err
	}
	t, err := s.execute(ctx)
	if t == nil {
		return err
	}
	reported := v.report(t)
	if n := s.summary.Tokens.Assumed; n > 0 && !v.SkipTokenizerInit {
		s.sayf("note: the server did not count the output of %d requests, and there is no tokenizer here: one token a chunk is assumed", n)
	}
	v.p.warn(s.summary.Health)
	if err == nil {
		s.kept()
	}
	return errors.Join(reported, err, ended(t), required(v.RequireValid, s.summary.Health))
}

// resolve goes from arguments to a session, in that tool's order: model,
// tokenizer, dataset, alignment with the server's tokenizer.
func (v vllmRun) resolve(ctx context.Context, s *session) (err error) {
	base, _ := v.URLs()
	if s.target, err = v.target(base); err != nil {
		return err
	}
	s.patience, s.patienceFlag = time.Duration(v.ReadyCheckTimeoutSec)*time.Second, "--ready-check-timeout-sec SECONDS"
	name, id, err := v.model(ctx, s)
	if err != nil {
		return err
	}
	s.run.Env.Server, _ = s.target.server().Version(ctx) // a server need not have one
	tok, tokenizerID, err := v.tokens(ctx, s, id)
	if err != nil {
		return err
	}
	s.run.Env.Tokenizer, s.run.Env.TokenizerWhy = tok.name, plan.Text(tok.why)
	if err := v.build(ctx, s, tok, id, tokenizerID); err != nil {
		return err
	}
	if err := v.plan(s, name, id, tokenizerID); err != nil {
		return err
	}
	return v.connect(s, tok, name)
}

func (v vllmRun) target(base string) (*target, error) {
	flag := "--base-url"
	if v.BaseURL == nil {
		flag = "--host and --port"
	}
	if err := checkURL(flag, base); err != nil {
		return nil, err
	}
	pairs, err := v.Headers()
	if err != nil {
		return nil, usage(err)
	}
	header := http.Header{}
	for _, kv := range pairs {
		header.Set(kv[0], kv[1])
	}
	return v.p.newTarget(base, reach{header: header, key: v.p.getenv("OPENAI_API_KEY"), insecure: v.Insecure, timeout: vllmTimeout, keep: vllmKeepAlive})
}

// model is the name sent and the id used for files and tokenizers.
func (v vllmRun) model(ctx context.Context, s *session) (name, id string, err error) {
	wanted := ""
	if v.Model != nil {
		wanted = *v.Model
	}
	list, err := s.models(ctx)
	if gone := s.unreachable(err); gone != nil && (wanted == "" || s.patience > 0) {
		return "", "", gone // else that tool would send its requests all the same
	}
	m, names, err := choose(list, err, wanted)
	if err != nil {
		return "", "", err
	}
	s.run.Env.Models = names
	switch {
	case v.Model == nil && m.Root == "":
		return m.ID, m.ID, nil
	case v.Model == nil:
		return m.ID, m.Root, nil
	case v.ServedModelName != nil:
		return *v.ServedModelName, wanted, nil
	}
	return wanted, wanted, nil
}

// tokens finds the tokenizer: --tokenizer, or the model's if this machine has
// it, else the server's.
func (v vllmRun) tokens(ctx context.Context, s *session, id string) (tokens, string, error) {
	if v.SkipTokenizerInit {
		return tokens{name: plan.Text("none (--skip-tokenizer-init)")}, "", nil
	}
	where, given := id, v.Tokenizer != nil
	if given {
		where = *v.Tokenizer
	}
	tok, err := v.p.findTokens(ctx, where, given && (isPath(where) || isRegular(where)), s.target, id, vllmVocabulary)
	if err != nil {
		return tok, where, err
	}
	if !tok.local {
		how := "prompts are drawn with the server's /tokenize"
		if tok.tok == nil {
			how = "prompts are sent as token ids"
		}
		s.notef("no tokenizer %q on this machine: %s, so they differ from those of vllm at the same seed; send times do not, nor lengths, unless the model's tokenizer adds a first token", where, how)
	}
	return tok, where, nil
}

// isPath tells a path from the name of a model, which that tool would download.
func isPath(where string) bool {
	return filepath.IsAbs(where) || strings.HasPrefix(where, ".") || strings.HasSuffix(where, ".json")
}

// vllmVocabulary is how many ids prompts are drawn from when no tokenizer tells.
const vllmVocabulary = 16000

// plan writes down what was asked.
func (v vllmRun) plan(s *session, name, id, tokenizerID string) error {
	n := len(s.requests)
	if v.ProbeRequestRate > 0 {
		s.probe = &driver.Probe{Request: workload.Request{Text: "Hi", PromptTokens: 1, OutputTokens: 1}, Rate: v.ProbeRequestRate}
	}
	objectives, err := v.Objectives()
	if err != nil {
		return usage(err)
	}
	foreign, err := v.Foreign(v.args, id, tokenizerID)
	if err != nil {
		return err
	}
	what, when := v.Describe(n)
	s.run.Name = v.label()
	s.run.Plan = trace.Plan{
		Dialect: "vllm", URL: s.target.base, Protocol: v.Protocol(), Model: name, Stream: !v.Pooling(),
		Workload: plan.Text(what), Requests: n, Seed: uint64(v.Seed), Arrival: plan.Text(when), Rate: v.ConstantRate(),
		Ramp: v.RampUpStrategy != nil, Objectives: objectives, Settings: s.masked(v.Settings()), Foreign: foreign,
	}
	if v.MaxConcurrency != nil {
		s.run.Plan.Concurrency = *v.MaxConcurrency
	}
	s.run.Env.Invocation = append([]string{"vllm", "bench", "serve"}, v.Mask(v.args)...)
	return enoughFiles(s.run.Plan, s.run.Env, v.ConstantRate() == 0 && v.RampUpStrategy == nil)
}

func (v vllmRun) label() string {
	if v.Label == nil {
		return ""
	}
	return *v.Label
}

// connect makes the client, and the requests that precede the run: all of them
// are the first measured one again.
func (v vllmRun) connect(s *session, tok tokens, name string) error {
	extra, err := v.ExtraFields()
	if err != nil {
		return usage(err)
	}
	_, url := v.URLs()
	s.client, err = endpoint.New(s.target.transport, endpoint.Options{
		Protocol: endpoint.Protocol(s.run.Plan.Protocol), URL: url, Model: name, Header: s.target.header,
		Stream: !v.Pooling(), IncludeUsage: true, IgnoreEOS: v.AsksIgnoreEOS(), Extra: extra,
		PartsAlways: v.Protocol() != "responses", AsMessages: v.AsMessages(), MediaFirst: v.MediaFirst(),
		KeepText: v.SaveDetailed, Count: tok.count, Secrets: s.target.secrets,
	})
	if err != nil {
		return usage(err)
	}
	first := s.requests[0]
	first.Model = ""
	if v.ReadyCheckTimeoutSec > 0 {
		s.ready, s.readyLimit = &first, time.Duration(v.ReadyCheckTimeoutSec)*time.Second
	}
	for range v.NumWarmups {
		s.warmup = append(s.warmup, first)
	}
	s.beforeRun = func() { fmt.Fprint(v.p.Stdout, v.Traffic()) }
	return nil
}
