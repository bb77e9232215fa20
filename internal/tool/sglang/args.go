// Package sglang speaks for sglang.bench_serving: it reads that tool's command line and
// writes its report and its result file.
//
// It is two functions around the trace. One turns arguments into the requests, the
// schedule and the options of a run. The other turns the trace into the tool's text and
// JSON, from the tool's definitions. Nothing in between knows which tool asked.
//
// # Datasets
//
// The files dataset_*.go are the datasets of `sglang.bench_serving`: which draws and which
// rows, in which order, become which requests.
//
// That tool seeds Python's random and numpy's global generator once, and everything
// after takes its draws from those two: lengths and pixels from numpy's, choices and
// shuffles from Python's, and the gaps between requests from numpy's again. A dataset
// leaves both in its workload in the state of the tool's own, so that the next draws,
// for the arrivals and the adapters, are the same.
//
//	Read: files ──> Build: draws ──> requests, and the lines that the tool prints
//	                  │                 │
//	                  └── the generators go on ──> arrivals
//
// Draws are made in order. Tokenizing and encoding images need none: they run in parallel to the
// draws, at most a few requests behind, and their results are spooled.
package sglang

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Args is the command line of sglang.bench_serving: its options in the order in which the
// tool prints them. A nil pointer or slice is Python's None. Which flags there are, and
// some defaults, depend on the version: one that a version lacks keeps the value under
// which it changes nothing.
type Args struct {
	Backend              string  `arg:"backend" default:"sglang"`
	BaseURL              *string `arg:"base-url"`
	Host                 string  `arg:"host" default:"0.0.0.0"`
	Port                 *int    `arg:"port"`
	ReadyCheckTimeoutSec int     `arg:"ready-check-timeout-sec" in:"main"`
	DatasetName          string  `arg:"dataset-name" default:"sharegpt"`
	DatasetPath          string  `arg:"dataset-path"`
	DatasetOffset        int     `arg:"dataset-offset" in:"main"`
	AgenticMaxTurns      *int    `arg:"agentic-max-turns" in:"main"`
	SpeedBenchCategory   *string `arg:"speed-bench-category" choices:"low_entropy mixed high_entropy" in:"main"`
	SpeedBenchOutputLen  int     `arg:"speed-bench-output-len" default:"512" in:"main"`

	Model              *string `arg:"model"`
	ServedModelName    *string `arg:"served-model-name"`
	Tokenizer          *string `arg:"tokenizer"`
	NumPrompts         int     `arg:"num-prompts" default:"1000"`
	ShareGPTOutputLen  *int    `arg:"sharegpt-output-len"`
	ShareGPTContextLen *int    `arg:"sharegpt-context-len"`
	RandomInputLen     int     `arg:"random-input-len" default:"1024"`
	RandomOutputLen    int     `arg:"random-output-len" default:"1024"`
	RandomRangeRatio   float64 `arg:"random-range-ratio"`
	ImageCount         int     `arg:"image-count" default:"1"`
	ImageResolution    string  `arg:"image-resolution" default:"1080p"`
	RandomImageCount   bool    `arg:"random-image-count"`
	ImageFormat        string  `arg:"image-format" default:"jpeg"`
	ImageContent       string  `arg:"image-content" default:"random"`

	RequestRate        float64 `arg:"request-rate" default:"inf"`
	UseTraceTimestamps bool    `arg:"use-trace-timestamps"`
	MaxConcurrency     *int    `arg:"max-concurrency"`
	OutputFile         *string `arg:"output-file"`
	OutputDetails      bool    `arg:"output-details"`
	Goodput            []Limit `arg:"goodput" meta:"KEY:VALUE" in:"main"`
	PrintRequests      bool    `arg:"print-requests"`
	DisableTqdm        bool    `arg:"disable-tqdm"`
	DisableStream      bool    `arg:"disable-stream"`

	ReturnLogprob       bool    `arg:"return-logprob"`
	TopLogprobsNum      int     `arg:"top-logprobs-num" in:"main"`
	TokenIDsLogprob     []int   `arg:"token-ids-logprob" in:"main"`
	LogprobStartLen     int     `arg:"logprob-start-len" default:"-1" in:"main"`
	ReturnRoutedExperts bool    `arg:"return-routed-experts"`
	CacheReport         bool    `arg:"cache-report" in:"main"`
	Seed                int     `arg:"seed" default:"1"`
	DisableIgnoreEOS    bool    `arg:"disable-ignore-eos"`
	Temperature         float64 `arg:"temperature" in:"main"`
	TopP                float64 `arg:"top-p" default:"1" in:"main"`
	ExtraRequestBody    *string `arg:"extra-request-body" meta:"{\"key1\": \"value1\", \"key2\": \"value2\"}"`
	ApplyChatTemplate   bool    `arg:"apply-chat-template"`

	Profile                 bool     `arg:"profile"`
	PlotThroughput          bool     `arg:"plot-throughput"`
	ProfileActivities       []string `arg:"profile-activities" default:"CPU GPU"`
	ProfileStartStep        *int     `arg:"profile-start-step" in:"main"`
	ProfileSteps            *int     `arg:"profile-steps" in:"main"`
	ProfileNumSteps         *int     `arg:"profile-num-steps"`
	ProfileByStage          bool     `arg:"profile-by-stage"`
	ProfileStages           []string `arg:"profile-stages"`
	ProfileOutputDir        *string  `arg:"profile-output-dir" in:"main"`
	ProfilePrefix           *string  `arg:"profile-prefix" in:"main"`
	LoraName                []string `arg:"lora-name" nargs:"*"`
	LoraRequestDistribution string   `arg:"lora-request-distribution" default:"uniform" choices:"uniform distinct skewed"`
	LoraZipfAlpha           float64  `arg:"lora-zipf-alpha" default:"1.5"`
	PromptSuffix            string   `arg:"prompt-suffix"`
	PDSeparated             bool     `arg:"pd-separated"`
	ProfilePrefillURL       []string `arg:"profile-prefill-url" nargs:"*" bars:"profile-decode-url"`
	ProfileDecodeURL        []string `arg:"profile-decode-url" nargs:"*" bars:"profile-prefill-url"`
	FlushCache              bool     `arg:"flush-cache"`
	FlushCacheTimeout       float64  `arg:"flush-cache-timeout" default:"60" in:"main"`
	WarmupRequests          int      `arg:"warmup-requests" default:"1"`
	TokenizePrompt          bool     `arg:"tokenize-prompt"`

	GSPNumGroups           int      `arg:"gsp-num-groups" default:"64"`
	GSPPromptsPerGroup     int      `arg:"gsp-prompts-per-group" default:"16"`
	GSPSystemPromptLen     int      `arg:"gsp-system-prompt-len" default:"2048"`
	GSPQuestionLen         int      `arg:"gsp-question-len" default:"128"`
	GSPOutputLen           int      `arg:"gsp-output-len" default:"256"`
	GSPRangeRatio          float64  `arg:"gsp-range-ratio" default:"1"`
	GSPFastPrepare         bool     `arg:"gsp-fast-prepare"`
	GSPSendRoutingKey      bool     `arg:"gsp-send-routing-key"`
	GSPNumTurns            int      `arg:"gsp-num-turns" default:"1" in:"main"`
	GSPOrdered             bool     `arg:"gsp-ordered" in:"main"`
	GSPGroupDistribution   string   `arg:"gsp-group-distribution" default:"uniform" choices:"uniform zipf" in:"main"`
	GSPZipfAlpha           *float64 `arg:"gsp-zipf-alpha" in:"main"`
	MooncakeSlowdownFactor float64  `arg:"mooncake-slowdown-factor" default:"1"`
	MooncakeNumRounds      int      `arg:"mooncake-num-rounds" default:"1"`
	MooncakeWorkload       string   `arg:"mooncake-workload" default:"conversation" choices:"mooncake conversation synthetic toolagent"`
	FakePrefill            bool     `arg:"fake-prefill" in:"main"`
	Tag                    *string  `arg:"tag"`
	Header                 []string `arg:"header" in:"main"`
	RustClient             bool     `arg:"rust-client" in:"main"`
	RustWorkerThreads      *int     `arg:"rust-worker-threads" in:"main"`

	// DialectVersion, Pitot's own, is the version that determines flags, definitions and report.
	DialectVersion Version
	// RequireValid, also Pitot's own, asks for an exit code that tells whether the
	// load generator was in the way.
	RequireValid bool

	options []python.Option
}

