package workload

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Align cuts prompts that are longer to the server than to the tokenizer they
// were drawn with, as the vLLM benchmark does since June 2026: if the first
// prompt has another length there, every prompt is tokenized by the server, cut
// to its length and turned back into text. A request for which that fails stays
// as it is. Those that it changes go to spool. It says in a sentence what it did, or
// nothing.
func Align(ctx context.Context, requests []Request, server Tokenizer, spool *Spool) string {
	if len(requests) == 0 || requests[0].Tokens != nil {
		return ""
	}
	first, err := serverIDs(ctx, &requests[0], server)
	switch {
	case err != nil:
		return fmt.Sprintf("prompt lengths were not checked against the server's tokenizer: %v", err)
	case len(first) == requests[0].PromptTokens:
		return ""
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
		return fmt.Sprintf("prompts were not all brought to their length by the server's tokenizer: %v", err)
	}
	return fmt.Sprintf("the server's tokenizer differs: it counts %d tokens in the first prompt of %d; %d prompts were cut to their length", len(first), requests[0].PromptTokens, cut.Load())
}

// serverIDs is the text of r in the server's tokens.
func serverIDs(ctx context.Context, r *Request, server Tokenizer) ([]int32, error) {
	whole, err := r.Whole()
	if err != nil {
		return nil, err
	}
	return server.Encode(ctx, whole.Text, false)
}
