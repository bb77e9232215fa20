package dialect

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
)

// SGLangArgs is the command line of sglang.bench_serving. A nil pointer or slice is
// Python's None. Which flags there are, and some defaults, depend on the version:
// one that a version lacks keeps the value under which it changes nothing.
type SGLangArgs struct {
	Backend                                              string
	BaseURL                                              *string
	Host                                                 string
	Port                                                 *int
	ReadyCheckTimeoutSec                                 int
	DatasetName, DatasetPath                             string
	DatasetOffset                                        int
	AgenticMaxTurns                                      *int
	SpeedBenchCategory                                   *string
	SpeedBenchOutputLen                                  int
	Model, ServedModelName, Tokenizer                    *string
	NumPrompts                                           int
	ShareGPTOutputLen, ShareGPTContextLen                *int
	RandomInputLen, RandomOutputLen                      int
	RandomRangeRatio                                     float64
	ImageCount                                           int
	ImageResolution, ImageFormat, ImageContent           string
	RandomImageCount                                     bool
	RequestRate                                          float64
	UseTraceTimestamps                                   bool
	MaxConcurrency                                       *int
	OutputFile                                           *string
	OutputDetails                                        bool
	Goodput                                              []Limit
	PrintRequests, DisableTqdm, DisableStream            bool
	ReturnLogprob, ReturnRoutedExperts, CacheReport      bool
	TopLogprobsNum, LogprobStartLen                      int
	TokenIDsLogprob                                      []int
	Seed                                                 int
	DisableIgnoreEOS                                     bool
	Temperature, TopP                                    float64
	ExtraRequestBody                                     *string
	ApplyChatTemplate                                    bool
	Profile, PlotThroughput, ProfileByStage, PDSeparated bool
	ProfileActivities, ProfileStages                     []string
	ProfileStartStep, ProfileSteps, ProfileNumSteps      *int
	ProfileOutputDir, ProfilePrefix                      *string
	ProfilePrefillURL, ProfileDecodeURL                  []string
	LoraName                                             []string
	LoraRequestDistribution                              string
	LoraZipfAlpha                                        float64
	PromptSuffix                                         string
	FlushCache                                           bool
	FlushCacheTimeout                                    float64
	WarmupRequests                                       int
	TokenizePrompt                                       bool
	GSPNumGroups, GSPPromptsPerGroup                     int
	GSPSystemPromptLen, GSPQuestionLen, GSPOutputLen     int
	GSPRangeRatio                                        float64
	GSPFastPrepare, GSPSendRoutingKey, GSPOrdered        bool
	GSPNumTurns                                          int
	GSPGroupDistribution                                 string
	GSPZipfAlpha                                         *float64
	MooncakeSlowdownFactor                               float64
	MooncakeNumRounds                                    int
	MooncakeWorkload                                     string
	FakePrefill                                          bool
	Tag                                                  *string
	Header                                               []string
	RustClient                                           bool
	RustWorkerThreads                                    *int

	// DialectVersion is Pitot's own: whose flags, definitions and report to use.
	DialectVersion metrics.SGLangVersion
	// RequireValid, also Pitot's own, asks for an exit code that tells whether the
	// load generator was in the way.
	RequireValid bool

	options []option
}

// A Limit is one of --goodput, in milliseconds.
type Limit struct {
	Name string
	MS   float64
}

// What the tool can be pointed at and what it can send, in the order in which it
// lists them.
var (
	sglangBackends = []string{
		"sglang", "sglang-native", "sglang-oai", "sglang-oai-chat", "sglang-embedding", "vllm", "vllm-chat", "vllm-embedding",
		"lmdeploy", "lmdeploy-chat", "trt", "gserver", "truss",
	}
	sglangDatasets = []string{
		"agentic-trace", "sharegpt", "custom", "openai", "random", "random-ids", "generated-shared-prefix", "mmmu", "image", "mooncake",
		"longbench_v2", "speed-bench",
	}
	sglangActivities = []string{"CPU", "GPU", "CUDA_PROFILER", "XPU", "MEM"}
)

