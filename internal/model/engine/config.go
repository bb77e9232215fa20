package engine

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/plan"
)

// A Config describes a deployment: one or more replicas of an engine behind a
// router. Fields have the names used in a profile. Nil sub-structs, and numbers
// that are 0, disable a mechanism.
type Config struct {
	// MaxModelLen is the longest context, prompt and output tokens together; 0
	// means the capacity of the KV cache, at most DefaultContext.
	MaxModelLen    int             `yaml:"max_model_len"`
	Scheduler      Scheduler       `yaml:"scheduler"`
	KV             KVCache         `yaml:"kv"`
	Cost           Costs           `yaml:"cost"`
	Frontend       Frontend        `yaml:"frontend"`
	Speculative    *Speculative    `yaml:"speculative"`
	LoRA           *LoRA           `yaml:"lora"`
	Disaggregation *Disaggregation `yaml:"disaggregation"`
	Replicas       Replicas        `yaml:"replicas"`
	Pace           `yaml:",inline"`
	Stalls         *Stalls `yaml:"stalls"`
	Seed           uint64  `yaml:"-"` // of jitter, slow steps, draft acceptance, stalls and the factor of a start
}

// A Scheduler determines the tokens of each sequence in a step.
type Scheduler struct {
	Policy       string `yaml:"policy"`        // vllm (default), sglang or static
	MaxSequences int    `yaml:"max_sequences"` // running at most; 256 if 0. The batch of the static policy
	// TokenBudget is the number of tokens in a step (vllm; 8192 if 0), or in a
	// prefill batch, unless its one prompt has more (sglang: max_prefill_tokens;
	// 16384 if 0).
	TokenBudget int `yaml:"token_budget"`
	// PrefillBudget is the number of prompt tokens in a step, in addition to the sequences
	// that decode: these take only from TokenBudget, and prompts only from here (vllm). 0:
	// both share TokenBudget.
	PrefillBudget int `yaml:"prefill_budget"`
	// MaxPrompts limits the prompts and parts of prompts in a step (SGLang's
	// --prefill-max-requests); 0: any number.
	MaxPrompts int `yaml:"max_prompts"`
	// EvenPrompts divides the tokens that a step has for prompts into equal parts, one for each
	// prompt that it may have: running ones and, as far as places and MaxPrompts go, waiting
	// ones. What a short prompt leaves of its part goes to the longer ones. Otherwise each
	// takes as much as it can, in their order (vllm).
	EvenPrompts bool `yaml:"even_prompts"`
	// Chunk is the maximum number of tokens of one prompt in a step; 0 means as
	// many as the budget allows (vllm) or 8192 (sglang: chunked_prefill_size).
	Chunk         int  `yaml:"chunk"`
	WholePrompts  bool `yaml:"whole_prompts"`  // prompts are not cut into chunks
	EncoderBudget int  `yaml:"encoder_budget"` // image tokens per step; the token budget if 0
	// Order of waiting jobs: fcfs (default), priority (vllm), longest-prefix (sglang).
	Order string `yaml:"order"`
	// Async plans a step while the one before it runs (vLLM's --async-scheduling, SGLang's
	// overlap schedule): a request that reaches a busy engine during step k is admitted in
	// step k+2 at the earliest, not in k+1. An engine with nothing else to do admits it at
	// once. Only admission lags, and with Costs.Launch output; a finished sequence leaves its
	// place as without Async.
	Async bool `yaml:"async"`
	// Mixed lets sequences decode alongside a prefill (sglang).
	Mixed bool `yaml:"mixed"`
	// Reserve is the share of the tokens that running sequences may still emit for which memory is
	// reserved (sglang: new_token_ratio at start); 0.7 if 0.
	Reserve float64 `yaml:"reserve"`
}

// A KVCache is the memory for keys and values, in tokens.
type KVCache struct {
	Tokens      int      `yaml:"tokens"`       // capacity; 0 means no limit
	Block       int      `yaml:"block"`        // tokens per block; 16 if 0 (1 for sglang)
	PrefixCache bool     `yaml:"prefix_cache"` // full blocks of prompts are reused
	Elastic     *Elastic `yaml:"elastic"`
}

// Elastic maps the memory of the KV cache page by page on demand, like kvcached.
type Elastic struct {
	PageTokens int `yaml:"page_tokens"` // page size
	SparePages int `yaml:"spare_pages"` // empty pages that stay mapped
}

