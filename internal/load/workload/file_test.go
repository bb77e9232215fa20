package workload

import (
	"context"
	"io"
)

// build is of a file what a dataset makes of it.
func (s ShareGPT) build(ctx context.Context, file io.Reader, tok Tokenizer) (Workload, error) {
	talks, err := ReadConversations(file)
	if err != nil {
		return Workload{}, err
	}
	return s.Build(ctx, talks, tok)
}

func (c Custom) build(ctx context.Context, file io.Reader, tok Tokenizer) (Workload, error) {
	requests, err := c.Read(file, new(Pack))
	if err != nil {
		return Workload{}, err
	}
	return c.Build(ctx, requests, tok)
}
