package workload

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Align cuts prompts that are longer for the server than for the tokenizer they
// were drawn with, like the vLLM benchmark since June 2026: if the server counts
// the first prompt differently, every prompt is tokenized by the server, cut to its
// length and converted back to text. A request for which that fails is left
// unchanged. Changed requests go to spool. It notes its changes.
func Align(ctx context.Context, requests []Request, server Tokenizer, spool *Spool) []plan.Message {
	if len(requests) == 0 || requests[0].Tokens != nil {
		return nil
	}
	first, err := serverIDs(ctx, &requests[0], server)
	switch {
	case err != nil:
		return []plan.Message{plan.Msg(NotAligned, "why", err)}
	case len(first) == requests[0].PromptTokens:
		return nil
	}
	var cut atomic.Int64
	err = Each(ctx, len(requests), func(ctx context.Context, i int) error {
		r := &requests[i]
		ids, err := serverIDs(ctx, r, server)
		if err != nil || len(ids) <= r.PromptTokens {
			return nil
		}
		if text, err := server.Decode(ctx, ids[:r.PromptTokens]); err == nil {
			r.Text, r.Later = text, nil
			cut.Add(1)
			return spool.Spill(r)
		}
		return nil
	})
	if err != nil {
		return []plan.Message{plan.Msg(PartlyAligned, "why", err)}
	}
	return []plan.Message{plan.Msg(ServerCounts, "there", len(first), "here", requests[0].PromptTokens, "cut", cut.Load())}
}

// serverIDs is the text of r in the server's tokens.
func serverIDs(ctx context.Context, r *Request, server Tokenizer) ([]int32, error) {
	whole, err := r.Unspooled()
	if err != nil {
		return nil, err
	}
	ids, err := server.Encode(ctx, whole.Text, false)
	if err == nil && len(ids) == 0 && whole.Text != "" {
		err = errNoCount
	}
	return ids, err
}

// errNoCount is of a server that answers, and counts nothing: it does not know the question.
var errNoCount = errors.New("the server's /tokenize gives no tokens for a text")
