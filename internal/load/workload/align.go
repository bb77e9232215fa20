package workload

import (
	"context"
	"sync/atomic"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Align cuts prompts that are longer to the server than to the tokenizer they
// were drawn with, as the vLLM benchmark does since June 2026: if the first
// prompt has another length there, every prompt is tokenized by the server, cut
// to its length and turned back into text. A request for which that fails stays
// as it is. Those that it changes go to spool. It notes what it did.
func Align(ctx context.Context, requests []Request, server Tokenizer, spool *Spool) []plan.Message {
	if len(requests) == 0 || requests[0].Tokens != nil {
		return nil
	}
	first, err := serverIDs(ctx, &requests[0], server)
	switch {
	case err != nil:
		return []plan.Message{plan.Say(NotAligned, "why", err)}
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
			return spool.Keep(r)
		}
		return nil
	})
	if err != nil {
		return []plan.Message{plan.Say(PartlyAligned, "why", err)}
	}
	return []plan.Message{plan.Say(ServerCounts, "there", len(first), "here", requests[0].PromptTokens, "cut", cut.Load())}
}

// serverIDs is the text of r in the server's tokens.
func serverIDs(ctx context.Context, r *Request, server Tokenizer) ([]int32, error) {
	whole, err := r.Whole()
	if err != nil {
		return nil, err
	}
	return server.Encode(ctx, whole.Text, false)
}
