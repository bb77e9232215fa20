package sglang

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A random is the datasets random and random-ids: prompts of drawn lengths, made of
// ShareGPT's first turns, repeated or cut, or of runs of consecutive ids. Without
// ShareGPT's file prompts are made as for random-ids, of the same lengths, and a note
// says so.
type random struct {
	common
	data
	lengths
	AsIDs bool `json:"as_ids,omitempty" flag:"tokenize-prompt"` // prompts are sent as token ids

	ids   bool // random-ids
	turns []talk
}

const shareGPT = "ShareGPT_V3_unfiltered_cleaned_split.json"

// shareGPTLocation is where the tool has ShareGPT's conversations.
func shareGPTLocation(lack string) datasetLocation {
	return datasetLocation{shareGPT, "anon8231489123/ShareGPT_Vicuna_unfiltered", shareGPT, lack}
}

func (d *random) Check(s *workload.Source) plan.Problems {
	return slices.Concat(d.common.check(), d.lengths.check(), d.fit(wanted(s)))
}

// Read reads the conversations that prompts are made of.
func (d *random) Read(ctx context.Context, s *workload.Source) error {
	if d.ids {
		return nil
	}
	return d.read(ctx, s, shareGPTLocation(""), func(f *file) (err error) {
		d.turns, err = readShareGPT(f, false)
		return err
	})
}

func (d *random) Describe() plan.Message {
	kind := "random"
	if d.ids {
		kind = "random-ids"
	}
	return workload.Describe(kind, d.describe())
}

// Build draws the lengths, then the prompts.
func (d *random) Build(ctx context.Context, from *workload.Source) (w workload.Workload, err error) {
	if err := from.NeedText(false); err != nil {
		return w, err
	}
	s := d.source(from)
	n := wanted(from)
	inputs := s.lengths(d.Input, d.Ratio, n)
	outputs := s.lengths(d.Output, d.Ratio, n)
	asIDs := d.AsIDs || s.Tokens == nil
	if !s.january && !asIDs { // the server adds its special tokens to a text
		for i, n := range inputs {
			inputs[i] = max(1, n-s.Vocab.Around)
		}
	}
	prompts, notes, err := d.prompts(ctx, s, inputs)
	if err != nil {
		return w, err
	}
	w, err = s.Produce(ctx, workload.Production{
		N:     prompts.n,
		Brief: func(i int) workload.Brief { return workload.Brief{Output: outputs[i]} },
		Bare: func(i int) workload.Request {
			r := workload.Request{PromptTokens: inputs[i], OutputTokens: outputs[i]}
			if asIDs {
				r.Tokens = workload.NoIDs
			}
			return r
		},
		Fill: func(ctx context.Context, i int, r *workload.Request) error {
			return s.put(ctx, r, prompts.ids(i), asIDs)
		},
	})
	w.Lines, w.Notes = datasetTotals(sum(inputs), sum(outputs)), notes
	return s.finished(w), err
}

// passages are the ids of n prompts, made when they are wanted.
type passages struct {
	n   int
	ids func(i int) []int32
}

// prompts are the ids of the prompts, of the lengths given, and what there is to note.
func (d *random) prompts(ctx context.Context, s *source, lengths []int) (passages, []plan.Message, error) {
	switch {
	case d.ids:
		prompts, err := s.runs(s.numpy.Randint, lengths)
		return prompts, nil, err
	case d.turns != nil && s.Tokens != nil:
		return d.fromShareGPT(ctx, s, lengths)
	}
	fork := *s.numpy // later draws are the same as with ShareGPT
	prompts, err := s.runs(fork.Randint, lengths)
	note := noShareGPT
	if d.turns != nil {
		note = unreadShareGPT
	}
	return prompts, []plan.Message{plan.Msg(note)}, err
}

// runs are prompts of consecutive ids, from a drawn start each.
func (s *source) runs(randint func(lo, hi int64) int64, lengths []int) (passages, error) {
	size := int64(s.Vocab.Size)
	if size < 1 {
		return passages{}, errNoVocabulary
	}
	starts := make([]int32, len(lengths))
	for i := range starts {
		starts[i] = int32(randint(0, size))
	}
	return passages{len(lengths), func(i int) []int32 {
		ids := make([]int32, lengths[i])
		for j := range ids {
			ids[j] = int32((int64(starts[i]) + int64(i) + int64(j)) % size)
		}
		return ids
	}}, nil
}

// fromShareGPT are first turns of the file, in random order, brought to their lengths.
func (d *random) fromShareGPT(ctx context.Context, s *source, lengths []int) (passages, []plan.Message, error) {
	talks := slices.Clone(d.turns)
	s.python.Shuffle(len(talks), func(i, j int) { talks[i], talks[j] = talks[j], talks[i] })
	var prompts [][]int32
	turns := workload.InOrder(ctx, len(talks), func(ctx context.Context, i int) ([]int32, error) { return s.Tokens.Encode(ctx, talks[i].prompt, true) })
	for turn, err := range turns {
		if err != nil {
			return passages{}, nil, fmt.Errorf("tokenize ShareGPT's prompts: %w", err)
		}
		if len(turn) > 0 {
			prompts = append(prompts, turn[:min(len(turn), lengths[len(prompts)])])
		}
		if len(prompts) == len(lengths) {
			break
		}
	}
	if len(prompts) == 0 {
		return passages{}, nil, d.blame(errors.New("no prompt in it has any tokens"))
	}
	ids := func(i int) []int32 { return repeated(prompts[i], lengths[i]) }
	return passages{len(prompts), ids}, short(len(prompts), len(lengths)), nil
}

// repeated is n ids: turn, cut or over and over.
func repeated(turn []int32, n int) []int32 {
	ids := make([]int32, n)
	for filled := 0; filled < n; {
		filled += copy(ids[filled:], turn)
	}
	return ids
}

// put puts a prompt into a request, as ids or as the text that they decode to.
func (s *source) put(ctx context.Context, r *workload.Request, ids []int32, asIDs bool) (err error) {
	if asIDs {
		r.Tokens = ids
	} else if r.Text, err = s.Tokens.Decode(ctx, ids); err != nil {
		return fmt.Errorf("make a prompt of %d ids: %w", len(ids), err)
	}
	return nil
}
