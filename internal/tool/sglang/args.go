// Package sglang speaks for sglang.bench_serving: it reads that tool's command line and
// writes its report and its result file.
//
// It is two functions around the trace. One turns arguments into what a run needs:
// which requests, when, with which options. The other turns the trace into the tool's
// text and JSON, from the tool's definitions. Nothing in between knows which tool asked.
package sglang

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/tool/argparse"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Args is the command line of sglang.bench_serving. A nil pointer or slice is
// Python's None. Which flags there are, and some defaults, depend on the version:
// one that a version lacks keeps the value under which it changes nothing.
type Args struct {
	Settings

	BaseURL                                          *string
	Host                                             string
	Port                                             *int
	ReadyCheckTimeoutSec                             int
	DatasetPath                                      string
	DatasetOffset                                    int
	AgenticMaxTurns                                  *int
	SpeedBenchCategory                               *string
	SpeedBenchOutputLen                              int
	Model, ServedModelName, Tokenizer                *string
	ShareGPTContextLen                               *int
	ImageFormat, ImageContent                        string
	RandomImageCount                                 bool
	RequestRate                                      float64
	PrintRequests, DisableTqdm, DisableStream        bool
	ReturnLogprob, ReturnRoutedExperts               bool
	TopLogprobsNum, LogprobStartLen                  int
	TokenIDsLogprob                                  []int
	Seed                                             int
	DisableIgnoreEOS                                 bool
	Temperature, TopP                                float64
	ExtraRequestBody                                 *string
	ApplyChatTemplate                                bool
	Profile, ProfileByStage, PDSeparated             bool
	ProfileActivities, ProfileStages                 []string
	ProfileStartStep, ProfileSteps, ProfileNumSteps  *int
	ProfileOutputDir, ProfilePrefix                  *string
	ProfilePrefillURL, ProfileDecodeURL              []string
	LoraName                                         []string
	LoraRequestDistribution                          string
	LoraZipfAlpha                                    float64
	PromptSuffix                                     string
	FlushCache                                       bool
	FlushCacheTimeout                                float64
	WarmupRequests                                   int
	TokenizePrompt                                   bool
	GSPNumGroups, GSPPromptsPerGroup                 int
	GSPSystemPromptLen, GSPQuestionLen, GSPOutputLen int
	GSPRangeRatio                                    float64
	GSPFastPrepare, GSPSendRoutingKey, GSPOrdered    bool
	GSPNumTurns                                      int
	GSPGroupDistribution                             string
	GSPZipfAlpha                                     *float64
	MooncakeSlowdownFactor                           float64
	MooncakeNumRounds                                int
	MooncakeWorkload                                 string
	FakePrefill                                      bool
	Header                                           []string
	RustClient                                       bool
	RustWorkerThreads                                *int

	// DialectVersion is Pitot's own: whose flags, definitions and report to use.
	DialectVersion Version
	// RequireValid, also Pitot's own, asks for an exit code that tells whether the
	// load generator was in the way.
	RequireValid bool

	options []argparse.Option
}

// What the tool can be pointed at and what it can send, in the order in which it
// lists them.
var (
	backends = []string{
		"sglang", "sglang-native", "sglang-oai", "sglang-oai-chat", "sglang-embedding", "vllm", "vllm-chat", "vllm-embedding",
		"lmdeploy", "lmdeploy-chat", "trt", "gserver", "truss",
	}
	datasets = []string{
		"agentic-trace", "sharegpt", "custom", "openai", "random", "random-ids", "generated-shared-prefix", "mmmu", "image", "mooncake",
		"longbench_v2", "speed-bench",
	}
	activities = []string{"CPU", "GPU", "CUDA_PROFILER", "XPU", "MEM"}
)

// absentIn2601 are choices that came later.
var absentIn2601 = []string{
	"sglang-embedding", "vllm-embedding",
	"agentic-trace", "custom", "openai", "longbench_v2", "speed-bench",
	"XPU", "MEM",
}

// choices are those of a list that the version has.
func (a *Args) choices(all []string) []string {
	if a.main() {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(absentIn2601, s) })
}

func (a *Args) main() bool { return a.DialectVersion.Since(Main) }

// since gives options that came after 2026-01.
func (a *Args) since(options ...argparse.Option) []argparse.Option {
	if a.main() {
		return options
	}
	return nil
}

// Parse reads the arguments that follow the name of the module.
func Parse(args []string) (*Args, error) {
	a := &Args{DialectVersion: Main}
	args, err := a.takeOwn(args)
	if err != nil {
		return nil, err
	}
	a.defaults()
	a.options = a.all()
	p := argparse.Parser{Options: a.options, Plain: true}
	if err := p.Parse(args); err != nil {
		return nil, a.otherVersion(args, err)
	}
	return a, a.checkParsed()
}

