package workload

import (
	"context"
	"errors"

	"github.com/pitot-bench/pitot/internal/load/pyrand"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Rerank draws a query and documents to rank, like the dataset "random-rerank" of
// the vLLM benchmark: one query for all requests, and Batch documents in each. Query
// and document together have about Input tokens.
type Rerank struct {
	Random
	// NoReranker is for models that embed query and documents each by itself: the query
	// is as long as a document, counts once, and is one of the texts of a request.
	NoReranker bool
}

// separator is the token that a reranker puts between query and document.
const separator = 1

// Check reports everything wrong with r: as Random does, and under batch.
func (r Rerank) Check() plan.Problems {
	p := r.documents().Check()
	p.If(r.Batch < 1, "batch", r.Batch, "must be at least 1")
	p.If(r.NoReranker && (r.Requests < 2 || r.Batch < 2), "batch", r.Batch,
		"without a reranker the query is one of the texts of a request: batch and requests, here %d, must be at least 2",
		r.Requests)
	return p
}

// documents are the settings that the documents are checked by.
func (r Rerank) documents() Random {
	d := r.Random
	d.Output, d.OutputRange, d.Prefix = 1, 0, 0
	if !r.NoReranker {
		d.Input = d.Input/2 - separator
	}
	return d
}

// Build draws the workload.
func (r Rerank) Build(ctx context.Context, v Vocabulary, tok Tokenizer) (Workload, error) {
	if err := r.Check().Err(); err != nil {
		return Workload{}, err
	}
	if tok == nil {
		return Workload{}, errors.New("queries and documents are text, and text needs a tokenizer")
	}
	d, err := r.draw(v, tok)
	if err != nil {
		return Workload{}, err
	}
	var query Request
	var documents []Request
	err = d.each(ctx, func(i int, req Request) error {
		if i == 0 {
			query = req
		} else {
			documents = append(documents, req)
		}
		return nil
	})
	if err != nil {
		return Workload{}, err
	}
	requests := r.batches(query, documents)
	for i := range requests {
		if err := r.Spool.Spill(&requests[i]); err != nil {
			return Workload{}, err
		}
	}
	number(requests, r.IDPrefix)
	return Workload{Requests: requests, Notes: d.notes()}, nil
}

// draw draws the lengths and starts of the query and then of the documents, which have
// the length that the query leaves.
func (r Rerank) draw(v Vocabulary, tok Tokenizer) (*draw, error) {
	query := r.documents()
	d := &draw{rng: pyrand.NewGenerator(r.Seed), step: 1, allowed: v.Drawable()}
	d.fix = fixer{tok: tok, rng: d.rng, vocab: int64(v.Size)}
	query.Requests = 1
	if err := d.lengths(query, v); err != nil {
		return nil, err
	}
	lengths, starts := d.inputs, d.offsets
	documents := r.documents()
	if r.NoReranker {
		documents.Requests--
	} else {
		documents.Input = r.Input - int(lengths[0]) - separator
	}
	if err := d.lengths(documents, v); err != nil {
		return nil, err
	}
	d.inputs, d.offsets = append(lengths, d.inputs...), append(starts, d.offsets...)
	d.outputs = make([]int32, len(d.inputs))
	return d, nil
}

// batches puts the query before the documents of each request.
func (r Rerank) batches(query Request, documents []Request) []Request {
	size := r.Batch
	if r.NoReranker {
		size--
	}
	var out []Request
	for from := 0; from < len(documents); from += size {
		part := documents[from:min(from+size, len(documents))]
		req := Request{Batch: []string{query.Text}}
		req.PromptTokens = query.PromptTokens
		if !r.NoReranker {
			req.PromptTokens = (query.PromptTokens + separator) * len(part)
		}
		for _, d := range part {
			req.Batch = append(req.Batch, d.Text)
			req.PromptTokens += d.PromptTokens
		}
		out = append(out, req)
	}
	return out
}