// Costs give the duration of a step:
//
//	step + sequence·D + context_token·ΣL              D decoding sequences with contexts L
//	  + draft_token·V                                 V draft tokens verified
//	  + prefill + prefill_token·P + prefill_pair·Σ n(L+n/2)   P prompt tokens, in chunks n after L
//	  + image·I + image_token·T + image_pair·ΣT²      I images of T tokens
//	  + block·(new KV blocks) + page·(pages mapped)
//	  + adapter·(LoRA adapters loaded)
//
// The prefill line applies if P > 0. P includes image tokens, which cost
// prefill_token plus image_token.
type Costs struct {
	Step         Seconds `yaml:"step"`
	Sequence     Seconds `yaml:"sequence"`
	ContextToken Seconds `yaml:"context_token"`
	DraftToken   Seconds `yaml:"draft_token"`
	Prefill      Seconds `yaml:"prefill"`
	PrefillToken Seconds `yaml:"prefill_token"`
	PrefillPair  Seconds `yaml:"prefill_pair"`
	Image        Seconds `yaml:"image"`
	ImageToken   Seconds `yaml:"image_token"`
	ImagePair    Seconds `yaml:"image_pair"`
	Block        Seconds `yaml:"block"`
	Page         Seconds `yaml:"page"`
	Adapter      Seconds `yaml:"adapter"`

	// DecodeTable replaces step and sequence: the duration of a step by the number
	// of decoding sequences. PrefillTable replaces prefill and prefill_token: the
	// additional time by the number of prompt tokens. Both are linear between their
	// points and beyond the last two.
	DecodeTable  []Point `yaml:"decode_table"`
	PrefillTable []Point `yaml:"prefill_table"`
	// MixedTable replaces, in steps with prompt tokens, step and sequence or DecodeTable:
	// the duration by the number of decoding sequences in the step, which may be 0.
	// All other costs are added as in any step.
	MixedTable []Point `yaml:"mixed_table"`

	// Launch is the time in which the host plans and launches a step, LaunchSequence for each
	// decoding sequence of it. LaunchPrefill, unless it is 0, replaces both in steps with
	// prompts; there LaunchPrompt is added for each prompt or part of one, and
	// LaunchPrefillToken for each of its tokens. All above is then the time of the device, and
	// the step lasts as long as the longer of the two, or with Scheduler.Async by the law in
	// clocks.go.
	Launch             Seconds `yaml:"launch"`
	LaunchSequence     Seconds `yaml:"launch_sequence"`
	LaunchPrefill      Seconds `yaml:"launch_prefill"`
	LaunchPrompt       Seconds `yaml:"launch_prompt"`
	LaunchPrefillToken Seconds `yaml:"launch_prefill_token"`
	// LaunchShare is the share of the device's time for a step with prompts that has passed
	// before its launch ends: a queue of launches has an end (with Async).
	LaunchShare float64 `yaml:"launch_share"`
	// TailToken is the device's time for each prompt token after both.
	TailToken Seconds `yaml:"tail_token"`
	// Host is the speed of the host: a factor on its launches.
	Host *Host `yaml:"host"`

	// Cold is added once, to the first step with a prompt.
	Cold Seconds `yaml:"cold"`
	// Jitter is the coefficient of variation of a lognormal factor on every step.
	Jitter float64 `yaml:"jitter"`
	// JitterQuantiles replaces Jitter: quantiles of a factor on every step, at equally
	// spaced probabilities from 0 to 1, linear between them. Their mean need not be 1.
	JitterQuantiles []float64 `yaml:"jitter_quantiles"`
	// SlowSteps take longer than all this says.
	SlowSteps *SlowSteps `yaml:"slow_steps"`
}

// SlowSteps are a share of the steps, drawn at random, that take longer by a random time.
// Stalls, in contrast, come at instants of time and last until their end.
type SlowSteps struct {
	Share Relative `yaml:"share"` // of all steps: 1.5% or 0.015
	// Extra holds quantiles of the added time, at equally spaced probabilities from 0 to
	// 1, linear between them. Jitter does not apply to it.
	Extra []Seconds `yaml:"extra"`
}

// A Host is a processor with a speed that jumps between levels: its work takes longer by a
// factor, drawn anew after each hold. The device keeps its pace.
type Host struct {
	// Factors holds quantiles of the factor, at equally spaced probabilities from 0 to 1,
	// linear between them.
	Factors []float64 `yaml:"factors"`
	Hold    Seconds   `yaml:"hold"` // mean time at a level; exponentially distributed
	// Run is the standard deviation of the logarithm of a factor that is drawn once per
	// engine, normally distributed.
	Run Relative `yaml:"run"`
}

