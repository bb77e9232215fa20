package endpoint

import (
	"errors"
	"strconv"

	"github.com/pitot-bench/pitot/internal/workload"
)

// What a request can hold that a protocol cannot say.
var (
	errNotChat   = errors.New("a list of messages can only be sent to a protocol for chats")
	errNotParts  = errors.New("media can only be sent to a protocol for chats")
	errNotBatch  = errors.New("several texts in one request can only be sent to embeddings, pooling and rerank")
	errNotTokens = errors.New("a prompt of token ids can only be sent to a protocol without a chat template")
)

// textOnly refuses what cannot stand in a prompt of text or token ids.
func textOnly(req *workload.Request) error {
	switch {
	case req.Messages != nil || req.Parts != nil:
		return errNotChat
	case len(req.Media) > 0:
		return errNotParts
	case req.Batch != nil:
		return errNotBatch
	}
	return nil
}

// textPrompt writes the prompt as text, or as token ids, under a name.
func textPrompt(name string) func(*bodyWriter, *Options, *workload.Request, func(string) bool) error {
	return func(b *bodyWriter, o *Options, req *workload.Request, free func(string) bool) error {
		if !free(name) {
			return nil
		}
		if err := textOnly(req); err != nil {
			return err
		}
		switch {
		case req.Tokens == nil:
			b.name(name).text(req.Text)
		case o.Protocol == TGI:
			return errNotTokens
		default:
			b.name(name).ids(req.Tokens)
		}
		return nil
	}
}

// generatePrompt writes SGLang's: text or input_ids, and pictures beside it.
func generatePrompt(b *bodyWriter, _ *Options, req *workload.Request, free func(string) bool) error {
	switch {
	case req.Messages != nil || req.Parts != nil:
		return errNotChat
	case req.Batch != nil:
		return errNotBatch
	case !free("text") || !free("input_ids"):
	case req.Tokens != nil:
		b.name("input_ids").ids(req.Tokens)
	default:
		b.name("text").text(req.Text)
	}
	for _, kind := range []string{"image", "video", "audio"} {
		if free(kind + "_data") {
			b.mediaList(kind, req.Media)
		}
	}
	return nil
}

// mediaList writes the media of a kind as a list of their addresses, if there are
// any.
func (b *bodyWriter) mediaList(kind string, media []workload.Media) {
	n := 0
	for _, m := range media {
		if mediaKind(m) != kind {
			continue
		}
		if n == 0 {
			b.name(kind + "_data").rawString("[")
		} else {
			b.rawString(",")
		}
		b.address(m)
		n++
	}
	if n > 0 {
		b.rawString("]")
	}
}

func generateParameters(o *Options) map[string]any {
	values := map[string]any{}
	if o.IgnoreEOS {
		values["ignore_eos"] = true
	}
	return values
}

// tgiParameters ask for details: they have the finish reason and the usage.
func tgiParameters(o *Options) map[string]any {
	values := map[string]any{"details": true}
	if o.IgnoreEOS {
		values["ignore_eos_token"] = true
	}
	return values
}

// noEnd is an id beyond all vocabularies: the token that ends an answer then never
// comes.
const noEnd = "1048576"

// trtPrompt writes Triton's; answers of the full length are asked for by a least
// length and an end that never comes.
func trtPrompt(b *bodyWriter, o *Options, req *workload.Request, free func(string) bool) error {
	if err := textOnly(req); err != nil {
		return err
	}
	switch {
	case !free("text_input"):
	case req.Tokens != nil:
		return errNotTokens
	default:
		b.name("text_input").text(req.Text)
	}
	if !o.IgnoreEOS {
		return nil
	}
	if req.OutputTokens > 0 && free("min_length") {
		b.field("min_length", strconv.AppendInt(nil, int64(req.OutputTokens), 10))
	}
	if free("end_id") {
		b.field("end_id", []byte(noEnd))
	}
	return nil
}
