package workload

import (
	"context"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
)

// Drawable are the ids for random prompts: all except the special ones.
func (v Vocabulary) Drawable() []int32 { return allowedIDs(v.Size, v.Special) }

// Exact turns ids into a prompt with the same number of tokens, as text if there is
// a tokenizer. If decoding and encoding gives another number it changes the end of
// the prompt, with draws that depend only on the seed, and leaves the first keep
// tokens unchanged as long as there are others. exact is false if that failed.
func Exact(ctx context.Context, v Vocabulary, tok Tokenizer, ids []int32, keep int, seed uint64) (r Request, exact bool, err error) {
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
