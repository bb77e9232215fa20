package vllm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/tool"
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
		argparse.Choice("speed-bench-dataset-subset", &d.SpeedSubset, dataset.Subsets()...),
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

// checkDataset reports what is wrong with the flags of the dataset.
func (a *Args) checkDataset(c *argparse.Checklist) {
	drawn := a.is(drawnDatasets...)
	c.Refuse(drawn && a.DatasetPath != nil, "--dataset-path cannot be used with --dataset-name %s; for a file use sharegpt or custom", a.DatasetName)
	missing := !drawn && a.DatasetPath == nil && (!a.is("hf") || a.HFName == nil)
	c.Refuse(missing, "--dataset-name %s needs --dataset-path", a.DatasetName)
	c.Refuse(a.is(customDatasets...) && a.DatasetPath != nil && !strings.HasSuffix(*a.DatasetPath, ".jsonl"), "--dataset-name %s needs a --dataset-path that ends in .jsonl", a.DatasetName)
	c.Refuse(a.SkipTokenizerInit && !a.is(customDatasets...), "--skip-tokenizer-init cannot be used with --dataset-name %s, which counts tokens", a.DatasetName)
	c.Refuse(a.NumPrompts < 1 && !a.is(wholeDatasets...), "--num-prompts %d: must be at least 1", a.NumPrompts)
	c.Refuse(a.RandomBatchSize != 1 && !a.is("random", "random-mm", "random-rerank"), "--random-batch-size %d: only --dataset-name random and random-rerank have batches", a.RandomBatchSize)
	a.checkLengths(c)
	a.checkBackend(c)
	d, flags, err := a.dataset()
	if c.Add(err); err == nil && !missing {
		ask := workload.Ask{Protocol: a.protocol(), Silent: a.pooling()}
		c.Add(tool.Named(d.Check(&workload.Source{Requests: a.requests(), Ask: ask}), flags))
	}
}

// checkLengths refuses lengths that mean something else to a Spec than to the tool.
func (a *Args) checkLengths(c *argparse.Checklist) {
	positive := func(flag string, n *int) {
		c.Refuse(n != nil && *n < 1, "--%s %d: must be positive; leave it out for the recorded length", flag, argparse.Value(n))
	}
	switch a.DatasetName {
	case "custom", "custom_audio":
		n := a.customOutput()
		c.Refuse(n < -1 || n == 0, "%s %d: must be positive, or -1 for the row's output_tokens", a.ownOutput("--custom-output-len"), n)
	case "sharegpt":
		positive("sharegpt-output-len", a.ShareGPTOutputLen)
		positive("output-len", a.OutputLen)
	case "hf":
		positive("hf-output-len", a.hfOutput())
	}
}

// ownOutput is the flag of the output length: that of the dataset, or --output-len, which
// goes ahead of it.
func (a *Args) ownOutput(flag string) string {
	if a.OutputLen != nil {
		return "--output-len"
	}
	return flag
}

// family is the name of the dataset that a copy is of.
func (a *Args) family() string {
	known := dataset.Families()
	if a.HFName != nil && (a.DatasetPath == nil || !slices.Contains(known, *a.DatasetPath)) {
		return *a.HFName
	}
	return argparse.Value(a.DatasetPath)
}

// checkBackend reports a backend that cannot carry what the dataset gives.
func (a *Args) checkBackend(c *argparse.Checklist) {
	chat, sound := a.chat(), a.Backend == "openai-audio"
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
	c.Refuse(a.EnableMultimodalChat && a.is("sharegpt") && !chat, "--enable-multimodal-chat makes chats of prompts; %s", use)
}

func (a *Args) checkHFBackend(c *argparse.Checklist, media func()) {
	name := a.family()
	switch {
	case dataset.Tools(name):
		c.Refuse(!a.chat(), "%s has tools with each request and needs --backend openai-chat with --endpoint /v1/chat/completions", name)
	case dataset.Sounds(name):
		c.Refuse(a.Backend != "openai-audio" && !a.chat(), "%s sends sounds and needs --backend openai-audio with --endpoint /v1/audio/transcriptions", name)
	case dataset.Media(name):
		media()
	}
}

// requests is how many are wanted; 0: all that there are.
func (a *Args) requests() int { return max(0, a.NumPrompts) }

