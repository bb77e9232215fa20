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
// as it is. It says in a sentence what it did, or nothing.
func Align(ctx context.Context, requests []Request, server Tokenizer) string {
	if len(requests) == 0 || requests[0].Tokens != nil {
		return ""
	}
	first, err := server.Encode(ctx, requests[0].Text, false)
	switch {
	case err != nil:
		return fmt.Sprintf("prompt lengths were not checked against the server's tokenizer: %v", err)
	case len(first) == requests[0].PromptTokens:
		return ""
	}
	var cut atomic.Int64
	_ = parallel(ctx, len(requests), func(ctx context.Context, i int) error {
		r := &requests[i]
		ids, err := server.Encode(ctx, r.Text, false)
		if err != nil || len(ids) <= r.PromptTokens {
			return nil
		}
		if text, err := server.Decode(ctx, ids[:r.PromptTokens]); err == nil {
			r.Text = text
			cut.Add(1)
		}
		return nil
	})
	return fmt.Sprintf("the server's tokenizer differs: it counts %d tokens in the first prompt of %d; %d prompts were cut to their length", len(first), requests[0].PromptTokens, cut.Load())
}
