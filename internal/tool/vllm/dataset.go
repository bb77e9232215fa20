package vllm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
	"github.com/pitot-bench/pitot/internal/tool/python"
	"github.com/pitot-bench/pitot/internal/tool/vllm/dataset"
)

// datasetArgs are the flags of datasets that package workload does not know, under
// their names.
type datasetArgs struct {
	NoStream, EnsureClientSideData, NoReranker        bool
	SpecBenchOutputLen                                int
	SpecBenchCategory                                 *string
	TraceChunk                                        int
	TraceMultiplier                                   any // a whole number until one is given
	TraceTimestamp, TraceInput, TraceOutput, TraceIDs string
	BlazeditMin, BlazeditMax, ASRMin, ASRMax          float64
	HFSubset, HFSplit, HFName                         *string
	HFOutputLen                                       *int
	BFCLCategories                                    []string
	PrefixLen, SuffixLen, NumPrefixes, PrefixOutput   int
	SpeedSubset                                       string
	SpeedOutputLen                                    int
	SpeedCategory                                     *string
	SonnetInput, SonnetOutput, SonnetPrefix           int
}

func defaultDataset() datasetArgs {
	return datasetArgs{
		SpecBenchOutputLen: 256, TraceChunk: 16, TraceMultiplier: 1,
		TraceTimestamp: "timestamp", TraceInput: "input_length", TraceOutput: "output_length", TraceIDs: "hash_ids",
		BlazeditMax: 1, ASRMax: math.Inf(1),
		PrefixLen: 256, SuffixLen: 256, NumPrefixes: 10, PrefixOutput: 128,
		SpeedSubset: "qualitative", SpeedOutputLen: 4096,
		SonnetInput: 550, SonnetOutput: 150, SonnetPrefix: 200,
	}
}

// speedSubsets are the files of SPEED-Bench.
var speedSubsets = []string{"qualitative", "throughput_1k", "throughput_2k", "throughput_8k", "throughput_16k", "throughput_32k"}

// datasetOptions configure datasets, in the order in which the tool prints them.
func (a *Args) datasetOptions() []argparse.Option {
	d := &a.datasetArgs
	return []argparse.Option{
		argparse.Int("custom-output-len", &a.CustomOutputLen), argparse.Flag("custom-ensure-client-side-data", &d.EnsureClientSideData),
		argparse.Int("spec-bench-output-len", &d.SpecBenchOutputLen), argparse.OptString("spec-bench-category", &d.SpecBenchCategory),
		argparse.OptInt("sharegpt-output-len", &a.ShareGPTOutputLen),
		argparse.Int("timed-trace-chunk-hash-size", &d.TraceChunk), argparse.Valued("timed-trace-sec-multiplier", &d.TraceMultiplier, readFloat, reprNumber),
		argparse.String("timed-trace-label-timestamp", &d.TraceTimestamp), argparse.String("timed-trace-label-input-length", &d.TraceInput),
		argparse.String("timed-trace-label-output-length", &d.TraceOutput), argparse.String("timed-trace-label-hash-ids", &d.TraceIDs),
		argparse.Float("blazedit-min-distance", &d.BlazeditMin), argparse.Float("blazedit-max-distance", &d.BlazeditMax),
		argparse.Float("asr-max-audio-len-sec", &d.ASRMax), argparse.Float("asr-min-audio-len-sec", &d.ASRMin),
		argparse.Int("random-input-len", &a.RandomInputLen), argparse.Int("random-output-len", &a.RandomOutputLen),
		argparse.String("random-range-ratio", &a.RandomRangeRatio), argparse.Int("random-prefix-len", &a.RandomPrefixLen),
		argparse.Int("random-batch-size", &a.RandomBatchSize), argparse.Flag("no-reranker", &d.NoReranker),
		argparse.Int("random-mm-base-items-per-request", &a.MMBaseItems),
		argparse.Float("random-mm-num-mm-items-range-ratio", &a.MMItemsRange),
		argparse.JSONObject("random-mm-limit-mm-per-prompt", &a.MMLimit),
		argparse.Valued("random-mm-bucket-config", &a.MMBuckets, workload.ParseBuckets, reprBuckets),
		argparse.OptString("hf-subset", &d.HFSubset), argparse.OptString("hf-split", &d.HFSplit), argparse.OptString("hf-name", &d.HFName), argparse.OptInt("hf-output-len", &d.HFOutputLen),
		argparse.Valued("bfcl-categories", &d.BFCLCategories, readNames, python.List),
		argparse.Int("prefix-repetition-prefix-len", &d.PrefixLen), argparse.Int("prefix-repetition-suffix-len", &d.SuffixLen),
		argparse.Int("prefix-repetition-num-prefixes", &d.NumPrefixes), argparse.Int("prefix-repetition-output-len", &d.PrefixOutput),
		argparse.Choice("speed-bench-dataset-subset", &d.SpeedSubset, speedSubsets...),
		argparse.Int("speed-bench-output-len", &d.SpeedOutputLen), argparse.OptString("speed-bench-category", &d.SpeedCategory),
		argparse.Silent(argparse.Int("sonnet-input-len", &d.SonnetInput)), argparse.Silent(argparse.Int("sonnet-output-len", &d.SonnetOutput)), argparse.Silent(argparse.Int("sonnet-prefix-len", &d.SonnetPrefix)),
	}
}

