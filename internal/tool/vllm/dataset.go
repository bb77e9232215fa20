package vllm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// Groups of datasets.
var (
	drawnDatasets  = []string{"random", "random-mm", "random-rerank", "prefix_repetition"}
	customDatasets = []string{"custom", "custom_image", "custom_audio"}
	wholeDatasets  = append([]string{"spec_bench", "speed_bench"}, customDatasets...) // --num-prompts 0: all
)

func (a *Args) is(names ...string) bool { return slices.Contains(names, a.DatasetName) }

func (a *Args) checkDataset(c *python.Checklist) {
	drawn := a.is(drawnDatasets...)
	c.Refuse(drawn && a.DatasetPath != nil, "--dataset-path cannot be used with --dataset-name %s; for a file use sharegpt or custom", a.DatasetName)
	missing := !drawn && a.DatasetPath == nil && (!a.is("hf") || a.HFName == nil)
	c.Refuse(missing, "--dataset-name %s needs --dataset-path", a.DatasetName)
	c.Refuse(a.is(customDatasets...) && a.DatasetPath != nil && !strings.HasSuffix(*a.DatasetPath, ".jsonl"), "--dataset-name %s needs a --dataset-path that ends in .jsonl", a.DatasetName)
	c.Refuse(a.SkipTokenizerInit && !a.is(customDatasets...), "--skip-tokenizer-init cannot be used with --dataset-name %s, which counts tokens", a.DatasetName)
	c.Refuse(a.NumPrompts < 1 && !a.is(wholeDatasets...), "--num-prompts %d: must be at least 1", a.NumPrompts)
	c.Refuse(a.requests() > plan.MaxRequests && a.oversamples(), "--num-prompts %d: must be at most %d; --no-oversample takes all that the file has", a.NumPrompts, plan.MaxRequests)
	c.Refuse(a.RandomBatchSize != 1 && !a.is("random", "random-mm", "random-rerank"), "--random-batch-size %d: only --dataset-name random and random-rerank have batches", a.RandomBatchSize)
	a.checkLengths(c)
	a.checkBackend(c)
	d, flags, err := a.dataset()
	if c.Add(err); err == nil && !missing {
		ask := workload.Ask{Protocol: a.protocol(), Silent: a.backend().pooling}
		c.Add(tool.Named(d.Check(&workload.Source{Requests: a.requests(), Ask: ask}), flags))
	}
}

