package vllm

import (
	"context"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A Random is the dataset "random": runs of consecutive ids of the vocabulary.
type Random struct {
	Input  int `json:"input_len" flag:"input-len,random-input-len"` // tokens
	Output int `json:"output_len" flag:"output-len,random-output-len"`
	// InputRange and OutputRange widen a length L to [L(1-r), L(1+r)].
	InputRange  float64 `json:"input_range,omitempty"`
	OutputRange float64 `json:"output_range,omitempty"`
	Prefix      int     `json:"prefix_len,omitempty" flag:"random-prefix-len"` // tokens that all prompts begin with
	Batch       int     `json:"batch" flag:"random-batch-size"`                // texts in a request to embed or pool
	Sending

	silent bool // answers have no text
}

// usual are the tool's defaults.
var usual = Random{Input: 1024, Output: 128, Batch: 1}

func (d *Random) recipe(s *workload.Source) workload.Random {
	return workload.Random{
		Requests: wanted(s), Input: d.Input, Output: max(d.Output, 1), // it asks for one token where none is wanted
		InputRange: d.InputRange, OutputRange: d.OutputRange, Prefix: d.Prefix, Batch: d.Batch, Seed: s.Seed, IDPrefix: s.IDPrefix, Spool: s.Spool, Window: s.WindowOf(true),
	}
}

// Check reports all problems.
func (d *Random) Check(s *workload.Source) plan.Problems {
	d.silent = s.Ask.Silent
	p := d.recipe(s).Check()
	p.If(d.Batch > 1 && !s.Ask.Silent, "batch", d.Batch, "only applies to requests to embed or pool")
	return p
}

func (*Random) Read(context.Context, *workload.Source) error { return nil }

// Build draws the requests.
func (d *Random) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	return d.aligned(ctx, s, d.recipe(s))
}

type recipe interface {
	Build(ctx context.Context, v workload.Vocabulary, tok workload.Tokenizer) (workload.Workload, error)
}

// aligned is a workload of prompts that are held against the server's tokenizer.
func (f *Sending) aligned(ctx context.Context, s *workload.Source, r recipe) (w workload.Workload, err error) {
	if err := s.NeedText(false); err != nil {
		return w, err
	}
	w, err = r.Build(ctx, s.Vocab, s.Tokens)
	if all := w.All(); err == nil && s.Local && s.Server != nil && all.N > 0 && all.At(0).Batch == nil {
		err = w.Align(ctx, s.Server, s.Spool)
	}
	f.send(&w)
	return w, err
}

func (f *Sending) made(ctx context.Context, s *workload.Source, r recipe) (workload.Workload, error) {
	w, err := r.Build(ctx, s.Vocab, s.Tokens)
	f.send(&w)
	return w, err
}

// Describe describes the workload.
func (d *Random) Describe() plan.Message { return workload.Describe("random", d.lengths()...) }

func (d *Random) lengths() []plan.Message {
	input := workload.WithRange(d.Input, d.InputRange)
	parts := []plan.Message{plan.Msg(workload.LoadTokens, "input", input, "output", workload.WithRange(d.Output, d.OutputRange))}
	if d.silent {
		parts[0] = plan.Msg(workload.LoadInputs, "input", input)
	}
	if d.Prefix > 0 {
		parts = append(parts, plan.Msg(workload.LoadPrefix, "tokens", d.Prefix))
	}
	return parts
}

// A RandomMM is the dataset "random-mm": Random with images of noise.
type RandomMM struct {
	Random
	Items      int               `json:"items" flag:"random-mm-base-items-per-request"` // in a request
	ItemsRange float64           `json:"items_range,omitempty" flag:"random-mm-num-mm-items-range-ratio"`
	Limits     map[string]int    `json:"limits"` // of items by modality
	Buckets    []workload.Bucket `json:"buckets" flag:"random-mm-bucket-config"`
}

func (d *RandomMM) recipe(s *workload.Source) workload.RandomMM {
	return workload.RandomMM{Random: d.Random.recipe(s), Items: d.Items, ItemsRange: d.ItemsRange, Limits: d.Limits, Buckets: d.Buckets}
}

// Check reports all problems.
func (d *RandomMM) Check(s *workload.Source) plan.Problems {
	p := d.recipe(s).Check()
	p.If(d.Batch != 1, "batch", d.Batch, "only applies to texts without images")
	return p
}

// Build draws the requests.
func (d *RandomMM) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	return d.made(ctx, s, d.recipe(s))
}

// Describe describes the workload.
func (d *RandomMM) Describe() plan.Message { return workload.Describe("random-mm", d.lengths()...) }

// A Rerank is the dataset "random-rerank": a query with documents to be put in order.
type Rerank struct {
	Random
	// NoReranker is for models that embed query and documents each by itself.
	NoReranker bool `json:"no_reranker,omitempty" flag:"no-reranker"`
}

func (d *Rerank) recipe(s *workload.Source) workload.Rerank {
	return workload.Rerank{Random: d.Random.recipe(s), NoReranker: d.NoReranker}
}

// Check reports all problems.
func (d *Rerank) Check(s *workload.Source) plan.Problems { return d.recipe(s).Check() }

// Build draws the requests.
func (d *Rerank) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	return d.made(ctx, s, d.recipe(s))
}

// Describe describes the workload.
func (d *Rerank) Describe() plan.Message {
	return workload.Describe("random-rerank", plan.Msg(workload.LoadInputs, "input", workload.WithRange(d.Input, d.InputRange)))
}

// A PrefixRepetition is the dataset "prefix_repetition": groups of prompts that begin
// alike.
type PrefixRepetition struct {
	Prefixes  int  `json:"prefixes" flag:"prefix-repetition-num-prefixes"`
	Prefix    int  `json:"prefix_len" flag:"prefix-repetition-prefix-len"`
	Suffix    int  `json:"suffix_len" flag:"prefix-repetition-suffix-len"`
	Output    int  `json:"output_len" flag:"output-len,prefix-repetition-output-len"`
	NoShuffle bool `json:"no_shuffle,omitempty" flag:"disable-shuffle"`
	Sending
}

func (d *PrefixRepetition) recipe(s *workload.Source) workload.PrefixRepetition {
	return workload.PrefixRepetition{
		Requests: wanted(s), Prefixes: d.Prefixes, Prefix: d.Prefix, Suffix: d.Suffix, Output: d.Output,
		Seed: s.Seed, NoShuffle: d.NoShuffle, Spool: s.Spool, Window: s.Window,
	}
}

// Check reports all problems.
func (d *PrefixRepetition) Check(s *workload.Source) plan.Problems { return d.recipe(s).Check() }

func (*PrefixRepetition) Read(context.Context, *workload.Source) error { return nil }

// Build draws the requests.
func (d *PrefixRepetition) Build(ctx context.Context, s *workload.Source) (workload.Workload, error) {
	return d.aligned(ctx, s, d.recipe(s))
}

// Describe describes the workload.
func (d *PrefixRepetition) Describe() plan.Message {
	return workload.Describe("prefix_repetition", plan.Msg(loadPrefixes, "prefixes", d.Prefixes, "prefix", d.Prefix, "suffix", d.Suffix, "output", d.Output))
}

// The descriptions of workloads, and the notes on them.
const (
	loadPrefixes plan.Code = "load.prefixes"     // prefixes, prefix, suffix, output
	soundsAsIs   plan.Code = "vllm.sounds-as-is" // sounds, kind
	toolsLeftOut plan.Code = "vllm.tools-not-counted"
	shortPrompts plan.Code = "vllm.short-prompts" // short, of
)