// The tool's backends, datasets and profiler activities, in the order in which it lists them.
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

// Parse reads the arguments that follow the name of the module.
func Parse(args []string) (*Args, error) {
	a := &Args{DialectVersion: Main}
	args, err := a.takeOwn(args)
	if err != nil {
		return nil, err
	}
	a.bind()
	p := python.Parser{Options: a.options, Plain: true}
	if err := p.Parse(args); err != nil {
		return nil, a.otherVersion(args, err)
	}
	return a, a.checkParsed()
}

// takeOwn takes Pitot's own flags out of a command line. They are no options of the
// parser, or they would make short forms of the tool's ambiguous.
func (a *Args) takeOwn(args []string) (rest []string, err error) {
	own := python.Parser{Plain: true, Options: []python.Option{
		python.Choice("dialect-version", &a.DialectVersion, Versions()...), python.Flag("require-valid", &a.RequireValid),
	}}
	for len(args) > 0 {
		name, _, joined := strings.Cut(args[0], "=")
		n := 1
		if name == "--dialect-version" && !joined {
			n = min(2, len(args))
		}
		if name != "--dialect-version" && name != "--require-valid" {
			rest = append(rest, args[0])
		} else if err := own.Parse(args[:n]); err != nil {
			return nil, err
		}
		args = args[n:]
	}
	return rest, nil
}

