package dialect

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// VLLMArgs is the command line of `vllm bench serve`. A nil pointer is Python's
// None.
type VLLMArgs struct {
	Seed, NumPrompts                                     int
	DatasetName                                          string
	DatasetPath                                          *string
	NoOversample, DisableShuffle, SkipChatTemplate       bool
	EnableMultimodalChat                                 bool
	InputLen, OutputLen                                  *int
	RandomInputLen, RandomOutputLen, RandomPrefixLen     int
	RandomRangeRatio                                     string
	RandomBatchSize                                      int
	MMBaseItems                                          int
	MMItemsRange                                         float64
	MMLimit                                              json.RawMessage
	MMBuckets                                            []workload.Bucket
	CustomOutputLen                                      int
	ShareGPTOutputLen                                    *int
	Label, BaseURL, Model, ServedModelName, Tokenizer    *string
	Backend, Host, Endpoint, TokenizerMode               string
	Port                                                 int
	Header, Goodput, Metadata, LoraModules               []string
	Insecure, SkipTokenizerInit, TrustRemoteCode         bool
	RequestRate, Burstiness, ProbeRequestRate            float64
	MaxConcurrency                                       *int
	RampUpStrategy                                       *string
	RampUpStartRPS, RampUpEndRPS                         *int
	NumWarmups, ReadyCheckTimeoutSec                     int
	Profile, DisableTqdm, IgnoreEOS                      bool
	SelfTimed                                            *bool
	LoraAssignment, RequestIDPrefix                      string
	Logprobs, TopK                                       *int
	TopP, MinP, Temperature                              *float64
	FrequencyPenalty, PresencePenalty, RepetitionPenalty *float64
	ExtraBody, ChatTemplateKwargs                        json.RawMessage
	PercentileMetrics, ResultDir, ResultFilename         *string
	MetricPercentiles, TimelineITLThresholds             string
	SaveResult, SaveDetailed, AppendResult               bool
	PlotTimeline, PlotDatasetStats                       bool

	vllmDataset

	// DialectVersion is Pitot's own: whose definitions and report to use.
	DialectVersion string
	// RequireValid, also Pitot's own, asks for an exit code that tells whether the
	// load generator was in the way.
	RequireValid bool

	options []option
}

// defaultVLLMVersion is the tool's development.
const defaultVLLMVersion = string(metrics.VLLMMain)

// Datasets and backends that the tool knows.
var (
	vllmDatasets = []string{
		"random", "random-mm", "sharegpt", "custom",
		"burstgpt", "sonnet", "random-rerank", "hf", "custom_audio", "custom_image", "prefix_repetition",
		"spec_bench", "speed_bench", "timed_trace",
	}
	vllmBackends = []string{
		"vllm", "openai", "openai-chat",
		"openai-responses", "openai-audio", "openai-embeddings", "openai-embeddings-chat", "openai-embeddings-clip", "openai-embeddings-vlm2vec",
		"infinity-embeddings", "infinity-embeddings-clip", "vllm-pooling", "vllm-rerank",
	}
)

// ParseVLLM reads the arguments that follow `bench serve`. idPrefix is the
// default of --request-id-prefix.
func ParseVLLM(args []string, idPrefix string) (*VLLMArgs, error) {
	a := &VLLMArgs{
		NumPrompts: 1000, DatasetName: "random",
		RandomInputLen: 1024, RandomOutputLen: 128, RandomRangeRatio: "0.0", RandomBatchSize: 1,
		MMBaseItems: 1, MMLimit: json.RawMessage(`{"image": 255, "video": 1}`), MMBuckets: workload.DefaultBuckets(),
		CustomOutputLen: 256, vllmDataset: defaultDataset(),
		Backend: "openai", Host: "127.0.0.1", Port: 8000, Endpoint: "/v1/completions", TokenizerMode: "auto",
		RequestRate: math.Inf(1), Burstiness: 1, LoraAssignment: "random", RequestIDPrefix: idPrefix,
		MetricPercentiles: "99", TimelineITLThresholds: "25,50",
		DialectVersion: defaultVLLMVersion,
	}
	a.options = slices.Concat(a.generalOptions(), a.datasetOptions(), a.serveOptions(),
		triState("self-timed", &a.SelfTimed), a.figureOptions(), a.requestOptions())
	p := parser{options: a.options}
	if err := p.parse(args); err != nil {
		return nil, err
	}
	return a, nil
}

// The options stand in the order in which the tool prints them.

