package endpoint

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/pitot-bench/pitot/internal/workload"
)

// A field is one member of a body, its value encoded.
type field struct {
	name  string
	value []byte
}

// fixedFields encodes the fields that do not depend on the request.
func fixedFields(o Options) ([]field, error) {
	values := map[string]any{"model": o.Model, "stream": o.Stream}
	if o.Stream && (o.IncludeUsage || o.ContinuousUsage) {
		usage := map[string]bool{"include_usage": true}
		if o.ContinuousUsage {
			usage["continuous_usage_stats"] = true
		}
		values["stream_options"] = usage
	}
	if o.IgnoreEOS {
		values["ignore_eos"] = true
	}
	for name, value := range o.Extra {
		values[name] = value
	}
	var fields []field
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value, err := json.Marshal(values[name])
		if err != nil {
			return nil, fmt.Errorf("body field %q: %w", name, err)
		}
		fields = append(fields, field{name, value})
	}
	return fields, nil
}

// Encode writes the body of a request. The run's extra fields override what the
// protocol would write, and the request's own override both.
func (c *Client) Encode(req *workload.Request) ([]byte, error) {
	req, err := req.Whole()
	if err != nil {
		return nil, err
	}
	b := bodyWriter{body: make([]byte, 0, bodySize(req))}
	for _, f := range c.fixed {
		_, own := req.Extra[f.name]
		if !own && (f.name != "model" || req.Model == "") {
			b.name(f.name).raw(f.value)
		}
	}
	if req.Model != "" && req.Extra["model"] == nil {
		b.name("model").text(req.Model)
	}
	free := func(name string) bool { return c.opts.Extra[name] == nil && req.Extra[name] == nil }
	if err := c.prompt(&b, req, free); err != nil {
		return nil, err
	}
	if limit := c.limit(); req.OutputTokens > 0 && free(limit) {
		b.name(limit).raw(strconv.AppendInt(nil, int64(req.OutputTokens), 10))
	}
	for _, name := range slices.Sorted(maps.Keys(req.Extra)) {
		b.name(name).raw(req.Extra[name])
	}
	return append(b.body, '}'), nil
}

// bodySize is a guess at the length of a body, large enough for its media.
func bodySize(req *workload.Request) int {
	n := 1024 + len(req.Text)*5/4 + len(req.Messages) + 7*len(req.Tokens)
	for _, m := range req.Media {
		n += 100 + base64.StdEncoding.EncodedLen(len(m.Data)) + len(m.URL)
	}
	return n
}

// limit is the name of the field that bounds the output length.
func (c *Client) limit() string {
	if c.opts.Protocol == Chat {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// A bodyWriter appends the members of one JSON object.
type bodyWriter struct{ body []byte }

func (b *bodyWriter) name(name string) *bodyWriter {
	if len(b.body) == 0 {
		b.body = append(b.body, '{')
	} else {
		b.body = append(b.body, ',')
	}
	b.text(name)
	b.body = append(b.body, ':')
	return b
}

func (b *bodyWriter) raw(value []byte) { b.body = append(b.body, value...) }

func (b *bodyWriter) rawString(value string) { b.body = append(b.body, value...) }

// text writes s as a JSON string; invalid UTF-8 becomes U+FFFD.
func (b *bodyWriter) text(s string) {
	q, _ := json.Marshal(s) // of a string: cannot fail
	b.body = append(b.body, q...)
}

func (c *Client) prompt(b *bodyWriter, req *workload.Request, free func(string) bool) error {
	if c.opts.Protocol == Chat {
		if !free("messages") {
			return nil
		}
		return c.messages(b.name("messages"), req)
	}
	switch {
	case !free("prompt"):
	case req.Messages != nil:
		return errors.New("a list of messages can only be sent to the chat protocol")
	case len(req.Media) > 0:
		return errors.New("pictures can only be sent to the chat protocol")
	case req.Tokens != nil:
		ids, err := json.Marshal(req.Tokens)
		if err != nil {
			return err
		}
		b.name("prompt").raw(ids)
	default:
		b.name("prompt").text(req.Text)
	}
	return nil
}

func (c *Client) messages(b *bodyWriter, req *workload.Request) error {
	switch {
	case req.Messages != nil:
		b.raw(req.Messages)
		return nil
	case req.Tokens != nil:
		return errors.New("a prompt of token ids cannot be sent to the chat protocol")
	}
	b.rawString(`[{"role":"user","content":`)
	if len(req.Media) == 0 && !c.opts.PartsAlways {
		b.text(req.Text)
	} else {
		b.parts(req)
	}
	b.rawString("}]")
	return nil
}

// parts writes the text, then the media, each as a typed part.
func (b *bodyWriter) parts(req *workload.Request) {
	b.rawString(`[{"type":"text","text":`)
	b.text(req.Text)
	b.rawString("}")
	for _, m := range req.Media {
		b.rawString(`,{"type":"image_url","image_url":{"url":`)
		if m.URL != "" {
			b.text(m.URL)
		} else {
			b.rawString(`"data:` + m.MIME + `;base64,`)
			b.body = base64.StdEncoding.AppendEncode(b.body, m.Data)
			b.rawString(`"`)
		}
		b.rawString("}}")
	}
	b.rawString("]")
}