// takeOwn takes Pitot's own flags out of a command line. They are no options of the
// parser, or they would make short forms of the tool's ambiguous.
func (a *Args) takeOwn(args []string) (rest []string, err error) {
	own := argparse.Parser{Plain: true, Options: []argparse.Option{
		argparse.Valued("dialect-version", &a.DialectVersion, func(s string) (Version, error) {
			s, err := argparse.OneOf(argparse.Names(Versions()))(s)
			return Version(s), err
		}, nil),
		argparse.Flag("require-valid", &a.RequireValid),
	}}
	for len(args) > 0 {
		name, _, _ := strings.Cut(args[0], "=")
		n := 0
		switch {
		case name == "--require-valid", name == "--dialect-version" && name != args[0]:
			n = 1
		case name == "--dialect-version":
			n = min(2, len(args))
		default:
			rest, args = append(rest, args[0]), args[1:]
			continue
		}
		if err := own.Parse(args[:n]); err != nil {
			return nil, err
		}
		args = args[n:]
	}
	return rest, nil
}

// otherVersion adds to the error of a command line that another version can read
// that it can.
func (a *Args) otherVersion(args []string, err error) error {
	if errors.Is(err, argparse.ErrHelp) {
		return err
	}
	for _, v := range Versions() {
		b := &Args{DialectVersion: v}
		b.defaults()
		p := argparse.Parser{Plain: true, Options: b.all()}
		if v != a.DialectVersion && p.Parse(args) == nil {
			return argparse.Usagef("%v\n(--dialect-version %s takes it; this is %s)", err, v, a.DialectVersion)
		}
	}
	return err
}

func (a *Args) defaults() {
	a.Backend, a.Host, a.DatasetName = "sglang", "0.0.0.0", "sharegpt"
	a.SpeedBenchOutputLen, a.NumPrompts = 512, 1000
	a.RandomInputLen, a.RandomOutputLen = 1024, 1024
	a.ImageCount, a.ImageResolution, a.ImageFormat, a.ImageContent = 1, "1080p", "jpeg", "random"
	a.RequestRate, a.LogprobStartLen, a.TopP = math.Inf(1), -1, 1
	a.ProfileActivities = []string{"CPU", "GPU"}
	a.LoraRequestDistribution, a.LoraZipfAlpha = "uniform", 1.5
	a.FlushCacheTimeout, a.WarmupRequests = 60, 1
	a.GSPNumGroups, a.GSPPromptsPerGroup, a.GSPNumTurns = 64, 16, 1
	a.GSPSystemPromptLen, a.GSPQuestionLen, a.GSPOutputLen = 2048, 128, 256
	a.GSPRangeRatio, a.GSPGroupDistribution = 1, "uniform"
	a.MooncakeSlowdownFactor, a.MooncakeNumRounds, a.MooncakeWorkload = 1, 1, "conversation"
	a.Seed = 1
	if a.main() {
		a.Seed, a.ReadyCheckTimeoutSec = 42, 60
	}
}

func (a *Args) all() []argparse.Option {
	return slices.Concat(a.serverOptions(), a.modelOptions(), a.loadOptions(), a.requestOptions(), a.profileOptions(), a.cacheOptions(), a.datasetOptions())
}

// The options stand in the order in which the tool declares and prints them.

func (a *Args) serverOptions() []argparse.Option {
	return slices.Concat([]argparse.Option{
		argparse.Choice("backend", &a.Backend, a.choices(backends)...), argparse.OptString("base-url", &a.BaseURL),
		argparse.String("host", &a.Host), argparse.OptInt("port", &a.Port),
	}, a.since(
		argparse.Int("ready-check-timeout-sec", &a.ReadyCheckTimeoutSec),
	), []argparse.Option{
		argparse.Choice("dataset-name", &a.DatasetName, a.choices(datasets)...), argparse.String("dataset-path", &a.DatasetPath),
	}, a.since(
		argparse.Int("dataset-offset", &a.DatasetOffset), argparse.OptInt("agentic-max-turns", &a.AgenticMaxTurns),
		argparse.OptChoice("speed-bench-category", &a.SpeedBenchCategory, "low_entropy", "mixed", "high_entropy"),
		argparse.Int("speed-bench-output-len", &a.SpeedBenchOutputLen),
	))
}