// absentIn2601 are choices that came later.
var absentIn2601 = []string{
	"sglang-embedding", "vllm-embedding",
	"agentic-trace", "custom", "openai", "longbench_v2", "speed-bench",
	"XPU", "MEM",
}

// choices are those of a list that the version has.
func (a *SGLangArgs) choices(all []string) []string {
	if a.main() {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(absentIn2601, s) })
}

func (a *SGLangArgs) main() bool { return a.DialectVersion.Since(metrics.SGLangMain) }

// since gives options that came after 2026-01.
func (a *SGLangArgs) since(options ...option) []option {
	if a.main() {
		return options
	}
	return nil
}

// ParseSGLang reads the arguments that follow the name of the module.
func ParseSGLang(args []string) (*SGLangArgs, error) {
	a := &SGLangArgs{DialectVersion: metrics.SGLangMain}
	args, err := a.takeOwn(args)
	if err != nil {
		return nil, err
	}
	a.defaults()
	a.options = a.all()
	p := parser{options: a.options, plain: true}
	if err := p.parse(args); err != nil {
		return nil, a.otherVersion(args, err)
	}
	return a, a.checkParsed()
}

// takeOwn takes Pitot's own flags out of a command line. They are no options of the
// parser, or they would make short forms of the tool's ambiguous.
func (a *SGLangArgs) takeOwn(args []string) (rest []string, err error) {
	own := parser{plain: true, options: []option{
		valued("dialect-version", &a.DialectVersion, func(s string) (metrics.SGLangVersion, error) {
			s, err := readChoice(names(metrics.SGLangVersions()))(s)
			return metrics.SGLangVersion(s), err
		}, nil),
		flag("require-valid", &a.RequireValid),
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
		if err := own.parse(args[:n]); err != nil {
			return nil, err
		}
		args = args[n:]
	}
	return rest, nil
}

func names[T ~string](all []T) (out []string) {
	for _, v := range all {
		out = append(out, string(v))
	}
	return out
}

// otherVersion adds to the error of a command line that another version can read
// that it can.
func (a *SGLangArgs) otherVersion(args []string, err error) error {
	if errors.Is(err, ErrHelp) {
		return err
	}
	for _, v := range metrics.SGLangVersions() {
		b := &SGLangArgs{DialectVersion: v}
		b.defaults()
		p := parser{plain: true, options: b.all()}
		if v != a.DialectVersion && p.parse(args) == nil {
			return usagef("%v\n(--dialect-version %s takes it; this is %s)", err, v, a.DialectVersion)
		}
	}
	return err
}

func (a *SGLangArgs) defaults() {
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

func (a *SGLangArgs) all() []option {
	return slices.Concat(a.serverOptions(), a.modelOptions(), a.loadOptions(), a.requestOptions(), a.profileOptions(), a.cacheOptions(), a.datasetOptions())
}

// The options stand in the order in which the tool declares and prints them.

func (a *SGLangArgs) serverOptions() []option {
	return slices.Concat([]option{
		choice("backend", &a.Backend, a.choices(sglangBackends)...), optStr("base-url", &a.BaseURL),
		str("host", &a.Host), optNum("port", &a.Port),
	}, a.since(
		num("ready-check-timeout-sec", &a.ReadyCheckTimeoutSec),
	), []option{
		choice("dataset-name", &a.DatasetName, a.choices(sglangDatasets)...), str("dataset-path", &a.DatasetPath),
	}, a.since(
		num("dataset-offset", &a.DatasetOffset), optNum("agentic-max-turns", &a.AgenticMaxTurns),
		optChoice("speed-bench-category", &a.SpeedBenchCategory, "low_entropy", "mixed", "high_entropy"),
		num("speed-bench-output-len", &a.SpeedBenchOutputLen),
	))
}

func (a *SGLangArgs) modelOptions() []option {
	return []option{
		optStr("model", &a.Model), optStr("served-model-name", &a.ServedModelName), optStr("tokenizer", &a.Tokenizer),
		num("num-prompts", &a.NumPrompts),
		optNum("sharegpt-output-len", &a.ShareGPTOutputLen), optNum("sharegpt-context-len", &a.ShareGPTContextLen),
		num("random-input-len", &a.RandomInputLen), num("random-output-len", &a.RandomOutputLen),
		real64("random-range-ratio", &a.RandomRangeRatio),
		num("image-count", &a.ImageCount), str("image-resolution", &a.ImageResolution),
		flag("random-image-count", &a.RandomImageCount),
		str("image-format", &a.ImageFormat), str("image-content", &a.ImageContent),
	}
}

func (a *SGLangArgs) loadOptions() []option {
	return slices.Concat([]option{
		real64("request-rate", &a.RequestRate), flag("use-trace-timestamps", &a.UseTraceTimestamps),
		optNum("max-concurrency", &a.MaxConcurrency),
		optStr("output-file", &a.OutputFile), flag("output-details", &a.OutputDetails),
	}, a.since(
		values("goodput", &a.Goodput, readLimit, reprLimit).shown("KEY:VALUE"),
	), []option{
		flag("print-requests", &a.PrintRequests), flag("disable-tqdm", &a.DisableTqdm), flag("disable-stream", &a.DisableStream),
	})
}

func (a *SGLangArgs) requestOptions() []option {
	return slices.Concat([]option{
		flag("return-logprob", &a.ReturnLogprob),
	}, a.since(
		num("top-logprobs-num", &a.TopLogprobsNum), values("token-ids-logprob", &a.TokenIDsLogprob, pyInt, itoa),
		num("logprob-start-len", &a.LogprobStartLen),
	), []option{
		flag("return-routed-experts", &a.ReturnRoutedExperts),
	}, a.since(
		flag("cache-report", &a.CacheReport),
	), []option{
		num("seed", &a.Seed), flag("disable-ignore-eos", &a.DisableIgnoreEOS),
	}, a.since(
		real64("temperature", &a.Temperature), real64("top-p", &a.TopP),
	), []option{
		optStr("extra-request-body", &a.ExtraRequestBody).shown(`{"key1": "value1", "key2": "value2"}`),
		flag("apply-chat-template", &a.ApplyChatTemplate),
	})
}

func (a *SGLangArgs) profileOptions() []option {
	return slices.Concat([]option{
		flag("profile", &a.Profile), flag("plot-throughput", &a.PlotThroughput),
		choices("profile-activities", &a.ProfileActivities, a.choices(sglangActivities)...),
	}, a.since(
		optNum("profile-start-step", &a.ProfileStartStep), optNum("profile-steps", &a.ProfileSteps),
	), []option{
		optNum("profile-num-steps", &a.ProfileNumSteps), flag("profile-by-stage", &a.ProfileByStage),
		list("profile-stages", someOf, &a.ProfileStages, reprList),
	}, a.since(
		optStr("profile-output-dir", &a.ProfileOutputDir), optStr("profile-prefix", &a.ProfilePrefix),
	), []option{
		list("lora-name", anyNumber, &a.LoraName, reprList),
		choice("lora-request-distribution", &a.LoraRequestDistribution, "uniform", "distinct", "skewed"),
		real64("lora-zipf-alpha", &a.LoraZipfAlpha),
		str("prompt-suffix", &a.PromptSuffix), flag("pd-separated", &a.PDSeparated),
		list("profile-prefill-url", anyNumber, &a.ProfilePrefillURL, reprList).without("profile-decode-url"),
		list("profile-decode-url", anyNumber, &a.ProfileDecodeURL, reprList).without("profile-prefill-url"),
	})
}

func (a *SGLangArgs) cacheOptions() []option {
	return slices.Concat([]option{
		flag("flush-cache", &a.FlushCache),
	}, a.since(
		valued("flush-cache-timeout", &a.FlushCacheTimeout, finitePositive, reprFloat),
	), []option{
		num("warmup-requests", &a.WarmupRequests), flag("tokenize-prompt", &a.TokenizePrompt),
	})
}

func (a *SGLangArgs) datasetOptions() []option {
	routing := "gsp-send-routing-id"
	if a.main() {
		routing = "gsp-send-routing-key"
	}
	return slices.Concat([]option{
		num("gsp-num-groups", &a.GSPNumGroups), num("gsp-prompts-per-group", &a.GSPPromptsPerGroup),
		num("gsp-system-prompt-len", &a.GSPSystemPromptLen), num("gsp-question-len", &a.GSPQuestionLen),
		num("gsp-output-len", &a.GSPOutputLen), real64("gsp-range-ratio", &a.GSPRangeRatio),
		flag("gsp-fast-prepare", &a.GSPFastPrepare), flag(routing, &a.GSPSendRoutingKey),
	}, a.since(
		num("gsp-num-turns", &a.GSPNumTurns), flag("gsp-ordered", &a.GSPOrdered),
		choice("gsp-group-distribution", &a.GSPGroupDistribution, "uniform", "zipf"),
		nullable("gsp-zipf-alpha", &a.GSPZipfAlpha, finitePositive, reprFloat),
	), []option{
		real64("mooncake-slowdown-factor", &a.MooncakeSlowdownFactor), num("mooncake-num-rounds", &a.MooncakeNumRounds),
		choice("mooncake-workload", &a.MooncakeWorkload, "mooncake", "conversation", "synthetic", "toolagent"),
	}, a.since(
		flag("fake-prefill", &a.FakePrefill),
	), []option{
		optStr("tag", &a.Tag),
	}, a.since(
		list("header", someOf, &a.Header, reprHeaders),
		flag("rust-client", &a.RustClient), optNum("rust-worker-threads", &a.RustWorkerThreads),
	))
}

// checkParsed is what the tool's parser refuses beyond single flags.
func (a *SGLangArgs) checkParsed() error {
	switch zipf := a.GSPGroupDistribution == "zipf"; {
	case a.RustWorkerThreads != nil && !a.RustClient:
		return usagef("--rust-worker-threads requires --rust-client")
	case a.main() && a.DatasetName == "generated-shared-prefix" && a.TokenizePrompt && a.GSPNumTurns > 1:
		return usagef("--tokenize-prompt requires --gsp-num-turns=1")
	case zipf && a.GSPZipfAlpha == nil:
		return usagef("--gsp-group-distribution=zipf requires --gsp-zipf-alpha, a number above 0")
	case !zipf && a.GSPZipfAlpha != nil:
		return usagef("--gsp-zipf-alpha goes with --gsp-group-distribution=zipf only")
	}
	return nil
}

// Namespace is the printout of all arguments, as Python shows them.
func (a *SGLangArgs) Namespace() string { return namespace(a.options) }

// Settings are all arguments by name, in text, without secrets.
func (a *SGLangArgs) Settings() map[string]string {
	m := settings(a.options)
	if a.Header != nil {
		m["header"] = "***"
	}
	return m
}

// reprHeaders prints headers, which that tool does not mask, without their secrets.
func reprHeaders(headers []string) string {
	var masked []string
	for _, h := range headers {
		masked = append(masked, Mask(h))
	}
	return reprList(masked)
}

// SGLangUsage is what the tool says of its flags when it cannot read args.
func SGLangUsage(program string, args []string) string {
	a := &SGLangArgs{DialectVersion: metrics.SGLangMain}
	_, _ = a.takeOwn(args) // its error is what the usage stands above
	a.defaults()
	return usageText(program, a.all())
}
