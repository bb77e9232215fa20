// Package vllm speaks for `vllm bench serve`: it reads that tool's command line and
// writes its report and its result file.
//
// It is two functions around the trace. One turns arguments into the requests, the
// schedule and the options of a run. The other turns the trace into the tool's text and
// JSON, from the tool's definitions. Nothing in between knows which tool asked.
//
// # Datasets
//
// The files dataset_*.go are the datasets of `vllm bench serve`: drawn ones, files, and those of
// the Hugging Face hub, from a copy on this machine.
//
// Each is by the algorithm of that tool, with Python's and numpy's generators, so
// that the same file, seed and tokenizer give the same prompts in the same order,
// and the same output lengths and request ids. Only the bytes of images and audio
// differ where they are encoded again, since the encoders do; the content does not.
//
//	settings ── Check ── Read: files ──> Build: draws, prompts ──> Sending ──> requests
//
// Problems have the path of the setting, and those of a file its line and column.
//
// # Sweeps
//
// The files sweep_*.go speak for `vllm bench sweep serve`: its command line, its files of
// parameters, the command lines and the folders that it makes of them, and the files that it
// sums runs up in. It starts nothing.
package vllm

import (
	"encoding/json"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Args is the command line of `vllm bench serve`: its options in the order in which the
// tool prints them. A nil pointer is Python's None.
type Args struct {
	TrustRemoteCode      bool    `arg:"trust-remote-code"`
	Seed                 int     `arg:"seed"`
	NumPrompts           int     `arg:"num-prompts" default:"1000"`
	DatasetName          string  `arg:"dataset-name" default:"random"`
	NoStream             bool    `arg:"no-stream"`
	DatasetPath          *string `arg:"dataset-path"`
	NoOversample         bool    `arg:"no-oversample"`
	SkipChatTemplate     bool    `arg:"skip-chat-template"`
	EnableMultimodalChat bool    `arg:"enable-multimodal-chat"`
	DisableShuffle       bool    `arg:"disable-shuffle"`

	CustomOutputLen      int               `arg:"custom-output-len" default:"256"`
	EnsureClientSideData bool              `arg:"custom-ensure-client-side-data"`
	SpecBenchOutputLen   int               `arg:"spec-bench-output-len" default:"256"`
	SpecBenchCategory    *string           `arg:"spec-bench-category"`
	ShareGPTOutputLen    *int              `arg:"sharegpt-output-len"`
	TraceChunk           int               `arg:"timed-trace-chunk-hash-size" default:"16"`
	TraceMultiplier      any               `arg:"timed-trace-sec-multiplier"` // an int until one is given
	TraceTimestamp       string            `arg:"timed-trace-label-timestamp" default:"timestamp"`
	TraceInput           string            `arg:"timed-trace-label-input-length" default:"input_length"`
	TraceOutput          string            `arg:"timed-trace-label-output-length" default:"output_length"`
	TraceIDs             string            `arg:"timed-trace-label-hash-ids" default:"hash_ids"`
	BlazeditMin          float64           `arg:"blazedit-min-distance"`
	BlazeditMax          float64           `arg:"blazedit-max-distance" default:"1"`
	ASRMax               float64           `arg:"asr-max-audio-len-sec" default:"inf"`
	ASRMin               float64           `arg:"asr-min-audio-len-sec"`
	RandomInputLen       int               `arg:"random-input-len" default:"1024"`
	RandomOutputLen      int               `arg:"random-output-len" default:"128"`
	RandomRangeRatio     string            `arg:"random-range-ratio" default:"0.0"`
	RandomPrefixLen      int               `arg:"random-prefix-len"`
	RandomBatchSize      int               `arg:"random-batch-size" default:"1"`
	NoReranker           bool              `arg:"no-reranker"`
	MMBaseItems          int               `arg:"random-mm-base-items-per-request" default:"1"`
	MMItemsRange         float64           `arg:"random-mm-num-mm-items-range-ratio"`
	MMLimit              json.RawMessage   `arg:"random-mm-limit-mm-per-prompt" default:"{\"image\": 255, \"video\": 1}"`
	MMBuckets            []workload.Bucket `arg:"random-mm-bucket-config"`
	HFSubset             *string           `arg:"hf-subset"`
	HFSplit              *string           `arg:"hf-split"`
	HFName               *string           `arg:"hf-name"`
	HFOutputLen          *int              `arg:"hf-output-len"`
	BFCLCategories       []string          `arg:"bfcl-categories"`
	PrefixLen            int               `arg:"prefix-repetition-prefix-len" default:"256"`
	SuffixLen            int               `arg:"prefix-repetition-suffix-len" default:"256"`
	NumPrefixes          int               `arg:"prefix-repetition-num-prefixes" default:"10"`
	PrefixOutput         int               `arg:"prefix-repetition-output-len" default:"128"`
	SpeedSubset          string            `arg:"speed-bench-dataset-subset" default:"qualitative"`
	SpeedOutputLen       int               `arg:"speed-bench-output-len" default:"4096"`
	SpeedCategory        *string           `arg:"speed-bench-category"`

	Label            *string  `arg:"label"`
	Backend          string   `arg:"backend" default:"openai"`
	EndpointType     *string  `arg:"endpoint-type" in:"2025-07" hidden:"true"` // the backend
	BaseURL          *string  `arg:"base-url"`
	Host             string   `arg:"host" default:"127.0.0.1"`
	Port             int      `arg:"port" default:"8000"`
	Endpoint         string   `arg:"endpoint" default:"/v1/completions"`
	Header           []string `arg:"header" nargs:"*" mask:"'***'"`
	MaxConcurrency   *int     `arg:"max-concurrency"`
	Model            *string  `arg:"model"`
	InputLen         *int     `arg:"input-len"`
	OutputLen        *int     `arg:"output-len"`
	Tokenizer        *string  `arg:"tokenizer"`
	TokenizerMode    string   `arg:"tokenizer-mode" default:"auto"`
	UseBeamSearch    bool     `arg:"use-beam-search"` // changes nothing
	Logprobs         *int     `arg:"logprobs"`
	RequestRate      float64  `arg:"request-rate" default:"inf"`
	Burstiness       float64  `arg:"burstiness" default:"1"`
	ProbeRequestRate float64  `arg:"probe-request-rate"`
	DisableTqdm      bool     `arg:"disable-tqdm"`
	NumWarmups       int      `arg:"num-warmups"`
	Profile          bool     `arg:"profile"`
	SaveResult       bool     `arg:"save-result"`
	SaveDetailed     bool     `arg:"save-detailed"`
	AppendResult     bool     `arg:"append-result"`
	Metadata         []string `arg:"metadata" nargs:"*"` // KEY=VALUE
	ResultDir        *string  `arg:"result-dir"`
	ResultFilename   *string  `arg:"result-filename"`
	IgnoreEOS        bool     `arg:"ignore-eos"`
	SelfTimed        *bool    `arg:"self-timed"`

	PercentileMetrics *string  `arg:"percentile-metrics"`
	MetricPercentiles string   `arg:"metric-percentiles" default:"99"`
	Goodput           []string `arg:"goodput"` // NAME:MILLISECONDS
	RequestIDPrefix   string   `arg:"request-id-prefix"`

	TopP                  *float64        `arg:"top-p"`
	TopK                  *int            `arg:"top-k"`
	MinP                  *float64        `arg:"min-p"`
	Temperature           *float64        `arg:"temperature"`
	FrequencyPenalty      *float64        `arg:"frequency-penalty"`
	PresencePenalty       *float64        `arg:"presence-penalty"`
	RepetitionPenalty     *float64        `arg:"repetition-penalty"`
	ServedModelName       *string         `arg:"served-model-name"`
	LoraModules           []string        `arg:"lora-modules"`
	LoraAssignment        string          `arg:"lora-assignment" default:"random" choices:"random round-robin"`
	RampUpStrategy        *string         `arg:"ramp-up-strategy" choices:"linear exponential"`
	RampUpStartRPS        *int            `arg:"ramp-up-start-rps"`
	RampUpEndRPS          *int            `arg:"ramp-up-end-rps"`
	ReadyCheckTimeoutSec  int             `arg:"ready-check-timeout-sec"`
	ChatTemplateKwargs    json.RawMessage `arg:"chat-template-kwargs"`
	ExtraBody             json.RawMessage `arg:"extra-body"`
	SkipTokenizerInit     bool            `arg:"skip-tokenizer-init"`
	Insecure              bool            `arg:"insecure"`
	PlotTimeline          bool            `arg:"plot-timeline"`
	TimelineITLThresholds string          `arg:"timeline-itl-thresholds" default:"25,50"`
	PlotDatasetStats      bool            `arg:"plot-dataset-stats"`

	// DialectVersion, Pitot's own, is the version that determines definitions and report.
	DialectVersion Version `arg:"dialect-version" default:"2026-11" hidden:"true"`
	// RequireValid, also Pitot's own, asks for an exit code that tells whether the load
	// generator was in the way.
	RequireValid bool `arg:"require-valid" hidden:"true"`

	SonnetInput  int `arg:"sonnet-input-len" default:"550" hidden:"true"`
	SonnetOutput int `arg:"sonnet-output-len" default:"150" hidden:"true"`
	SonnetPrefix int `arg:"sonnet-prefix-len" default:"200" hidden:"true"`

	options []python.Option
}

// Datasets and backends that the tool knows.
var (
	datasets = []string{
		"random", "random-mm", "sharegpt", "custom",
		"burstgpt", "sonnet", "random-rerank", "hf", "custom_audio", "custom_image", "prefix_repetition",
		"spec_bench", "speed_bench", "timed_trace",
	}
	backends = []string{
		"vllm", "openai", "openai-chat",
		"openai-responses", "openai-audio", "openai-embeddings", "openai-embeddings-chat", "openai-embeddings-clip", "openai-embeddings-vlm2vec",
		"infinity-embeddings", "infinity-embeddings-clip", "vllm-pooling", "vllm-rerank",
	}
)

// Parse reads the arguments that follow `bench serve`. idPrefix is the
// default of --request-id-prefix.
func Parse(args []string, idPrefix string) (*Args, error) {
	form := formIn(args)
	if err := elsewhere(args, form); err != nil {
		return nil, err
	}
	a := defaults(idPrefix, form)
	p := python.Parser{Options: a.options}
	if err := p.Parse(args); err != nil {
		return nil, err
	}
	if a.EndpointType != nil {
		a.Backend = *a.EndpointType
	}
	return a, nil
}

// formIn is the form that arguments name. It is known ahead of the options, which depend on it.
func formIn(args []string) Version {
	form := V2611
	for i, arg := range args {
		name, value, joined := strings.Cut(python.Canonical(arg), "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if name == "--dialect-version" {
			form = Version(value)
		}
	}
	return form
}

// Help lists the options with their defaults.
func Help() string {
	a := defaults("bench-...-", V2611)
	return python.Help(a.options)
}

// Flags are the names of the options.
func Flags() []string { return python.Flags(defaults("", V2611).options) }

func defaults(idPrefix string, form Version) *Args {
	a := &Args{TraceMultiplier: 1, MMBuckets: workload.DefaultBuckets(), RequestIDPrefix: idPrefix}
	a.options = python.Options(a, string(form), map[string]python.Option{
		"dataset-name": python.Choice("dataset-name", &a.DatasetName, datasets...), "backend": python.Choice("backend", &a.Backend, backends...),
		"endpoint-type":              python.Nullable("endpoint-type", &a.EndpointType, python.OneOf(backends)),
		"timed-trace-sec-multiplier": python.Valued("timed-trace-sec-multiplier", &a.TraceMultiplier, readFloat),
		"random-mm-bucket-config":    python.Valued("random-mm-bucket-config", &a.MMBuckets, workload.ParseBuckets).ShownAs(a.reprBuckets),
		"bfcl-categories":            python.Valued("bfcl-categories", &a.BFCLCategories, readNames),
		"speed-bench-dataset-subset": python.Choice("speed-bench-dataset-subset", &a.SpeedSubset, Subsets()...),
		"dialect-version":            python.Choice("dialect-version", &a.DialectVersion, Versions()...),
	})
	return a
}

// readFloat is python.ParseFloat for a variable that holds something else at first.
func readFloat(s string) (any, error) { return python.ParseFloat(s) }

func readNames(s string) ([]string, error) {
	names := []string{}
	for name := range strings.SplitSeq(s, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// reprBuckets is a dictionary with (height, width, frames) as keys.
func (a *Args) reprBuckets() string {
	items := make([]string, len(a.MMBuckets))
	for i, b := range a.MMBuckets {
		items[i] = b.String() + ": " + python.Float(b.P)
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// Namespace is the printout of all arguments, as Python shows them.
func (a *Args) Namespace() string { return python.Namespace(a.options) }
