// Package vllm speaks for `vllm bench serve`: it reads that tool's command line and
// writes its report and its result file.
//
// It is two functions around the trace. One turns arguments into what a run needs:
// which requests, when, with which options. The other turns the trace into the tool's
// text and JSON, from the tool's definitions. Nothing in between knows which tool asked.
package vllm

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Args is the command line of `vllm bench serve`. A nil pointer is Python's
// None.
type Args struct {
	Settings
	datasetArgs

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
	BaseURL, Model, ServedModelName, Tokenizer           *string
	Host, Endpoint, TokenizerMode                        string
	Port                                                 int
	Header, LoraModules                                  []string
	Insecure, TrustRemoteCode                            bool
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
	TimelineITLThresholds                                string
	PlotTimeline, PlotDatasetStats                       bool

	// DialectVersion is Pitot's own: whose definitions and report to use.
	DialectVersion string
	// RequireValid, also Pitot's own, asks for an exit code that tells whether the
	// load generator was in the way.
	RequireValid bool

	options []argparse.Option
}

// defaultVersion is the tool's development.
const defaultVersion = string(Main)

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
	a := defaults(idPrefix)
	p := argparse.Parser{Options: a.options}
	if err := p.Parse(args); err != nil {
		return nil, err
	}
	return a, nil
}

func defaults(idPrefix string) *Args {
	a := &Args{
		NumPrompts: 1000, DatasetName: "random",
		RandomInputLen: 1024, RandomOutputLen: 128, RandomRangeRatio: "0.0", RandomBatchSize: 1,
		MMBaseItems: 1, MMLimit: json.RawMessage(`{"image": 255, "video": 1}`), MMBuckets: workload.DefaultBuckets(),
		CustomOutputLen: 256, datasetArgs: defaultDataset(),
		Settings: Settings{Backend: "openai", MetricPercentiles: "99"}, Host: "127.0.0.1", Port: 8000, Endpoint: "/v1/completions", TokenizerMode: "auto",
		RequestRate: math.Inf(1), Burstiness: 1, LoraAssignment: "random", RequestIDPrefix: idPrefix,
		TimelineITLThresholds: "25,50",
		DialectVersion:        defaultVersion,
	}
	a.options = slices.Concat(a.generalOptions(), a.datasetOptions(), a.serveOptions(),
		argparse.TriState("self-timed", &a.SelfTimed), a.figureOptions(), a.requestOptions())
	return a
}

// The options stand in the order in which the tool prints them.

func (a *Args) generalOptions() []argparse.Option {
	return []argparse.Option{
		argparse.Flag("trust-remote-code", &a.TrustRemoteCode),
		argparse.Int("seed", &a.Seed), argparse.Int("num-prompts", &a.NumPrompts),
		argparse.Choice("dataset-name", &a.DatasetName, datasets...), argparse.Flag("no-stream", &a.NoStream),
		argparse.OptString("dataset-path", &a.DatasetPath), argparse.Flag("no-oversample", &a.NoOversample),
		argparse.Flag("skip-chat-template", &a.SkipChatTemplate), argparse.Flag("enable-multimodal-chat", &a.EnableMultimodalChat),
		argparse.Flag("disable-shuffle", &a.DisableShuffle),
	}
}

// reprBuckets is a dictionary with (height, width, frames) as keys.
func reprBuckets(buckets []workload.Bucket) string {
	items := make([]string, len(buckets))
	for i, b := range buckets {
		items[i] = b.String() + ": " + python.Float(b.P)
	}
	return "{" + strings.Join(items, ", ") + "}"
}