// readFloat is pyFloat for a variable that holds something else at first.
func readFloat(s string) (any, error) { return python.ParseFloat(s) }

// readNames are names between commas.
func readNames(s string) ([]string, error) {
	names := []string{}
	for name := range strings.SplitSeq(s, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// Groups of datasets.
var (
	drawnDatasets  = []string{"random", "random-mm", "random-rerank", "prefix_repetition"}
	customDatasets = []string{"custom", "custom_image", "custom_audio"}
	wholeDatasets  = append([]string{"spec_bench", "speed_bench"}, customDatasets...) // of --num-prompts 0 they take all
)

func (a *Args) is(names ...string) bool { return slices.Contains(names, a.DatasetName) }

// FromFile reports whether the dataset is read from the one file that --dataset-path
// names.
func (a *Args) FromFile() bool { return !a.is(drawnDatasets...) && !a.is("hf") }

// checkDataset reports what is wrong with the flags of the dataset.
func (a *Args) checkDataset(c *argparse.Checklist) {
	drawn := a.is(drawnDatasets...)
	c.Refuse(drawn && a.DatasetPath != nil, "--dataset-path cannot be used with --dataset-name %s; for a file use sharegpt or custom", a.DatasetName)
	c.Refuse(!drawn && a.DatasetPath == nil && (!a.is("hf") || a.HFName == nil), "--dataset-name %s needs --dataset-path", a.DatasetName)
	c.Refuse(a.is(customDatasets...) && a.DatasetPath != nil && !strings.HasSuffix(*a.DatasetPath, ".jsonl"), "--dataset-name %s needs a --dataset-path that ends in .jsonl", a.DatasetName)
	c.Refuse(a.SkipTokenizerInit && !a.is(customDatasets...), "--skip-tokenizer-init cannot be used with --dataset-name %s, which counts tokens", a.DatasetName)
	c.Refuse(a.NumPrompts < 1 && !a.is(wholeDatasets...) && !a.is("random", "random-mm"), "--num-prompts %d: must be at least 1", a.NumPrompts)
	c.Refuse(a.RandomBatchSize != 1 && !a.is("random", "random-rerank"), "--random-batch-size %d: only --dataset-name random and random-rerank have batches", a.RandomBatchSize)
	a.checkBackend(c)
	switch a.DatasetName {
	case "random":
		r, err := a.Random()
		c.Add(errors.Join(err, r.Validate()))
	case "random-mm":
		r, err := a.RandomMM()
		if err == nil {
			err = r.Validate()
		}
		c.Add(err)
	case "random-rerank":
		r, err := a.Rerank()
		c.Add(errors.Join(err, r.Validate()))
	case "prefix_repetition":
		c.Add(a.PrefixRepetition().Validate())
	default:
		a.checkFileDataset(c)
	}
}

// checkFileDataset is checkDataset of those that have a file.
func (a *Args) checkFileDataset(c *argparse.Checklist) {
	length := func(flag string, n int) {
		if a.OutputLen != nil && !strings.HasPrefix(flag, "--s") {
			flag = "--output-len"
		}
		c.Refuse(n < 1, "%s %d: must be positive", flag, n)
	}
	switch a.DatasetName {
	case "custom", "custom_audio":
		flag := "--custom-output-len"
		if a.OutputLen != nil {
			flag = "--output-len"
		}
		c.Refuse(a.customOutput() < -1 || a.customOutput() == 0, "%s %d: must be positive, or -1 for the row's output_tokens", flag, a.customOutput())
	case "custom_image":
		length("--custom-output-len", a.customOutput())
	case "sharegpt":
		c.Refuse(a.ShareGPTOutputLen != nil && *a.ShareGPTOutputLen < 1, "--sharegpt-output-len must be positive; leave it out for the recorded length")
		c.Refuse(a.OutputLen != nil && *a.OutputLen < 1, "--output-len must be positive; leave it out for the recorded length")
	case "spec_bench":
		length("--spec-bench-output-len", a.specBenchOutput())
	case "speed_bench":
		length("--speed-bench-output-len", a.SpeedOutputLen)
	case "sonnet":
		length("--sonnet-output-len", a.SonnetOutput)
	case "timed_trace":
		c.Refuse(a.TraceChunk < 1, "--timed-trace-chunk-hash-size %d: must be at least 1", a.TraceChunk)
		c.Refuse(!(a.multiplier() > 0) || math.IsInf(a.multiplier(), 1), "--timed-trace-sec-multiplier %v: must be positive", a.multiplier())
	case "hf":
		c.Add(a.checkHF())
	}
}

// checkHF reports a name that is not known. A path may be that of a copy.
func (a *Args) checkHF() error {
	if n := a.hfOutput(); n != nil && *n < 1 {
		return fmt.Errorf("--hf-output-len %d: must be positive; leave it out for the dataset's own", *n)
	}
	if a.HFName == nil && a.DatasetPath == nil {
		return nil // told already
	}
	if err := (dataset.HF{Name: a.HFFamily()}).Check(); err != nil {
		return fmt.Errorf("--dataset-name hf: %w", err)
	}
	return nil
}

// HFFamily is the name of the dataset that a copy is of.
func (a *Args) HFFamily() string {
	known := dataset.Families()
	if a.HFName != nil && (a.DatasetPath == nil || !slices.Contains(known, *a.DatasetPath)) {
		return *a.HFName
	}
	return *a.DatasetPath
}

// HFRepository is the name of the dataset on the hub, empty where --dataset-path can
// only be that of a copy.
func (a *Args) HFRepository() string {
	if a.DatasetPath == nil {
		return *a.HFName
	}
	if org, name, ok := strings.Cut(*a.DatasetPath, "/"); ok && org != "" && !strings.HasPrefix(org, ".") && !strings.Contains(name, "/") {
		return *a.DatasetPath
	}
	return ""
}

// checkBackend reports a backend that can not carry what the dataset gives.
func (a *Args) checkBackend(c *argparse.Checklist) {
	chat, sound := a.Chat(), a.Backend == "openai-audio"
	embedsChat := strings.Contains(a.Backend, "embeddings-")
	use := "use --backend openai-chat with --endpoint /v1/chat/completions"
	media := func() {
		c.Refuse(!chat && !embedsChat, "--dataset-name %s sends pictures or videos, which --backend %s does not carry; %s", a.DatasetName, a.Backend, use)
	}
	switch a.DatasetName {
	case "random-mm":
		c.Refuse(!chat, "--dataset-name random-mm sends pictures and needs --backend openai-chat with --endpoint /v1/chat/completions")
	case "custom_image":
		media()
	case "custom_audio":
		c.Refuse(!chat && !sound, "--dataset-name custom_audio needs --backend openai-audio with --endpoint /v1/audio/transcriptions, or --backend openai-chat with --endpoint /v1/chat/completions and --enable-multimodal-chat")
		c.Refuse(chat && !a.EnableMultimodalChat, "--dataset-name custom_audio with --backend openai-chat needs --enable-multimodal-chat")
		c.Refuse(sound && a.EnableMultimodalChat, "--enable-multimodal-chat puts sounds into a chat, which --backend openai-audio is not")
	case "timed_trace":
		c.Refuse(a.Backend != "vllm" && a.Backend != "openai", "--dataset-name timed_trace sends token ids and needs --backend vllm or openai")
	case "random-rerank":
		c.Refuse(!a.NoReranker && a.Backend != "vllm-rerank", "--dataset-name random-rerank needs --backend vllm-rerank with --endpoint /v1/rerank, or --no-reranker and a backend for embeddings")
	case "hf":
		a.checkHFBackend(c, media)
	}
	c.Refuse(a.RandomBatchSize > 1 && a.is("random") && !a.Pooling(), "--random-batch-size %d: batches belong to backends for embeddings, not to --backend %s", a.RandomBatchSize, a.Backend)
	c.Refuse(a.EnableMultimodalChat && a.is("sharegpt") && !chat, "--enable-multimodal-chat makes chats of prompts; %s", use)
}

func (a *Args) checkHFBackend(c *argparse.Checklist, media func()) {
	if a.HFName == nil && a.DatasetPath == nil {
		return
	}
	name := a.HFFamily()
	switch {
	case dataset.Tools(name):
		c.Refuse(!a.Chat(), "%s has tools with each request and needs --backend openai-chat with --endpoint /v1/chat/completions", name)
	case dataset.Sounds(name):
		c.Refuse(a.Backend != "openai-audio" && !a.Chat(), "%s sends sounds and needs --backend openai-audio with --endpoint /v1/audio/transcriptions", name)
	case dataset.Media(name):
		media()
	}
}

// Rerank is the dataset "random-rerank".
func (a *Args) Rerank() (workload.Rerank, error) {
	random, err := a.Random()
	return workload.Rerank{Random: random, NoReranker: a.NoReranker}, err
}

// PrefixRepetition is the dataset "prefix_repetition". Up to release 0.33 it leaves
// out what does not divide evenly.
func (a *Args) PrefixRepetition() workload.PrefixRepetition {
	p := workload.PrefixRepetition{
		Requests: a.NumPrompts, Prefixes: a.NumPrefixes, Prefix: a.PrefixLen, Suffix: a.SuffixLen, Output: a.PrefixOutput,
		Seed: uint64(a.Seed), NoShuffle: a.DisableShuffle, Remainder: a.DialectVersion == defaultVersion,
	}
	if a.OutputLen != nil {
		p.Output = *a.OutputLen
	}
	return p
}

// Common is what all datasets from files have in common, for tokens that the caller
// adds.
func (a *Args) Common() dataset.Common {
	c := dataset.Common{
		Requests: a.NumPrompts, Seed: uint64(a.Seed), NoShuffle: a.DisableShuffle, NoOversample: a.NoOversample,
		IDPrefix: a.RequestIDPrefix, SkipTemplate: a.SkipChatTemplate,
	}
	if a.is("custom", "speed_bench") && a.ChatTemplateKwargs != nil {
		_ = json.Unmarshal(a.ChatTemplateKwargs, &c.Arguments) // an object, or null
	}
	return c
}

// TimedTrace is the dataset "timed_trace".
func (a *Args) TimedTrace(c dataset.Common) dataset.TimedTrace {
	return dataset.TimedTrace{
		Common: c, Chunk: a.TraceChunk, Multiplier: a.multiplier(),
		Timestamp: a.TraceTimestamp, InputLength: a.TraceInput, OutputLength: a.TraceOutput, HashIDs: a.TraceIDs,
	}
}

func (a *Args) multiplier() float64 {
	if f, ok := a.TraceMultiplier.(float64); ok {
		return f
	}
	return 1
}

// HF is the dataset "hf"; the caller adds the copy.
func (a *Args) HF(c dataset.Common) dataset.HF {
	return dataset.HF{
		Common: c, Name: a.HFFamily(), Subset: text(a.HFSubset), Split: text(a.HFSplit), Gather: a.NoStream, Output: a.hfOutput(),
		Categories:  strings.Join(a.BFCLCategories, ","),
		MinDistance: a.BlazeditMin, MaxDistance: a.BlazeditMax, MinAudio: a.ASRMin, MaxAudio: a.ASRMax,
	}
}

func (a *Args) hfOutput() *int {
	if a.OutputLen != nil {
		return a.OutputLen
	}
	return a.HFOutputLen
}

// SpecBench is the dataset "spec_bench".
func (a *Args) SpecBench(c dataset.Common) dataset.SpecBench {
	return dataset.SpecBench{Common: c, Category: text(a.SpecBenchCategory), Output: a.specBenchOutput()}
}

func (a *Args) specBenchOutput() int {
	if a.OutputLen != nil {
		return *a.OutputLen
	}
	return a.SpecBenchOutputLen
}

// SpeedBench is the dataset "speed_bench".
func (a *Args) SpeedBench(c dataset.Common) dataset.SpeedBench {
	return dataset.SpeedBench{Common: c, Category: text(a.SpeedCategory), Output: a.SpeedOutputLen}
}

// Sonnet is the dataset "sonnet".
func (a *Args) Sonnet(c dataset.Common) dataset.Sonnet {
	return dataset.Sonnet{Common: c, Input: a.SonnetInput, Prefix: a.SonnetPrefix, Output: a.SonnetOutput, Raw: a.Chat()}
}

// CustomImage is the dataset "custom_image".
func (a *Args) CustomImage(c dataset.Common) dataset.CustomImage {
	return dataset.CustomImage{Common: c, Output: a.customOutput(), Inline: a.EnsureClientSideData}
}

// CustomAudio is the dataset "custom_audio".
func (a *Args) CustomAudio(c dataset.Common) dataset.CustomAudio {
	return dataset.CustomAudio{Common: c, Output: max(a.customOutput(), 0), Chat: a.EnableMultimodalChat}
}

// OwnTimes reports whether requests are sent when their trace says.
func (a *Args) OwnTimes() bool {
	return a.is("timed_trace") && (a.SelfTimed == nil || *a.SelfTimed)
}

// text is a flag's value, empty where it is None.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// reprNumber prints a number that may be whole.
func reprNumber(v any) string {
	if f, ok := v.(float64); ok {
		return python.Float(f)
	}
	return fmt.Sprint(v)
}
