package workload

import (
	"context"
	"strconv"

	"github.com/pitot-bench/pitot/internal/plan"
)

// batched draws the workload of Build, so many prompts in a request, for servers that
// embed or score them: nothing is asked to follow.
func (r Random) batched(ctx context.Context, d *draw) (Workload, error) {
	if d.fix.tok == nil {
		return Workload{}, plan.Problems{{Path: "batch", Value: strconv.Itoa(r.Batch), Why: "batches are of texts, and text needs a tokenizer"}}
	}
	var requests []Request
	err := d.each(ctx, func(i int, req Request) error {
		if i%r.Batch == 0 {
			requests = append(requests, Request{})
		}
		last := &requests[len(requests)-1]
		last.Batch = append(last.Batch, req.Text)
		last.PromptTokens += req.PromptTokens
		return nil
	})
	number(requests, r.IDPrefix)
	return Workload{Requests: requests, Notes: d.notes()}, err
}
