package sglang

import (
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/tool/sglang/dataset"
)

// requests is how many are wanted, 0 where the dataset says it, or all are.
func (a *Args) requests() int {
	switch a.DatasetName {
	case "generated-shared-prefix":
		return 0
	case "openai", "agentic-trace":
		return max(0, a.NumPrompts)
	}
	return max(1, a.NumPrompts) // less is refused
}

// conversations tells whether requests are turns that wait for each other.
func (a *Args) conversations() bool {
	return a.DatasetName == "agentic-trace" || a.DatasetName == "generated-shared-prefix" && a.GSPNumTurns > 1
}

// dataset is what --dataset-name names, with the flags of its settings. run begins the
// routing keys of a run.
func (a *Args) dataset(run string) (workload.Dataset, map[string]string) {
	flags := map[string]string{
		"data": "--dataset-path", "output_len": "--sharegpt-output-len", "context_len": "--sharegpt-context-len", "backend": "--backend",
		"as_ids": "--tokenize-prompt", "prompt_suffix": "--prompt-suffix", "chat_template": "--apply-chat-template", "version": "--dialect-version",
	}
	d := dataset.Kinds()["sglang."+a.DatasetName].New()
	switch d := d.(type) {
	case *dataset.Random:
		d.Common, d.Data, d.AsIDs, d.Lengths = a.common(), a.DatasetPath, a.TokenizePrompt, a.lengths(flags)
	case *dataset.Talks:
		d.Common, d.Data, d.Output, d.Context = a.common(), a.DatasetPath, a.ShareGPTOutputLen, a.ShareGPTContextLen
		d.Suffix, d.ChatTemplate = a.PromptSuffix, a.ApplyChatTemplate
	case *dataset.OpenAI:
		d.Common, d.Data, d.Output = a.common(), a.DatasetPath, a.ShareGPTOutputLen
	case *dataset.SharedPrefix:
		a.sharedPrefix(d, run, flags)
	case *dataset.Image:
		flags["images"], flags["format"], flags["resolution"] = "--image-count", "--image-format", "--image-resolution"
		d.Common, d.Backend, d.Lengths = a.common(), a.Backend, a.lengths(flags)
		d.Count, d.RandomCount, d.Content, d.Format, d.Resolution = a.ImageCount, a.RandomImageCount, a.ImageContent, a.ImageFormat, a.ImageResolution
	case *dataset.MMMU:
		flags["output_len"] = "--random-output-len"
		d.Common, d.Data, d.Backend, d.Output = a.common(), a.DatasetPath, a.Backend, a.RandomOutputLen
	case *dataset.Mooncake:
		flags["workload"], flags["rounds"], flags["slowdown"] = "--mooncake-workload", "--mooncake-num-rounds", "--mooncake-slowdown-factor"
		d.Common, d.Data, d.Workload, d.Rounds, d.Slowdown = a.common(), a.DatasetPath, a.MooncakeWorkload, a.MooncakeNumRounds, a.MooncakeSlowdownFactor
	case *dataset.Agentic:
		flags["offset"], flags["max_turns"] = "--dataset-offset", "--agentic-max-turns"
		d.Common, d.Data, d.Output, d.Offset, d.MaxTurns = a.common(), a.DatasetPath, a.ShareGPTOutputLen, a.DatasetOffset, a.AgenticMaxTurns
	case *dataset.LongBench:
		d.Common, d.Data, d.Output, d.Context = a.common(), a.DatasetPath, a.ShareGPTOutputLen, a.ShareGPTContextLen
	case *dataset.SpeedBench:
		flags["category"], flags["output_len"] = "--speed-bench-category", "--speed-bench-output-len"
		d.Common, d.Data, d.Output = a.common(), a.DatasetPath, a.SpeedBenchOutputLen
		if a.SpeedBenchCategory != nil {
			d.Category = *a.SpeedBenchCategory
		}
	}
	return d, flags
}

func (a *Args) common() (c dataset.Common) {
	if !a.main() {
		c.Version = dataset.January
	}
	return c
}

func (a *Args) lengths(flags map[string]string) dataset.Lengths {
	flags["input_len"], flags["output_len"], flags["range_ratio"] = "--random-input-len", "--random-output-len", "--random-range-ratio"
	return dataset.Lengths{Input: a.RandomInputLen, Output: a.RandomOutputLen, Ratio: a.RandomRangeRatio}
}

func (a *Args) sharedPrefix(d *dataset.SharedPrefix, run string, flags map[string]string) {
	for setting, flag := range map[string]string{
		"groups": "num-groups", "prompts_per_group": "prompts-per-group", "system_prompt_len": "system-prompt-len", "question_len": "question-len",
		"output_len": "output-len", "range_ratio": "range-ratio", "turns": "num-turns", "zipf_alpha": "zipf-alpha",
	} {
		flags[setting] = "--gsp-" + flag
	}
	*d = dataset.SharedPrefix{
		Common: a.common(), Groups: a.GSPNumGroups, PerGroup: a.GSPPromptsPerGroup, System: a.GSPSystemPromptLen, Question: a.GSPQuestionLen, Output: a.GSPOutputLen,
		Ratio: a.GSPRangeRatio, Turns: a.GSPNumTurns, Ordered: a.GSPOrdered, Fast: a.GSPFastPrepare, Zipf: a.GSPZipfAlpha, AsIDs: a.TokenizePrompt,
	}
	if a.GSPSendRoutingKey {
		d.RoutingKey = run
	}
}