func (a *Args) serveOptions() []argparse.Option {
	return []argparse.Option{
		argparse.OptString("label", &a.Label), argparse.Choice("backend", &a.Backend, backends...),
		argparse.OptString("base-url", &a.BaseURL), argparse.String("host", &a.Host), argparse.Int("port", &a.Port), argparse.String("endpoint", &a.Endpoint),
		argparse.List("header", argparse.AnyNumber, &a.Header, maskedHeaders),
		argparse.OptInt("max-concurrency", &a.MaxConcurrency), argparse.OptString("model", &a.Model),
		argparse.OptInt("input-len", &a.InputLen), argparse.OptInt("output-len", &a.OutputLen),
		argparse.OptString("tokenizer", &a.Tokenizer), argparse.String("tokenizer-mode", &a.TokenizerMode),
		argparse.Flag("use-beam-search", new(bool)), argparse.OptInt("logprobs", &a.Logprobs),
		argparse.Float("request-rate", &a.RequestRate), argparse.Float("burstiness", &a.Burstiness),
		argparse.Float("probe-request-rate", &a.ProbeRequestRate), argparse.Flag("disable-tqdm", &a.DisableTqdm),
		argparse.Int("num-warmups", &a.NumWarmups), argparse.Flag("profile", &a.Profile),
		argparse.Flag("save-result", &a.SaveResult), argparse.Flag("save-detailed", &a.SaveDetailed), argparse.Flag("append-result", &a.AppendResult),
		argparse.List("metadata", argparse.AnyNumber, &a.Metadata, python.List),
		argparse.OptString("result-dir", &a.ResultDir), argparse.OptString("result-filename", &a.ResultFilename),
		argparse.Flag("ignore-eos", &a.IgnoreEOS),
	}
}

func (a *Args) figureOptions() []argparse.Option {
	return []argparse.Option{
		argparse.OptString("percentile-metrics", &a.PercentileMetrics), argparse.String("metric-percentiles", &a.MetricPercentiles),
		argparse.List("goodput", argparse.AtLeastOne, &a.Goodput, python.List), argparse.String("request-id-prefix", &a.RequestIDPrefix),
	}
}

func (a *Args) requestOptions() []argparse.Option {
	return []argparse.Option{
		argparse.OptFloat("top-p", &a.TopP), argparse.OptInt("top-k", &a.TopK), argparse.OptFloat("min-p", &a.MinP),
		argparse.OptFloat("temperature", &a.Temperature), argparse.OptFloat("frequency-penalty", &a.FrequencyPenalty),
		argparse.OptFloat("presence-penalty", &a.PresencePenalty), argparse.OptFloat("repetition-penalty", &a.RepetitionPenalty),
		argparse.OptString("served-model-name", &a.ServedModelName),
		argparse.List("lora-modules", argparse.AtLeastOne, &a.LoraModules, python.List),
		argparse.Choice("lora-assignment", &a.LoraAssignment, "random", "round-robin"),
		argparse.OptChoice("ramp-up-strategy", &a.RampUpStrategy, "linear", "exponential"),
		argparse.OptInt("ramp-up-start-rps", &a.RampUpStartRPS), argparse.OptInt("ramp-up-end-rps", &a.RampUpEndRPS),
		argparse.Int("ready-check-timeout-sec", &a.ReadyCheckTimeoutSec),
		argparse.JSONObject("chat-template-kwargs", &a.ChatTemplateKwargs), argparse.JSONObject("extra-body", &a.ExtraBody),
		argparse.Flag("skip-tokenizer-init", &a.SkipTokenizerInit), argparse.Flag("insecure", &a.Insecure),
		argparse.Flag("plot-timeline", &a.PlotTimeline), argparse.String("timeline-itl-thresholds", &a.TimelineITLThresholds),
		argparse.Flag("plot-dataset-stats", &a.PlotDatasetStats),
		argparse.Silent(argparse.Choice("dialect-version", &a.DialectVersion, argparse.Names(Versions())...)), argparse.Silent(argparse.Flag("require-valid", &a.RequireValid)),
	}
}

// maskedHeaders prints whether there are headers, which may be secrets.
func maskedHeaders(headers []string) string {
	if headers == nil {
		return "None"
	}
	return "'***'"
}

// Namespace is the printout of all arguments, as Python shows them.
func (a *Args) Namespace() string { return argparse.Namespace(a.options) }

// Texts are all arguments by name, in text, without secrets.
func (a *Args) Texts() map[string]string { return argparse.Texts(a.options) }
