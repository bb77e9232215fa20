package workload

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/pitot-bench/pitot/internal/plan"
)

// Align cuts prompts of w that are longer for the server than for the tokenizer they
// were drawn with, like the vLLM benchmark since June 2026: if the server counts
// the first prompt differently, every prompt is tokenized by the server, cut to its
// length and converted back to text. A request for which that fails is left
// unchanged. Changed requests go to spool. It notes its changes. Prompts that would be made as they are due are made
// if any have to be cut.
func (w *Workload) Align(ctx context.Context, server Tokenizer, spool *Spool) error {
	all := w.All()
	if all.N == 0 || all.At(0).Tokens != nil {
		return nil
	}
	first, err := all.At(0).Unspooled()
	if err != nil {
		return err
	}
	ids, err := serverIDs(ctx, first, server)
	switch {
	case err != nil:
		w.Notes = append(w.Notes, plan.Msg(NotAligned, "why", err))
		return nil
	case len(ids) == first.PromptTokens:
		return nil
	}
	if err := w.MakeAll(ctx, spool); err != nil {
		return err
	}
	cut, err := cutTo(ctx, w.Requests, server, spool)
	if err != nil {
		w.Notes = append(w.Notes, plan.Msg(PartlyAligned, "why", err))
		return nil
	}
	w.Notes = append(w.Notes, plan.Msg(ServerCounts, "there", len(ids), "here", first.PromptTokens, "cut", cut))
	return nil
}

// cutTo cuts prompts that are longer for the server, and returns how many.
func cutTo(ctx context.Context, requests []Request, server Tokenizer, spool *Spool) (int64, error) {
	var cut atomic.Int64
	err := Each(ctx, len(requests), func(ctx context.Context, i int) error {
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
	return cut.Load(), err
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