func (a *Args) modelOptions() []argparse.Option {
	return []argparse.Option{
		argparse.OptString("model", &a.Model), argparse.OptString("served-model-name", &a.ServedModelName), argparse.OptString("tokenizer", &a.Tokenizer),
		argparse.Int("num-prompts", &a.NumPrompts),
		argparse.OptInt("sharegpt-output-len", &a.ShareGPTOutputLen), argparse.OptInt("sharegpt-context-len", &a.ShareGPTContextLen),
		argparse.Int("random-input-len", &a.RandomInputLen), argparse.Int("random-output-len", &a.RandomOutputLen),
		argparse.Float("random-range-ratio", &a.RandomRangeRatio),
		argparse.Int("image-count", &a.ImageCount), argparse.String("image-resolution", &a.ImageResolution),
		argparse.Flag("random-image-count", &a.RandomImageCount),
		argparse.String("image-format", &a.ImageFormat), argparse.String("image-content", &a.ImageContent),
	}
}

func (a *Args) loadOptions() []argparse.Option {
	return slices.Concat([]argparse.Option{
		argparse.Float("request-rate", &a.RequestRate), argparse.Flag("use-trace-timestamps", &a.UseTraceTimestamps),
		argparse.OptInt("max-concurrency", &a.MaxConcurrency),
		argparse.OptString("output-file", &a.OutputFile), argparse.Flag("output-details", &a.OutputDetails),
	}, a.since(
		argparse.Values("goodput", &a.Goodput, readLimit, reprLimit).Shown("KEY:VALUE"),
	), []argparse.Option{
		argparse.Flag("print-requests", &a.PrintRequests), argparse.Flag("disable-tqdm", &a.DisableTqdm), argparse.Flag("disable-stream", &a.DisableStream),
	})
}

func (a *Args) requestOptions() []argparse.Option {
	return slices.Concat([]argparse.Option{
		argparse.Flag("return-logprob", &a.ReturnLogprob),
	}, a.since(
		argparse.Int("top-logprobs-num", &a.TopLogprobsNum), argparse.Values("token-ids-logprob", &a.TokenIDsLogprob, python.ParseInt, strconv.Itoa),
		argparse.Int("logprob-start-len", &a.LogprobStartLen),
	), []argparse.Option{
		argparse.Flag("return-routed-experts", &a.ReturnRoutedExperts),
	}, a.since(
		argparse.Flag("cache-report", &a.CacheReport),
	), []argparse.Option{
		argparse.Int("seed", &a.Seed), argparse.Flag("disable-ignore-eos", &a.DisableIgnoreEOS),
	}, a.since(
		argparse.Float("temperature", &a.Temperature), argparse.Float("top-p", &a.TopP),
	), []argparse.Option{
		argparse.OptString("extra-request-body", &a.ExtraRequestBody).Shown(`{"key1": "value1", "key2": "value2"}`),
		argparse.Flag("apply-chat-template", &a.ApplyChatTemplate),
	})
}

func (a *Args) profileOptions() []argparse.Option {
	return slices.Concat([]argparse.Option{
		argparse.Flag("profile", &a.Profile), argparse.Flag("plot-throughput", &a.PlotThroughput),
		argparse.Choices("profile-activities", &a.ProfileActivities, a.choices(activities)...),
	}, a.since(
		argparse.OptInt("profile-start-step", &a.ProfileStartStep), argparse.OptInt("profile-steps", &a.ProfileSteps),
	), []argparse.Option{
		argparse.OptInt("profile-num-steps", &a.ProfileNumSteps), argparse.Flag("profile-by-stage", &a.ProfileByStage),
		argparse.List("profile-stages", argparse.AtLeastOne, &a.ProfileStages, python.List),
	}, a.since(
		argparse.OptString("profile-output-dir", &a.ProfileOutputDir), argparse.OptString("profile-prefix", &a.ProfilePrefix),
	), []argparse.Option{
		argparse.List("lora-name", argparse.AnyNumber, &a.LoraName, python.List),
		argparse.Choice("lora-request-distribution", &a.LoraRequestDistribution, "uniform", "distinct", "skewed"),
		argparse.Float("lora-zipf-alpha", &a.LoraZipfAlpha),
		argparse.String("prompt-suffix", &a.PromptSuffix), argparse.Flag("pd-separated", &a.PDSeparated),
		argparse.List("profile-prefill-url", argparse.AnyNumber, &a.ProfilePrefillURL, python.List).Without("profile-decode-url"),
		argparse.List("profile-decode-url", argparse.AnyNumber, &a.ProfileDecodeURL, python.List).Without("profile-prefill-url"),
	})
}

func (a *Args) cacheOptions() []argparse.Option {
	return slices.Concat([]argparse.Option{
		argparse.Flag("flush-cache", &a.FlushCache),
	}, a.since(
		argparse.Valued("flush-cache-timeout", &a.FlushCacheTimeout, argparse.PositiveFloat, python.Float),
	), []argparse.Option{
		argparse.Int("warmup-requests", &a.WarmupRequests), argparse.Flag("tokenize-prompt", &a.TokenizePrompt),
	})
}