func (a *VLLMArgs) generalOptions() []option {
	return []option{
		flag("trust-remote-code", &a.TrustRemoteCode),
		num("seed", &a.Seed), num("num-prompts", &a.NumPrompts),
		choice("dataset-name", &a.DatasetName, vllmDatasets...), flag("no-stream", &a.NoStream),
		optStr("dataset-path", &a.DatasetPath), flag("no-oversample", &a.NoOversample),
		flag("skip-chat-template", &a.SkipChatTemplate), flag("enable-multimodal-chat", &a.EnableMultimodalChat),
		flag("disable-shuffle", &a.DisableShuffle),
	}
}

// reprBuckets is a dictionary with (height, width, frames) as keys.
func reprBuckets(buckets []workload.Bucket) string {
	items := make([]string, len(buckets))
	for i, b := range buckets {
		items[i] = b.String() + ": " + reprFloat(b.P)
	}
	return "{" + strings.Join(items, ", ") + "}"
}

func (a *VLLMArgs) serveOptions() []option {
	return []option{
		optStr("label", &a.Label), choice("backend", &a.Backend, vllmBackends...),
		optStr("base-url", &a.BaseURL), str("host", &a.Host), num("port", &a.Port), str("endpoint", &a.Endpoint),
		list("header", anyNumber, &a.Header, maskedHeaders),
		optNum("max-concurrency", &a.MaxConcurrency), optStr("model", &a.Model),
		optNum("input-len", &a.InputLen), optNum("output-len", &a.OutputLen),
		optStr("tokenizer", &a.Tokenizer), str("tokenizer-mode", &a.TokenizerMode),
		flag("use-beam-search", new(bool)), optNum("logprobs", &a.Logprobs),
		real64("request-rate", &a.RequestRate), real64("burstiness", &a.Burstiness),
		real64("probe-request-rate", &a.ProbeRequestRate), flag("disable-tqdm", &a.DisableTqdm),
		num("num-warmups", &a.NumWarmups), flag("profile", &a.Profile),
		flag("save-result", &a.SaveResult), flag("save-detailed", &a.SaveDetailed), flag("append-result", &a.AppendResult),
		list("metadata", anyNumber, &a.Metadata, reprList),
		optStr("result-dir", &a.ResultDir), optStr("result-filename", &a.ResultFilename),
		flag("ignore-eos", &a.IgnoreEOS),
	}
}

func (a *VLLMArgs) figureOptions() []option {
	return []option{
		optStr("percentile-metrics", &a.PercentileMetrics), str("metric-percentiles", &a.MetricPercentiles),
		list("goodput", someOf, &a.Goodput, reprList), str("request-id-prefix", &a.RequestIDPrefix),
	}
}

func (a *VLLMArgs) requestOptions() []option {
	return []option{
		optReal("top-p", &a.TopP), optNum("top-k", &a.TopK), optReal("min-p", &a.MinP),
		optReal("temperature", &a.Temperature), optReal("frequency-penalty", &a.FrequencyPenalty),
		optReal("presence-penalty", &a.PresencePenalty), optReal("repetition-penalty", &a.RepetitionPenalty),
		optStr("served-model-name", &a.ServedModelName),
		list("lora-modules", someOf, &a.LoraModules, reprList),
		choice("lora-assignment", &a.LoraAssignment, "random", "round-robin"),
		optChoice("ramp-up-strategy", &a.RampUpStrategy, "linear", "exponential"),
		optNum("ramp-up-start-rps", &a.RampUpStartRPS), optNum("ramp-up-end-rps", &a.RampUpEndRPS),
		num("ready-check-timeout-sec", &a.ReadyCheckTimeoutSec),
		jsonObject("chat-template-kwargs", &a.ChatTemplateKwargs), jsonObject("extra-body", &a.ExtraBody),
		flag("skip-tokenizer-init", &a.SkipTokenizerInit), flag("insecure", &a.Insecure),
		flag("plot-timeline", &a.PlotTimeline), str("timeline-itl-thresholds", &a.TimelineITLThresholds),
		flag("plot-dataset-stats", &a.PlotDatasetStats),
		silent(choice("dialect-version", &a.DialectVersion, versionNames()...)), silent(flag("require-valid", &a.RequireValid)),
	}
}

func versionNames() []string {
	var names []string
	for _, v := range metrics.VLLMVersions() {
		names = append(names, string(v))
	}
	return names
}

// maskedHeaders prints whether there are headers, which may be secrets.
func maskedHeaders(headers []string) string {
	if headers == nil {
		return "None"
	}
	return "'***'"
}

// Namespace is the printout of all arguments, as Python shows them.
func (a *VLLMArgs) Namespace() string { return namespace(a.options) }

// Settings are all arguments by name, in text, without secrets.
func (a *VLLMArgs) Settings() map[string]string { return settings(a.options) }
