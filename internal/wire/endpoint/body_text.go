package endpoint

import (
	"strconv"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// textPrompt writes the prompt as text, or as token ids, under a name.
func textPrompt(name string) func(*bodyWriter, *Options, *workload.Request, func(string) bool) error {
	return func(b *bodyWriter, _ *Options, req *workload.Request, free func(string) bool) error {
		switch {
		case !free(name):
		case req.Tokens == nil:
			b.name(name).text(req.Text)
		default:
			b.name(name).ids(req.Tokens)
		}
		return nil
	}
}

// generatePrompt writes SGLang's: text or input_ids, and images.
func generatePrompt(b *bodyWriter, _ *Options, req *workload.Request, free func(string) bool) error {
	switch {
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
	if free("text_input") {
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