// otherVersion adds to the error of a command line that another version can read
// that it can.
func (a *Args) otherVersion(args []string, err error) error {
	if errors.Is(err, python.ErrHelp) {
		return err
	}
	for _, v := range Versions() {
		b := &Args{DialectVersion: v}
		b.bind()
		p := python.Parser{Plain: true, Options: b.options}
		if v != a.DialectVersion && p.Parse(args) == nil {
			return python.Usagef("%v\n(--dialect-version %s takes it; this is %s)", err, v, a.DialectVersion)
		}
	}
	return err
}

// bind makes the options of the version, and sets their defaults.
func (a *Args) bind() {
	routing := "gsp-send-routing-id"
	if a.main() {
		routing = "gsp-send-routing-key"
	}
	a.options = python.Options(a, string(a.DialectVersion), map[string]python.Option{
		"backend": python.Choice("backend", &a.Backend, a.choices(backends)...), "dataset-name": python.Choice("dataset-name", &a.DatasetName, a.choices(datasets)...),
		"profile-activities":   python.Choices("profile-activities", &a.ProfileActivities, a.choices(activities)...),
		"goodput":              python.Values("goodput", &a.Goodput, readLimit),
		"flush-cache-timeout":  python.Valued("flush-cache-timeout", &a.FlushCacheTimeout, python.PositiveFloat),
		"gsp-zipf-alpha":       python.Nullable("gsp-zipf-alpha", &a.GSPZipfAlpha, python.PositiveFloat),
		"gsp-send-routing-key": python.Flag(routing, &a.GSPSendRoutingKey),
		"header":               python.Values("header", &a.Header, python.Text).ShownAs(func() string { return python.Repr(masked(a.Header)) }),
	})
	if a.main() {
		a.Seed, a.ReadyCheckTimeoutSec = 42, 60
	}
}

// checkParsed is what the tool's parser refuses beyond single flags.
func (a *Args) checkParsed() error {
	switch zipf := a.GSPGroupDistribution == "zipf"; {
	case a.RustWorkerThreads != nil && !a.RustClient:
		return python.Usagef("--rust-worker-threads requires --rust-client")
	case a.main() && a.DatasetName == "generated-shared-prefix" && a.TokenizePrompt && a.GSPNumTurns > 1:
		return python.Usagef("--tokenize-prompt requires --gsp-num-turns=1")
	case zipf && a.GSPZipfAlpha == nil:
		return python.Usagef("--gsp-group-distribution=zipf requires --gsp-zipf-alpha, a number above 0")
	case !zipf && a.GSPZipfAlpha != nil:
		return python.Usagef("--gsp-zipf-alpha goes with --gsp-group-distribution=zipf only")
	}
	return nil
}

// Namespace is the printout of all arguments, as Python shows them.
func (a *Args) Namespace() string { return python.Namespace(a.options) }

// Usage is what the tool says of its flags when it cannot read args.
func Usage(program string, args []string) string { return python.Usage(program, optionsFor(args)) }

// Help lists the options with their defaults.
func Help(args []string) string { return python.Help(optionsFor(args)) }

// Flags are the names of the options.
func Flags() []string { return python.Flags(optionsFor(nil)) }

func optionsFor(args []string) []python.Option {
	a := &Args{DialectVersion: Main}
	_, _ = a.takeOwn(args) // its error is what the usage stands above
	a.bind()
	return a.options
}

// readLimit reads NAME:MILLISECONDS.
func readLimit(s string) (Limit, error) {
	metrics := []string{"ttft", "tpot", "e2el"}
	name, value, _ := strings.Cut(s, ":")
	if !slices.Contains(metrics, name) {
		return Limit{}, fmt.Errorf("expected KEY:VALUE with KEY in %s, got %s", strings.Join(metrics, ", "), python.Quote(s))
	}
	ms, err := python.PositiveFloat(value)
	return Limit{name, ms}, err
}

// Repr is the tuple that the tool makes of a limit.
func (l Limit) Repr() string { return "(" + python.Quote(l.Name) + ", " + python.Float(l.MS) + ")" }

// masked are texts without what looks like a secret in them.
func masked(texts []string) (out []string) {
	for _, text := range texts {
		out = append(out, secret.Mask(text))
	}
	return out
}