// dataset is what --dataset-name names, with the flags of its settings.
func (a *Args) dataset() (workload.Dataset, map[string]string, error) {
	flags := map[string]string{"data": "--dataset-path", "requests": "--num-prompts", "skip_template": "--skip-chat-template"}
	data, common := argparse.Value(a.DatasetPath), a.common()
	made := dataset.Kinds()["vllm."+a.DatasetName].New()
	switch d := made.(type) {
	case *dataset.PrefixRepetition:
		a.prefixRepetition(d, flags)
	case *dataset.ShareGPT:
		d.Data, d.Output, d.NoShuffle, d.NoOversample, d.Sending = data, a.output(argparse.Value(a.ShareGPTOutputLen)), a.DisableShuffle, a.NoOversample, common.Sending
	case *dataset.BurstGPT:
		d.Data, d.Sending = data, common.Sending
	case *dataset.Sonnet:
		flags["input_len"], flags["prefix_len"], flags["output_len"] = "--sonnet-input-len", "--sonnet-prefix-len", "--sonnet-output-len"
		d.Data, d.Input, d.Prefix, d.Output, d.Sending = data, a.SonnetInput, a.SonnetPrefix, a.SonnetOutput, common.Sending
	case *dataset.SpecBench:
		flags["output_len"], flags["category"] = a.ownOutput("--spec-bench-output-len"), "--spec-bench-category"
		d.Data, d.Category, d.Output, d.Common = data, argparse.Value(a.SpecBenchCategory), a.output(a.SpecBenchOutputLen), common
	case *dataset.SpeedBench:
		flags["output_len"], flags["category"], flags["subset"] = "--speed-bench-output-len", "--speed-bench-category", "--speed-bench-dataset-subset"
		d.Data, d.Subset, d.Category, d.Output, d.Common = data, a.SpeedSubset, argparse.Value(a.SpeedCategory), a.SpeedOutputLen, common
	case *dataset.TimedTrace:
		a.timedTrace(d, flags)
	case *dataset.HF:
		a.hf(d, flags)
	case *dataset.CustomImage:
		flags["output_len"] = a.ownOutput("--custom-output-len")
		d.Data, d.Output, d.Inline, d.Common = data, a.customOutput(), a.EnsureClientSideData, common
	case *dataset.CustomAudio:
		flags["output_len"] = a.ownOutput("--custom-output-len")
		d.Data, d.Output, d.Chat, d.Common = data, max(a.customOutput(), 0), a.EnableMultimodalChat, common
	case *dataset.Custom:
		flags["output_len"] = a.ownOutput("--custom-output-len")
		d.Data, d.Output, d.Common = data, max(a.customOutput(), 0), common
	default:
		return made, flags, a.random(made, flags)
	}
	return made, flags, nil
}

// common are the settings of datasets of files. Prompts that nothing counts are not
// rendered.
func (a *Args) common() dataset.Common {
	c := dataset.Common{
		NoShuffle: a.DisableShuffle, NoOversample: a.NoOversample, SkipTemplate: a.SkipChatTemplate || a.SkipTokenizerInit, Sending: a.sending(),
	}
	if a.is("custom", "speed_bench") && a.ChatTemplateKwargs != nil {
		_ = json.Unmarshal(a.ChatTemplateKwargs, &c.Arguments) // an object, or null
	}
	return c
}

// sending is what the backend makes of requests.
func (a *Args) sending() dataset.Sending {
	s := dataset.Sending{Limit: a.limitField(), Uncounted: a.SkipTokenizerInit}
	if fields, _ := a.extraFields(); fields[s.Limit] != nil { // its error is told elsewhere
		s.Limit = ""
	}
	if b := a.backend(); b.clip || b.vlm2vec || b.infinity {
		s.Backend = a.Backend
	}
	return s
}

// output is --output-len, or else n.
func (a *Args) output(n int) int {
	if a.OutputLen != nil {
		return *a.OutputLen
	}
	return n
}

// customOutput is the output length of every request, or -1 for the row's. A prompt that
// nothing counts asks for one token, whatever the flags say.
func (a *Args) customOutput() int {
	if a.SkipTokenizerInit {
		return 1
	}
	return a.output(a.CustomOutputLen)
}

// random are the datasets of random tokens.
func (a *Args) random(made workload.Dataset, flags map[string]string) error {
	flags["input_len"], flags["output_len"] = "--random-input-len", a.ownOutput("--random-output-len")
	flags["prefix_len"], flags["batch"] = "--random-prefix-len", "--random-batch-size"
	flags["input_range"], flags["output_range"] = "--random-range-ratio (input)", "--random-range-ratio (output)"
	input, output, err := rangeRatio(a.RandomRangeRatio)
	r := dataset.Random{
		Input: a.RandomInputLen, Output: a.output(a.RandomOutputLen), InputRange: input, OutputRange: output, Prefix: a.RandomPrefixLen,
		Batch: a.RandomBatchSize, Sending: a.sending(),
	}
	if a.InputLen != nil {
		r.Input, flags["input_len"] = *a.InputLen, "--input-len"
	}
	switch d := made.(type) {
	case *dataset.Random:
		*d = r
	case *dataset.Rerank:
		d.Random, d.NoReranker = r, a.NoReranker
	case *dataset.RandomMM:
		flags["items"], flags["items_range"] = "--random-mm-base-items-per-request", "--random-mm-num-mm-items-range-ratio"
		flags["buckets"], flags["limits"] = "--random-mm-bucket-config", "--random-mm-limit-mm-per-prompt"
		*d = dataset.RandomMM{Random: r, Items: a.MMBaseItems, ItemsRange: a.MMItemsRange, Buckets: a.MMBuckets}
		if e := json.Unmarshal(a.MMLimit, &d.Limits); e != nil {
			err = errors.Join(err, fmt.Errorf("--random-mm-limit-mm-per-prompt: %w", e))
		}
	}
	return err
}

