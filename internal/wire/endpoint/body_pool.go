package endpoint

import (
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// inputPrompt writes the input of an embedding: one text, several, token ids, or a
// chat.
func inputPrompt(b *bodyWriter, o *Options, req *workload.Request, free func(string) bool) error {
	switch {
	case !free("input") || !free("messages"):
	case req.Messages != nil || req.Parts != nil || len(req.Media) > 0 || o.AsMessages:
		return openAIMessages(b.name("messages"), o, req)
	case req.Batch != nil:
		b.name("input").texts(req.Batch)
	case req.Tokens != nil:
		b.name("input").ids(req.Tokens)
	default:
		b.name("input").text(req.Text)
	}
	return nil
}

// rerankPrompt writes a query and the documents to be held against it.
func rerankPrompt(b *bodyWriter, _ *Options, req *workload.Request, free func(string) bool) error {
	if free("query") {
		b.name("query").text(req.Batch[0])
	}
	if free("documents") {
		b.name("documents").texts(req.Batch[1:])
	}
	return nil
}
