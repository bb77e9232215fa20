package workload

import (
	"context"
	"slices"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
)

// Drawable are the ids for random prompts: all except the special ones.
func (v Vocabulary) Drawable() []int32 { return Without(consecutive(v.Size), v.Special...) }

// IDs are all ids in ascending order, with the added tokens where they are known.
func (v Vocabulary) IDs() []int32 {
	if v.All != nil {
		return v.All
	}
	return consecutive(v.Size)
}

func consecutive(size int) []int32 {
	ids := make([]int32, max(0, size))
	for i := range ids {
		ids[i] = int32(i)
	}
	return ids
}

// Without is ids but for those left out.
func Without(ids []int32, out ...int32) []int32 {
	skip := make(map[int32]bool, len(out))
	for _, id := range out {
		skip[id] = true
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id int32) bool { return skip[id] })
}

// Exact turns ids into a prompt with the same number of tokens, as text if there is
// a tokenizer. If decoding and encoding gives another number it changes the end of
// the prompt, with draws that depend only on the seed, and leaves the first keep
// tokens unchanged as long as there are others. exact is false if that failed.
func Exact(
	ctx context.Context, v Vocabulary, tok Tokenizer, ids []int32, keep int, seed uint64,
) (r Request, exact bool, err error) {
	rng := pyrand.NewGenerator(seed)
	d := draw{rng: rng, random: Random{Seed: seed}, prefix: ids[:min(keep, len(ids))]}
	d.fix = fixer{tok: tok, rng: rng, vocab: int64(v.Size)}
	s, err := d.fix.start(ctx, ids, len(ids))
	if err == nil {
		err = d.fix.finish(ctx, &s)
	}
	if err == nil {
		err = d.insist(ctx, 0, &s)
	}
	r = Request{Text: s.text, PromptTokens: len(s.ids)}
	if tok == nil {
		r.Tokens = s.ids
	}
	return r, len(s.ids) == s.want, err
}
