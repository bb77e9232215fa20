package traffic

import (
	"context"
	"fmt"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/plan"
)

// DefaultBlock is how many tokens a block of Mooncake's traces has.
const DefaultBlock = 512

// A Replay is the requests of a trace, with texts that are made up.
type Replay struct {
	Rows     []Row
	Block    int // tokens that a block number stands for, 0 = DefaultBlock
	Fit      int // how long a prompt and its answer may be together, 0 = no limit
	IDPrefix string
	Spool    *workload.Spool // for prompts that are too many for memory; nil keeps them there
}

// Build makes the prompts. The same row has the same prompt in every slice of its
// trace.
func (r Replay) Build(ctx context.Context, p *Prompter) (workload.Workload, error) {
	if r.Block == 0 {
		r.Block = DefaultBlock
	}
	pairs := make([]Pair, len(r.Rows))
	uncovered := 0
	for i, row := range r.Rows {
		pairs[i] = Pair{row.Input, row.Output}
		if len(row.Blocks) > 0 && len(row.Blocks)*r.Block < row.Input {
			uncovered++
		}
	}
	w := workload.Workload{Notes: fit(pairs, r.Fit)}
	if uncovered > 0 {
		w.Notes = append(w.Notes, plan.Say(promptsUncovered, "prompts", uncovered, "block", r.Block))
	}
	w.Requests = make([]workload.Request, len(r.Rows))
	err := workload.Each(ctx, len(r.Rows), func(ctx context.Context, i int) (err error) {
		ids, shared := r.prompt(p, r.Rows[i], p.own(pairs[i].Input))
		req, err := p.prompt(ctx, ids, shared)
		req.OutputTokens, req.At, req.ID = pairs[i].Output, r.Rows[i].At, fmt.Sprint(r.IDPrefix, i)
		w.Requests[i] = req
		if err == nil {
			err = r.Spool.Keep(&w.Requests[i])
		}
		return err
	})
	w.Notes = append(w.Notes, p.notes()...)
	return w, err
}

// prompt is n tokens for a row: first its blocks, all but the last of which others may
// share, and then what is its own.
func (r Replay) prompt(p *Prompter, row Row, n int) (ids []int32, shared int) {
	ids = make([]int32, 0, n)
	for _, b := range row.Blocks {
		if len(ids) == n {
			break
		}
		shared = len(ids)
		ids = p.draw(ids, "block", uint64(b), min(r.Block, n-len(ids)))
	}
	if len(ids) < n {
		shared = len(ids)
		ids = p.draw(ids, "row", uint64(row.Line), n-len(ids))
	}
	return ids, shared
}
