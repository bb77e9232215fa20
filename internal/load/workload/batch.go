package workload

import (
	"context"
	"errors"
	"strconv"

	"github.com/pitot-bench/pitot/internal/plan"
)

// batched draws the workload of Build with several prompts in a request, for servers
// that embed, score or rank them: no answer is wanted.
func (r Random) batched(ctx context.Context, d *draw) (Workload, error) {
	if d.fix.tok == nil {
		return Workload{}, plan.Problems{{
			Path: "batch", Value: strconv.Itoa(r.Batch), Why: "batches are of texts, and text needs a tokenizer",
		}}
	}
	var requests []Request
	query := 0 // tokens
	err := d.each(ctx, func(i int, req Request) error {
		at := i % r.Batch
		if at == 0 {
			if err := spillLast(r.Spool, requests); err != nil {
				return err
			}
			requests = append(requests, Request{})
			query = req.PromptTokens
		}
		last := &requests[len(requests)-1]
		last.Batch = append(last.Batch, req.Text)
		last.PromptTokens += req.PromptTokens
		if r.Ranked && at > 1 {
			last.PromptTokens += query
		}
		return nil
	})
	number(requests, r.IDPrefix)
	return Workload{Requests: requests, Notes: d.notes()}, errors.Join(err, spillLast(r.Spool, requests))
}

// spillLast spills the last request, which is complete.
func spillLast(s *Spool, requests []Request) error {
	if len(requests) == 0 {
		return nil
	}
	return s.Spill(&requests[len(requests)-1])
}