// rangeRatio reads --random-range-ratio: a number for both, or an object.
func rangeRatio(s string) (input, output float64, err error) {
	if f, err := python.ParseFloat(s); err == nil {
		return f, f, nil
	}
	var both struct{ Input, Output *float64 }
	if json.Unmarshal([]byte(s), &both) != nil || both.Input == nil || both.Output == nil {
		return 0, 0, fmt.Errorf(`--random-range-ratio %q: must be a number, or an object such as {"input": 0.2, "output": 0}`, s)
	}
	return *both.Input, *both.Output, nil
}

// prefixRepetition: up to release 0.33 it leaves out what does not divide evenly.
func (a *Args) prefixRepetition(d *dataset.PrefixRepetition, flags map[string]string) {
	flags["prefixes"], flags["prefix_len"] = "--prefix-repetition-num-prefixes", "--prefix-repetition-prefix-len"
	flags["suffix_len"], flags["output_len"] = "--prefix-repetition-suffix-len", a.ownOutput("--prefix-repetition-output-len")
	d.Prefixes, d.Prefix, d.Suffix, d.Output = a.NumPrefixes, a.PrefixLen, a.SuffixLen, a.output(a.PrefixOutput)
	d.NoShuffle, d.Remainder, d.Sending = a.DisableShuffle, a.DialectVersion == defaultVersion, a.sending()
}

func (a *Args) timedTrace(d *dataset.TimedTrace, flags map[string]string) {
	flags["chunk"], flags["multiplier"] = "--timed-trace-chunk-hash-size", "--timed-trace-sec-multiplier"
	flags["timestamp"], flags["hash_ids"] = "--timed-trace-label-timestamp", "--timed-trace-label-hash-ids"
	flags["input_length"], flags["output_length"] = "--timed-trace-label-input-length", "--timed-trace-label-output-length"
	d.Data, d.Chunk, d.Sending = argparse.Value(a.DatasetPath), a.TraceChunk, a.sending()
	if f, ok := a.TraceMultiplier.(float64); ok {
		d.Multiplier = f
	}
	d.Timestamp, d.InputLength, d.OutputLength, d.HashIDs = a.TraceTimestamp, a.TraceInput, a.TraceOutput, a.TraceIDs
}

func (a *Args) hf(d *dataset.HF, flags map[string]string) {
	flags["name"], flags["subset"], flags["split"], flags["output_len"] = "--hf-name", "--hf-subset", "--hf-split", "--hf-output-len"
	flags["categories"], flags["min_distance"], flags["max_distance"] = "--bfcl-categories", "--blazedit-min-distance", "--blazedit-max-distance"
	flags["min_audio"], flags["max_audio"] = "--asr-min-audio-len-sec", "--asr-max-audio-len-sec"
	if a.DatasetPath == nil {
		flags["data"] = "--hf-name"
	} else if a.HFName == nil {
		flags["name"] = "--dataset-path"
	}
	*d = dataset.HF{
		Data: argparse.Value(a.DatasetPath), Name: a.family(), Subset: argparse.Value(a.HFSubset), Split: argparse.Value(a.HFSplit), Gather: a.NoStream,
		Output: argparse.Value(a.hfOutput()), Categories: a.BFCLCategories, MinDistance: a.BlazeditMin, MaxDistance: a.BlazeditMax,
		MinAudio: a.ASRMin, MaxAudio: a.ASRMax, Common: a.common(),
	}
	if math.IsInf(d.MaxAudio, 1) {
		d.MaxAudio = 0
	}
}

func (a *Args) hfOutput() *int {
	if a.OutputLen != nil {
		return a.OutputLen
	}
	return a.HFOutputLen
}

// ownTimes reports whether requests are sent when their trace says.
func (a *Args) ownTimes() bool {
	return a.is("timed_trace") && (a.SelfTimed == nil || *a.SelfTimed)
}

// reprNumber prints a number that may be whole.
func reprNumber(v any) string {
	if f, ok := v.(float64); ok {
		return python.Float(f)
	}
	return fmt.Sprint(v)
}