// checkLengths refuses lengths that mean something else to a Spec than to the tool.
func (a *Args) checkLengths(c *python.Checklist) {
	positive := func(flag string, n *int) {
		c.Refuse(n != nil && *n < 1, "--%s %d: must be positive; leave it out for the recorded length", flag, python.Value(n))
	}
	switch a.DatasetName {
	case "custom", "custom_audio":
		n := a.customOutput()
		c.Refuse(n < -1 || n == 0, "%s %d: must be positive, or -1 for the row's output_tokens", a.ownOutput("--custom-output-len"), n)
	case "sharegpt":
		positive("sharegpt-output-len", a.ShareGPTOutputLen)
		positive("output-len", a.OutputLen)
	case "hf":
		positive("hf-output-len", a.HFOutputLen)
		positive("output-len", a.OutputLen)
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
	known := Families()
	if a.HFName != nil && (a.DatasetPath == nil || !slices.Contains(known, *a.DatasetPath)) {
		return *a.HFName
	}
	return python.Value(a.DatasetPath)
}

// checkBackend reports a backend that cannot carry what the dataset gives.
func (a *Args) checkBackend(c *python.Checklist) {
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

func (a *Args) checkHFBackend(c *python.Checklist, media func()) {
	name := a.family()
	carriesMedia, sounds, tools := Carries(name)
	switch {
	case tools:
		c.Refuse(!a.chat(), "%s has tools with each request and needs --backend openai-chat with --endpoint /v1/chat/completions", name)
	case sounds:
		c.Refuse(a.Backend != "openai-audio" && !a.chat(), "%s sends sounds and needs --backend openai-audio with --endpoint /v1/audio/transcriptions", name)
	case carriesMedia:
		media()
	}
}

// requests is how many are wanted; 0: all that there are. Of a file that is not oversampled
// more than any run has are all too.
func (a *Args) requests() int {
	n := max(0, a.NumPrompts)
	if a.NoOversample && a.oversamples() || a.is("timed_trace") {
		n = min(n, plan.MaxRequests)
	}
	return n
}

// oversamples reports whether the dataset repeats requests of a file that is short.
func (a *Args) oversamples() bool { return !a.is("burstgpt", "sonnet") && !a.is(drawnDatasets...) }

// dataset is what --dataset-name names, with the flags of its settings.
func (a *Args) dataset() (made workload.Dataset, flags map[string]string, err error) {
	made = Kinds()["vllm."+a.DatasetName].New()
	flags = python.Assign(made, a.options)
	flags["requests"] = "--num-prompts"
	made.(interface{ SendAs(Sending) }).SendAs(a.sending())
	switch d := made.(type) {
	case *Random:
		err = a.ranges(d, flags)
	case *Rerank:
		err = a.ranges(&d.Random, flags)
	case *RandomMM:
		flags["limits"], d.Limits = "--random-mm-limit-mm-per-prompt", nil
		err = errors.Join(a.ranges(&d.Random, flags), argument(flags["limits"], a.MMLimit, &d.Limits))
	case *SpecBench:
		flags["output_len"], flags["category"] = a.ownOutput("--spec-bench-output-len"), "--spec-bench-category"
		d.Category, d.Output = python.Value(a.SpecBenchCategory), a.output(a.SpecBenchOutputLen)
	case *SpeedBench:
		flags["output_len"], flags["category"] = "--speed-bench-output-len", "--speed-bench-category"
		d.Category, d.Output = python.Value(a.SpeedCategory), a.SpeedOutputLen
		err = argument("--chat-template-kwargs", a.ChatTemplateKwargs, &d.Arguments)
	case *HF:
		a.hf(d, flags)
	case *CustomImage:
		d.Output = a.customOutput()
	case *CustomAudio:
		d.Output = max(a.customOutput(), 0)
	case *Custom:
		d.Output = max(a.customOutput(), 0)
		err = argument("--chat-template-kwargs", a.ChatTemplateKwargs, &d.Arguments)
	}
	return made, flags, err
}

// argument reads an argument that must be an object, unless it is nothing to Python.
func argument(flag string, value json.RawMessage, into any) error {
	switch {
	case !python.Truth(value):
		return nil
	case python.Unreal(value):
		return fmt.Errorf("%s: %w", flag, python.ErrUnreal)
	case value[0] != '{':
		return fmt.Errorf("%s: must be a JSON object, not %.40s", flag, value)
	}
	if err := json.Unmarshal(value, into); err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

func (a *Args) sending() Sending {
	s := Sending{Limit: a.limitField(), Uncounted: a.SkipTokenizerInit}
	if fields, _ := a.extraFields(); fields[s.Limit] != nil { // its error is reported elsewhere
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

// ranges are those of the lengths of random tokens.
func (a *Args) ranges(d *Random, flags map[string]string) (err error) {
	flags["input_range"], flags["output_range"] = "--random-range-ratio (input)", "--random-range-ratio (output)"
	d.InputRange, d.OutputRange, err = rangeRatio(a.RandomRangeRatio)
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

func (a *Args) hf(d *HF, flags map[string]string) {
	if a.DatasetPath == nil {
		flags["data"] = "--hf-name"
	} else if a.HFName == nil {
		flags["name"] = "--dataset-path"
	}
	d.Name = a.family()
	if math.IsInf(d.MaxAudio, 1) {
		d.MaxAudio = 0
	}
}

// ownTimes reports whether requests are sent when their trace says.
func (a *Args) ownTimes() bool {
	return a.is("timed_trace") && (a.SelfTimed == nil || *a.SelfTimed)
}
