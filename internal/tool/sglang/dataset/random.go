package dataset

import (
	"context"
	"errors"
	"fmt"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// Random is the datasets random and random-ids: prompts of drawn lengths, made of
// ShareGPT's first turns, repeated or cut, or of runs of consecutive ids.
type Random struct {
	Requests int     // --num-prompts
	Input    int     // --random-input-len
	Output   int     // --random-output-len
	Ratio    float64 // --random-range-ratio: lengths are uniform in [L·ratio, L]
	IDs      bool    // random-ids
	AsIDs    bool    // --tokenize-prompt: send token ids
	// File is ShareGPT's, for random. Without one prompts are made as for random-ids,
	// of the same lengths, and a note says so.
	File *File
}

// Validate reports everything wrong with r at once.
func (r Random) Validate() error {
	return errors.Join(
		atLeast("--num-prompts", r.Requests, 1),
		atLeast("--random-input-len", r.Input, 0),
		atLeast("--random-output-len", r.Output, 0),
		checkRatio("--random-range-ratio", r.Ratio),
	)
}

// Build draws the lengths, then the prompts.
func (r Random) Build(ctx context.Context, s *Source) (Built, error) {
	if err := r.Validate(); err != nil {
		return Built{}, err
	}
	inputs := s.lengths(r.Input, r.Ratio, r.Requests)
	outputs := s.lengths(r.Output, r.Ratio, r.Requests)
	asIDs := r.AsIDs || s.Tokenizer == nil
	if s.Form == Main && !asIDs { // the server adds its special tokens to a text
		for i, n := range inputs {
			inputs[i] = max(1, n-s.Vocabulary.Around)
		}
	}
	prompts, notes, err := r.prompts(ctx, s, inputs)
	if err != nil {
		return Built{}, err
	}
	b := Built{Lines: totals(sum(inputs), sum(outputs))}
	b.Notes = notes
	b.Requests = make([]workload.Request, len(prompts))
	for i := range prompts {
		b.Requests[i] = workload.Request{PromptTokens: inputs[i], OutputTokens: outputs[i]}
	}
	return b, s.send(ctx, b.Requests, prompts, asIDs)
}

// A passage is the ids of a prompt, made when they are wanted.
type passage func() []int32

// prompts are the ids of the prompts, of the lengths given, and what there is to note.
func (r Random) prompts(ctx context.Context, s *Source, lengths []int) ([]passage, []string, error) {
	switch {
	case r.IDs:
		prompts, err := s.runs(s.Numpy.Randint, lengths)
		return prompts, nil, err
	case r.File != nil && s.Tokenizer != nil:
		return r.fromShareGPT(ctx, s, lengths)
	}
	aside := *s.Numpy // what is drawn after stays as it is with ShareGPT
	prompts, err := s.runs(aside.Randint, lengths)
	note := "there is no ShareGPT file: the lengths of prompts and answers are the seed's, the words are not ShareGPT's but runs of ids of the vocabulary; --dataset-path names the file"
	if r.File != nil {
		note = "ShareGPT's words need a tokenizer, and there is none: the lengths are the seed's, the prompts are runs of ids of the vocabulary"
	}
	return prompts, []string{note}, err
}

// runs are prompts of consecutive ids, from a drawn start each.
func (s *Source) runs(randint func(lo, hi int64) int64, lengths []int) ([]passage, error) {
	size := int64(s.Vocabulary.Size)
	if size < 1 {
		return nil, errNoVocabulary
	}
	prompts := make([]passage, len(lengths))
	for i := range prompts {
		start := randint(0, size) + int64(i)
		prompts[i] = func() []int32 {
			ids := make([]int32, lengths[i])
			for j := range ids {
				ids[j] = int32((start + int64(j)) % size)
			}
			return ids
		}
	}
	return prompts, nil
}

// fromShareGPT are first turns of the file, in random order, brought to their lengths.
func (r Random) fromShareGPT(ctx context.Context, s *Source, lengths []int) ([]passage, []string, error) {
	talks, err := readShareGPT(r.File, false)
	if err != nil {
		return nil, nil, err
	}
	s.Python.Shuffle(len(talks), func(i, j int) { talks[i], talks[j] = talks[j], talks[i] })
	var prompts []passage
	for len(talks) > 0 && len(prompts) < len(lengths) {
		batch := talks[:min(len(talks), batchSize)]
		talks = talks[len(batch):]
		ids := make([][]int32, len(batch))
		err := workload.Each(ctx, len(batch), func(ctx context.Context, i int) (err error) {
			ids[i], err = s.Tokenizer.Encode(ctx, batch[i].prompt, true)
			return err
		})
		if err != nil {
			return nil, nil, fmt.Errorf("tokenize ShareGPT's prompts: %w", err)
		}
		for _, turn := range ids {
			if len(turn) > 0 && len(prompts) < len(lengths) {
				prompts = append(prompts, repeated(turn, lengths[len(prompts)]))
			}
		}
	}
	switch {
	case len(prompts) == 0:
		return nil, nil, r.File.in(errors.New("no prompt in it has any tokens"))
	case len(prompts) < len(lengths):
		return prompts, []string{fmt.Sprintf("%s gives %d prompts of the %d asked for", r.File.Name, len(prompts), len(lengths))}, nil
	}
	return prompts, nil, nil
}

// repeated is a passage of n ids: turn, cut or over and over.
func repeated(turn []int32, n int) passage {
	return func() []int32 {
		ids := make([]int32, n)
		for filled := 0; filled < n; {
			filled += copy(ids[filled:], turn)
		}
		return ids
	}
}

// send puts prompts into requests, as ids or as the text that they decode to.
func (s *Source) send(ctx context.Context, requests []workload.Request, prompts []passage, asIDs bool) error {
	return workload.Each(ctx, len(requests), func(ctx context.Context, i int) (err error) {
		ids := prompts[i]()
		if asIDs {
			requests[i].Tokens = ids
		} else if requests[i].Text, err = s.Tokenizer.Decode(ctx, ids); err != nil {
			return fmt.Errorf("make a prompt of %d ids: %w", len(ids), err)
		}
		return s.Spool.Keep(&requests[i])
	})
}