// A Point of a cost table: At sequences or tokens take Time.
type Point struct {
	At   float64 `yaml:"at"`
	Time Seconds `yaml:"time"`
}

// A Frontend is the API server in front of the engine: it works on incoming
// requests and on outgoing tokens.
type Frontend struct {
	Request Seconds `yaml:"request"` // work per request
	// PromptToken and ImageToken are work per token of the request.
	PromptToken Seconds `yaml:"prompt_token"`
	ImageToken  Seconds `yaml:"image_token"`
	Delay       Seconds `yaml:"delay"` // of a request, without work
	Chunk       Seconds `yaml:"chunk"` // work per chunk of output
	// Blocking means that one worker handles requests and output, so that each
	// delays the other; otherwise requests have their own Workers.
	Blocking bool `yaml:"blocking"`
	Workers  int  `yaml:"workers"` // 1 if 0

	// If one of these is set, the one worker is an event loop; see eventLoop.
	Flush    Seconds `yaml:"flush"`    // work on the output of a step
	Token    Seconds `yaml:"token"`    // work on each token of it
	Finish   Seconds `yaml:"finish"`   // work at the end of an answer
	Head     Seconds `yaml:"head"`     // work per request when its response begins
	Passes   int     `yaml:"passes"`   // iterations for which a request waits
	Tokenize Seconds `yaml:"tokenize"` // per prompt token, outside the loop, one request after the other
	// Host is the exponent of the factor of Costs.Host on all work of the loop.
	Host float64 `yaml:"host"`
}

// Speculative decoding drafts tokens and verifies them in one step: a sequence
// emits 1 token plus the drafts accepted in a row.
type Speculative struct {
	Drafts     int        `yaml:"drafts"` // tokens per draft, at most MaxDrafts
	Acceptance Acceptance `yaml:"acceptance"`
}

// LoRA limits the adapters in use at once.
type LoRA struct {
	Slots int `yaml:"slots"` // adapters that fit; a step uses no more of them
}

// Disaggregation moves prefill to separate servers: they prefill a request, its KV
// cache crosses a link, and it decodes here.
type Disaggregation struct {
	PrefillServers int       `yaml:"prefill_servers"` // 1 if 0
	Scheduler      Scheduler `yaml:"scheduler"`       // of a prefill server
	KV             KVCache   `yaml:"kv"`
	Cost           Costs     `yaml:"cost"`
	Link           Link      `yaml:"link"`
}

// A Link transfers KV caches, one request after the other.
type Link struct {
	Latency   Seconds `yaml:"latency"`    // of each transfer
	Bandwidth float64 `yaml:"bandwidth"`  // bytes per second, 0 means no limit
	TokenSize int     `yaml:"token_size"` // bytes of a token's keys and values
}

// Replicas are identical engines behind a router.
type Replicas struct {
	Count  int    `yaml:"count"`  // 1 if 0
	Router string `yaml:"router"` // round-robin (default), least-loaded or prefix-aware
}

// An Acceptance is the probability that a draft token is accepted, given those before it, by its
// position in the draft. Positions beyond the last have the last one's; those beyond the draft do
// not matter. With a(i) at position i, a step emits more than j tokens with probability
// a(1)·a(2)···a(j). A file has a list, or one number for all positions.
type Acceptance []float64

// at is the probability at position i from 0.
func (a Acceptance) at(i int) float64 {
	if len(a) == 0 {
		return 0
	}
	return a[min(i, len(a)-1)]
}

// DecodeNode reads a number or a list.
func (a *Acceptance) DecodeNode(n *plan.Node) plan.Problems {
	if n.Kind == plan.List {
		return plan.Decode(n, (*[]float64)(a))
	}
	*a = make(Acceptance, 1)
	return plan.Decode(n, &(*a)[0])
}

func (v *checker) speculative(s *Speculative) {
	if s == nil {
		return
	}
	const path = "speculative.acceptance"
	v.IntegerIn("speculative.drafts", s.Drafts, 1, MaxDrafts)
	v.If(len(s.Acceptance) > MaxDrafts, path, len(s.Acceptance), "must be for at most %d positions", MaxDrafts)
	for i, p := range s.Acceptance {
		at := path
		if len(s.Acceptance) > 1 {
			at = fmt.Sprintf("%s[%d]", path, i)
		}
		v.Share(at, p)
	}
}
