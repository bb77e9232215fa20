package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/tool/vllmdata"
)

// vllmDataset are the flags of datasets that package workload does not know, under
// their names.
type vllmDataset struct {
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

func defaultDataset() vllmDataset {
	return vllmDataset{
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
func (a *VLLMArgs) datasetOptions() []option {
	d := &a.vllmDataset
	return []option{
		num("custom-output-len", &a.CustomOutputLen), flag("custom-ensure-client-side-data", &d.EnsureClientSideData),
		num("spec-bench-output-len", &d.SpecBenchOutputLen), optStr("spec-bench-category", &d.SpecBenchCategory),
		optNum("sharegpt-output-len", &a.ShareGPTOutputLen),
		num("timed-trace-chunk-hash-size", &d.TraceChunk), valued("timed-trace-sec-multiplier", &d.TraceMultiplier, readFloat, reprNumber),
		str("timed-trace-label-timestamp", &d.TraceTimestamp), str("timed-trace-label-input-length", &d.TraceInput),
		str("timed-trace-label-output-length", &d.TraceOutput), str("timed-trace-label-hash-ids", &d.TraceIDs),
		real64("blazedit-min-distance", &d.BlazeditMin), real64("blazedit-max-distance", &d.BlazeditMax),
		real64("asr-max-audio-len-sec", &d.ASRMax), real64("asr-min-audio-len-sec", &d.ASRMin),
		num("random-input-len", &a.RandomInputLen), num("random-output-len", &a.RandomOutputLen),
		str("random-range-ratio", &a.RandomRangeRatio), num("random-prefix-len", &a.RandomPrefixLen),
		num("random-batch-size", &a.RandomBatchSize), flag("no-reranker", &d.NoReranker),
		num("random-mm-base-items-per-request", &a.MMBaseItems),
		real64("random-mm-num-mm-items-range-ratio", &a.MMItemsRange),
		jsonObject("random-mm-limit-mm-per-prompt", &a.MMLimit),
		valued("random-mm-bucket-config", &a.MMBuckets, workload.ParseBuckets, reprBuckets),
		optStr("hf-subset", &d.HFSubset), optStr("hf-split", &d.HFSplit), optStr("hf-name", &d.HFName), optNum("hf-output-len", &d.HFOutputLen),
		valued("bfcl-categories", &d.BFCLCategories, readNames, reprList),
		num("prefix-repetition-prefix-len", &d.PrefixLen), num("prefix-repetition-suffix-len", &d.SuffixLen),
		num("prefix-repetition-num-prefixes", &d.NumPrefixes), num("prefix-repetition-output-len", &d.PrefixOutput),
		choice("speed-bench-dataset-subset", &d.SpeedSubset, speedSubsets...),
		num("speed-bench-output-len", &d.SpeedOutputLen), optStr("speed-bench-category", &d.SpeedCategory),
		silent(num("sonnet-input-len", &d.SonnetInput)), silent(num("sonnet-output-len", &d.SonnetOutput)), silent(num("sonnet-prefix-len", &d.SonnetPrefix)),
	}
}

// readFloat is pyFloat for a variable that holds something else at first.
func readFloat(s string) (any, error) { return pyFloat(s) }

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

func (a *VLLMArgs) is(names ...string) bool { return slices.Contains(names, a.DatasetName) }

// FromFile reports whether the dataset is read from the one file that --dataset-path
// names.
func (a *VLLMArgs) FromFile() bool { return !a.is(drawnDatasets...) && !a.is("hf") }

// checkDataset reports what is wrong with the flags of the dataset.
func (a *VLLMArgs) checkDataset(c *checklist) {
	drawn := a.is(drawnDatasets...)
	c.refuse(drawn && a.DatasetPath != nil, "--dataset-path cannot be used with --dataset-name %s; for a file use sharegpt or custom", a.DatasetName)
	c.refuse(!drawn && a.DatasetPath == nil && (!a.is("hf") || a.HFName == nil), "--dataset-name %s needs --dataset-path", a.DatasetName)
	c.refuse(a.is(customDatasets...) && a.DatasetPath != nil && !strings.HasSuffix(*a.DatasetPath, ".jsonl"), "--dataset-name %s needs a --dataset-path that ends in .jsonl", a.DatasetName)
	c.refuse(a.SkipTokenizerInit && !a.is(customDatasets...), "--skip-tokenizer-init cannot be used with --dataset-name %s, which counts tokens", a.DatasetName)
	c.refuse(a.NumPrompts < 1 && !a.is(wholeDatasets...) && !a.is("random", "random-mm"), "--num-prompts %d: must be at least 1", a.NumPrompts)
	c.refuse(a.RandomBatchSize != 1 && !a.is("random", "random-rerank"), "--random-batch-size %d: only --dataset-name random and random-rerank have batches", a.RandomBatchSize)
	a.checkBackend(c)
	switch a.DatasetName {
	case "random":
		r, err := a.Random()
		c.add(errors.Join(err, r.Validate()))
	case "random-mm":
		r, err := a.RandomMM()
		if err == nil {
			err = r.Validate()
		}
		c.add(err)
	case "random-rerank":
		r, err := a.Rerank()
		c.add(errors.Join(err, r.Validate()))
	case "prefix_repetition":
		c.add(a.PrefixRepetition().Validate())
	default:
		a.checkFileDataset(c)
	}
}

// checkFileDataset is checkDataset of those that have a file.
func (a *VLLMArgs) checkFileDataset(c *checklist) {
	length := func(flag string, n int) {
		if a.OutputLen != nil && !strings.HasPrefix(flag, "--s") {
			flag = "--output-len"
		}
		c.refuse(n < 1, "%s %d: must be positive", flag, n)
	}
	switch a.DatasetName {
	case "custom", "custom_audio":
		flag := "--custom-output-len"
		if a.OutputLen != nil {
			flag = "--output-len"
		}
		c.refuse(a.customOutput() < -1 || a.customOutput() == 0, "%s %d: must be positive, or -1 for the row's output_tokens", flag, a.customOutput())
	case "custom_image":
		length("--custom-output-len", a.customOutput())
	case "sharegpt":
		c.refuse(a.ShareGPTOutputLen != nil && *a.ShareGPTOutputLen < 1, "--sharegpt-output-len must be positive; leave it out for the recorded length")
		c.refuse(a.OutputLen != nil && *a.OutputLen < 1, "--output-len must be positive; leave it out for the recorded length")
	case "spec_bench":
		length("--spec-bench-output-len", a.specBenchOutput())
	case "speed_bench":
		length("--speed-bench-output-len", a.SpeedOutputLen)
	case "sonnet":
		length("--sonnet-output-len", a.SonnetOutput)
	case "timed_trace":
		c.refuse(a.TraceChunk < 1, "--timed-trace-chunk-hash-size %d: must be at least 1", a.TraceChunk)
		c.refuse(!(a.multiplier() > 0) || math.IsInf(a.multiplier(), 1), "--timed-trace-sec-multiplier %v: must be positive", a.multiplier())
	case "hf":
		c.add(a.checkHF())
	}
}

// checkHF reports a name that is not known. A path may be that of a copy.
func (a *VLLMArgs) checkHF() error {
	if n := a.hfOutput(); n != nil && *n < 1 {
		return fmt.Errorf("--hf-output-len %d: must be positive; leave it out for the dataset's own", *n)
	}
	if a.HFName == nil && a.DatasetPath == nil {
		return nil // told already
	}
	if err := (vllmdata.HF{Name: a.HFFamily()}).Check(); err != nil {
		return fmt.Errorf("--dataset-name hf: %w", err)
	}
	return nil
}

// HFFamily is the name of the dataset that a copy is of.
func (a *VLLMArgs) HFFamily() string {
	known := vllmdata.Families()
	if a.HFName != nil && (a.DatasetPath == nil || !slices.Contains(known, *a.DatasetPath)) {
		return *a.HFName
	}
	return *a.DatasetPath
}

// HFRepository is the name of the dataset on the hub, empty where --dataset-path can
// only be that of a copy.
func (a *VLLMArgs) HFRepository() string {
	if a.DatasetPath == nil {
		return *a.HFName
	}
	if org, name, ok := strings.Cut(*a.DatasetPath, "/"); ok && org != "" && !strings.HasPrefix(org, ".") && !strings.Contains(name, "/") {
		return *a.DatasetPath
	}
	return ""
}

// checkBackend reports a backend that can not carry what the dataset gives.
func (a *VLLMArgs) checkBackend(c *checklist) {
	chat, sound := a.Chat(), a.Backend == "openai-audio"
	embedsChat := strings.Contains(a.Backend, "embeddings-")
	use := "use --backend openai-chat with --endpoint /v1/chat/completions"
	media := func() {
		c.refuse(!chat && !embedsChat, "--dataset-name %s sends pictures or videos, which --backend %s does not carry; %s", a.DatasetName, a.Backend, use)
	}
	switch a.DatasetName {
	case "random-mm":
		c.refuse(!chat, "--dataset-name random-mm sends pictures and needs --backend openai-chat with --endpoint /v1/chat/completions")
	case "custom_image":
		media()
	case "custom_audio":
		c.refuse(!chat && !sound, "--dataset-name custom_audio needs --backend openai-audio with --endpoint /v1/audio/transcriptions, or --backend openai-chat with --endpoint /v1/chat/completions and --enable-multimodal-chat")
		c.refuse(chat && !a.EnableMultimodalChat, "--dataset-name custom_audio with --backend openai-chat needs --enable-multimodal-chat")
		c.refuse(sound && a.EnableMultimodalChat, "--enable-multimodal-chat puts sounds into a chat, which --backend openai-audio is not")
	case "timed_trace":
		c.refuse(a.Backend != "vllm" && a.Backend != "openai", "--dataset-name timed_trace sends token ids and needs --backend vllm or openai")
	case "random-rerank":
		c.refuse(!a.NoReranker && a.Backend != "vllm-rerank", "--dataset-name random-rerank needs --backend vllm-rerank with --endpoint /v1/rerank, or --no-reranker and a backend for embeddings")
	case "hf":
		a.checkHFBackend(c, media)
	}
	c.refuse(a.RandomBatchSize > 1 && a.is("random") && !a.Pooling(), "--random-batch-size %d: batches belong to backends for embeddings, not to --backend %s", a.RandomBatchSize, a.Backend)
	c.refuse(a.EnableMultimodalChat && a.is("sharegpt") && !chat, "--enable-multimodal-chat makes chats of prompts; %s", use)
}

func (a *VLLMArgs) checkHFBackend(c *checklist, media func()) {
	if a.HFName == nil && a.DatasetPath == nil {
		return
	}
	name := a.HFFamily()
	switch {
	case vllmdata.Tools(name):
		c.refuse(!a.Chat(), "%s has tools with each request and needs --backend openai-chat with --endpoint /v1/chat/completions", name)
	case vllmdata.Sounds(name):
		c.refuse(a.Backend != "openai-audio" && !a.Chat(), "%s sends sounds and needs --backend openai-audio with --endpoint /v1/audio/transcriptions", name)
	case vllmdata.Media(name):
		media()
	}
}

// Rerank is the dataset "random-rerank".
func (a *VLLMArgs) Rerank() (workload.Rerank, error) {
	random, err := a.Random()
	return workload.Rerank{Random: random, NoReranker: a.NoReranker}, err
}

// PrefixRepetition is the dataset "prefix_repetition". Up to release 0.33 it leaves
// out what does not divide evenly.
func (a *VLLMArgs) PrefixRepetition() workload.PrefixRepetition {
	p := workload.PrefixRepetition{
		Requests: a.NumPrompts, Prefixes: a.NumPrefixes, Prefix: a.PrefixLen, Suffix: a.SuffixLen, Output: a.PrefixOutput,
		Seed: uint64(a.Seed), NoShuffle: a.DisableShuffle, Remainder: a.DialectVersion == defaultVLLMVersion,
	}
	if a.OutputLen != nil {
		p.Output = *a.OutputLen
	}
	return p
}

// Common is what all datasets from files have in common, for tokens that the caller
// adds.
func (a *VLLMArgs) Common() vllmdata.Common {
	c := vllmdata.Common{
		Requests: a.NumPrompts, Seed: uint64(a.Seed), NoShuffle: a.DisableShuffle, NoOversample: a.NoOversample,
		IDPrefix: a.RequestIDPrefix, SkipTemplate: a.SkipChatTemplate,
	}
	if a.is("custom", "speed_bench") && a.ChatTemplateKwargs != nil {
		_ = json.Unmarshal(a.ChatTemplateKwargs, &c.Arguments) // an object, or null
	}
	return c
}

// TimedTrace is the dataset "timed_trace".
func (a *VLLMArgs) TimedTrace(c vllmdata.Common) vllmdata.TimedTrace {
	return vllmdata.TimedTrace{
		Common: c, Chunk: a.TraceChunk, Multiplier: a.multiplier(),
		Timestamp: a.TraceTimestamp, InputLength: a.TraceInput, OutputLength: a.TraceOutput, HashIDs: a.TraceIDs,
	}
}

func (a *VLLMArgs) multiplier() float64 {
	if f, ok := a.TraceMultiplier.(float64); ok {
		return f
	}
	return 1
}

// HF is the dataset "hf"; the caller adds the copy.
func (a *VLLMArgs) HF(c vllmdata.Common) vllmdata.HF {
	return vllmdata.HF{
		Common: c, Name: a.HFFamily(), Subset: text(a.HFSubset), Split: text(a.HFSplit), Gather: a.NoStream, Output: a.hfOutput(),
		Categories:  strings.Join(a.BFCLCategories, ","),
		MinDistance: a.BlazeditMin, MaxDistance: a.BlazeditMax, MinAudio: a.ASRMin, MaxAudio: a.ASRMax,
	}
}

func (a *VLLMArgs) hfOutput() *int {
	if a.OutputLen != nil {
		return a.OutputLen
	}
	return a.HFOutputLen
}

// SpecBench is the dataset "spec_bench".
func (a *VLLMArgs) SpecBench(c vllmdata.Common) vllmdata.SpecBench {
	return vllmdata.SpecBench{Common: c, Category: text(a.SpecBenchCategory), Output: a.specBenchOutput()}
}

func (a *VLLMArgs) specBenchOutput() int {
	if a.OutputLen != nil {
		return *a.OutputLen
	}
	return a.SpecBenchOutputLen
}

// SpeedBench is the dataset "speed_bench".
func (a *VLLMArgs) SpeedBench(c vllmdata.Common) vllmdata.SpeedBench {
	return vllmdata.SpeedBench{Common: c, Category: text(a.SpeedCategory), Output: a.SpeedOutputLen}
}

// Sonnet is the dataset "sonnet".
func (a *VLLMArgs) Sonnet(c vllmdata.Common) vllmdata.Sonnet {
	return vllmdata.Sonnet{Common: c, Input: a.SonnetInput, Prefix: a.SonnetPrefix, Output: a.SonnetOutput, Raw: a.Chat()}
}

// CustomImage is the dataset "custom_image".
func (a *VLLMArgs) CustomImage(c vllmdata.Common) vllmdata.CustomImage {
	return vllmdata.CustomImage{Common: c, Output: a.customOutput(), Inline: a.EnsureClientSideData}
}

// CustomAudio is the dataset "custom_audio".
func (a *VLLMArgs) CustomAudio(c vllmdata.Common) vllmdata.CustomAudio {
	return vllmdata.CustomAudio{Common: c, Output: max(a.customOutput(), 0), Chat: a.EnableMultimodalChat}
}

// OwnTimes reports whether requests are sent when their trace says.
func (a *VLLMArgs) OwnTimes() bool {
	return a.is("timed_trace") && (a.SelfTimed == nil || *a.SelfTimed)
}

// text is a flag's value, empty where it is None.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