func (a *Args) datasetOptions() []argparse.Option {
	routing := "gsp-send-routing-id"
	if a.main() {
		routing = "gsp-send-routing-key"
	}
	return slices.Concat([]argparse.Option{
		argparse.Int("gsp-num-groups", &a.GSPNumGroups), argparse.Int("gsp-prompts-per-group", &a.GSPPromptsPerGroup),
		argparse.Int("gsp-system-prompt-len", &a.GSPSystemPromptLen), argparse.Int("gsp-question-len", &a.GSPQuestionLen),
		argparse.Int("gsp-output-len", &a.GSPOutputLen), argparse.Float("gsp-range-ratio", &a.GSPRangeRatio),
		argparse.Flag("gsp-fast-prepare", &a.GSPFastPrepare), argparse.Flag(routing, &a.GSPSendRoutingKey),
	}, a.since(
		argparse.Int("gsp-num-turns", &a.GSPNumTurns), argparse.Flag("gsp-ordered", &a.GSPOrdered),
		argparse.Choice("gsp-group-distribution", &a.GSPGroupDistribution, "uniform", "zipf"),
		argparse.Nullable("gsp-zipf-alpha", &a.GSPZipfAlpha, argparse.PositiveFloat, python.Float),
	), []argparse.Option{
		argparse.Float("mooncake-slowdown-factor", &a.MooncakeSlowdownFactor), argparse.Int("mooncake-num-rounds", &a.MooncakeNumRounds),
		argparse.Choice("mooncake-workload", &a.MooncakeWorkload, "mooncake", "conversation", "synthetic", "toolagent"),
	}, a.since(
		argparse.Flag("fake-prefill", &a.FakePrefill),
	), []argparse.Option{
		argparse.OptString("tag", &a.Tag),
	}, a.since(
		argparse.List("header", argparse.AtLeastOne, &a.Header, reprHeaders),
		argparse.Flag("rust-client", &a.RustClient), argparse.OptInt("rust-worker-threads", &a.RustWorkerThreads),
	))
}

// checkParsed is what the tool's parser refuses beyond single flags.
func (a *Args) checkParsed() error {
	switch zipf := a.GSPGroupDistribution == "zipf"; {
	case a.RustWorkerThreads != nil && !a.RustClient:
		return argparse.Usagef("--rust-worker-threads requires --rust-client")
	case a.main() && a.DatasetName == "generated-shared-prefix" && a.TokenizePrompt && a.GSPNumTurns > 1:
		return argparse.Usagef("--tokenize-prompt requires --gsp-num-turns=1")
	case zipf && a.GSPZipfAlpha == nil:
		return argparse.Usagef("--gsp-group-distribution=zipf requires --gsp-zipf-alpha, a number above 0")
	case !zipf && a.GSPZipfAlpha != nil:
		return argparse.Usagef("--gsp-zipf-alpha goes with --gsp-group-distribution=zipf only")
	}
	return nil
}

// Namespace is the printout of all arguments, as Python shows them.
func (a *Args) Namespace() string { return argparse.Namespace(a.options) }

// Texts are all arguments by name, in text, without secrets.
func (a *Args) Texts() map[string]string {
	m := argparse.Texts(a.options)
	if a.Header != nil {
		m["header"] = "***"
	}
	return m
}

// reprHeaders prints headers, which that tool does not mask, without their secrets.
func reprHeaders(headers []string) string {
	var masked []string
	for _, h := range headers {
		masked = append(masked, argparse.Mask(h))
	}
	return python.List(masked)
}

// Usage is what the tool says of its flags when it cannot read args.
func Usage(program string, args []string) string {
	a := &Args{DialectVersion: Main}
	_, _ = a.takeOwn(args) // its error is what the usage stands above
	a.defaults()
	return argparse.Usage(program, a.all())
}

// readLimit reads NAME:MILLISECONDS.
func readLimit(s string) (Limit, error) {
	metrics := []string{"ttft", "tpot", "e2el"}
	name, value, _ := strings.Cut(s, ":")
	if !slices.Contains(metrics, name) {
		return Limit{}, fmt.Errorf("expected KEY:VALUE with KEY in %s, got %s", strings.Join(metrics, ", "), python.Quote(s))
	}
	ms, err := argparse.PositiveFloat(value)
	return Limit{name, ms}, err
}

func reprLimit(l Limit) string { return "(" + python.Quote(l.Name) + ", " + python.Float(l.MS) + ")" }
