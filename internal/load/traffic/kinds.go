package traffic

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Datasets are the kinds of dataset that are Pitot's own.
func Datasets() map[string]workload.Kind {
	newRandom := func() random { return random{drawn: defaultDrawn(), Texts: 1} }
	return map[string]workload.Kind{
		"random": {
			New: func() workload.Dataset { d := newRandom(); return &d }, Drawn: true, Unwritten: true,
		},
		"random-mm": {
			New: func() workload.Dataset {
				return &randomMM{random: newRandom(), Images: 1, ImageSizes: "256x256=0.5,1280x720=0.5"}
			}, Drawn: true, Unwritten: true, Chats: true,
		},
		"chat": {
			New:   func() workload.Dataset { return newChat("chat", "uniform(2,6)", "64", "exponential(5s)") },
			Drawn: true, Unwritten: true, Chats: true,
		},
		"agent": {
			New: func() workload.Dataset {
				return newChat("agent", "uniform(4,12)", "lognormal(300,1)", "lognormal(1s,1)")
			},
			Drawn: true, Unwritten: true, Chats: true,
		},
		"recall":        {New: func() workload.Dataset { return newQuiz("recall") }, Drawn: true, Chats: true},
		"sums":          {New: func() workload.Dataset { return newQuiz("sums") }, Drawn: true, Chats: true},
		"copy":          {New: func() workload.Dataset { return newQuiz("copy") }, Drawn: true, Chats: true},
		"sharegpt":      {New: func() workload.Dataset { return new(shareGPT) }},
		"custom":        {New: func() workload.Dataset { return new(custom) }, Dated: true},
		"trace":         {New: func() workload.Dataset { return new(traced) }, Unwritten: true, Timed: true},
		"conversations": {New: func() workload.Dataset { return &replayedTalks{History: "live"} }, Chats: true, Dated: true},
	}
}

// meant are names of workloads that people know from the clients of vLLM, SGLang and GuideLLM, by what Pitot has
// for them.
var meant = map[string]string{
	"chat": "multi-turn multiturn multi_turn chatbot dialog dialogue conversational mtbench mt-bench",
	"conversations, with --data FILE, for recorded ones; chat draws some": "conversation messages openai wildchat",
	"recall":                     "needle needle-in-a-haystack niah ruler passkey",
	"agent":                      "agentic tools tool toolagent swe-bench coding-agent",
	"random":                     "synthetic random-ids fixed uniform text prompts default",
	"random, with --prefix-len":  "prefix shared-prefix generated-shared-prefix prefix_repetition prefix-repetition prefix-caching rag",
	"random-mm":                  "vision image images multimodal mm vlm mmmu random-image custom_mm custom_image visionarena",
	"custom, with --data FILE":   "dataset file jsonl json csv parquet hf huggingface alpaca sonnet spec_bench speed_bench code mbpp humaneval gsm8k mmlu aimo",
	"trace, with --data FILE":    "replay burstgpt azure mooncake bailian timed_trace production",
	"sharegpt, with --data FILE": "share-gpt share_gpt sharegpt4",
	"random, with --protocol embeddings or rerank":          "embedding embeddings rerank random-rerank reranker",
	"custom, with --protocol transcription and --data FILE": "audio asr whisper speech custom_audio librispeech",
}

// Meant is a hint for a kind of dataset that Pitot does not have under this name; empty: none is known.
func Meant(kind string) string {
	for name, words := range meant {
		if slices.Contains(strings.Fields(words), strings.ToLower(kind)) {
			return "write " + name
		}
	}
	return ""
}

// Descriptions of datasets, in the words of show/words.
const (
	besidePrefix plan.Code = "traffic.beside-prefix"
	loadBatches  plan.Code = "load.batches"
	loadRanked   plan.Code = "load.ranked"
	loadLengths  plan.Code = "load.lengths"
	loadSeen     plan.Code = "load.lengths-to"
	loadImages   plan.Code = "load.images"
	loadLater    plan.Code = "load.then"
	loadTurns    plan.Code = "load.turns"
	loadThink    plan.Code = "load.think"
	loadFormat   plan.Code = "load.format"
	loadModel    plan.Code = "load.model"
	loadLogs     plan.Code = "load.logs"
	loadShort    plan.Code = "load.short"
)
