package endpoint

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// A field is one member of a body, its value encoded.
type field struct {
	name  string
	value []byte
}

// fields encodes values in the order of their names, those in over instead of
// others of the same name; without those that are null in over, if nulls omit.
func fields(values map[string]any, over map[string]json.RawMessage, nullOmits bool) ([]field, error) {
	for name, value := range over {
		if values[name] = value; nullOmits && string(bytes.TrimSpace(value)) == "null" {
			delete(values, name)
		}
	}
	var out []field
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value, err := json.Marshal(values[name])
		if err != nil {
			return nil, fmt.Errorf("body field %q: %w", name, err)
		}
		out = append(out, field{name, value})
	}
	return out, nil
}

func noFields(*Options) map[string]any { return map[string]any{} }

func modelField(o *Options) map[string]any { return map[string]any{"model": o.Model} }

func streamField(o *Options) map[string]any { return map[string]any{"stream": o.Stream} }

// plainFields are those of protocols that tell the usage unasked.
func plainFields(o *Options) map[string]any {
	values := map[string]any{"model": o.Model, "stream": o.Stream}
	if o.IgnoreEOS {
		values["ignore_eos"] = true
	}
	return values
}

func openAIFields(o *Options) map[string]any {
	values := plainFields(o)
	if o.Stream && (o.IncludeUsage || o.ContinuousUsage) {
		usage := map[string]bool{"include_usage": true}
		if o.ContinuousUsage {
			usage["continuous_usage_stats"] = true
		}
		values["stream_options"] = usage
	}
	return values
}

// Encode writes the body of a request. The run's extra fields override what the
// protocol would write, and the request's own override both.
func (c *Client) Encode(req *workload.Request) ([]byte, error) {
	req, err := req.Unspooled()
	if err != nil {
		return nil, err
	}
	if err := c.grammar.takes.check(req); err != nil {
		return nil, err
	}
	b := bodyWriter{body: c.bodies.take(c.fixedSize + bodySize(req)), form: c.grammar.multipart}
	model := c.grammar.model
	for _, f := range c.fixed {
		_, own := req.Extra[f.name]
		if !own && (f.name != model || req.Model == "") {
			b.field(f.name, f.value)
		}
	}
	if model != "" && req.Model != "" && req.Extra[model] == nil {
		b.name(model).text(req.Model)
		b.done()
	}
	free := func(name string) bool { return c.opts.Extra[name] == nil && req.Extra[name] == nil }
	if err := c.grammar.prompt(&b, &c.opts, req, free); err != nil {
		return nil, err
	}
	c.bound(&b, req, free)
	if len(req.Extra) > 0 {
		for _, name := range slices.Sorted(maps.Keys(req.Extra)) {
			b.field(name, req.Extra[name])
		}
	}
	return b.end(), nil
}

// bound writes how long the answer may be, and with it the object of sampling
// parameters, where the protocol has one.
func (c *Client) bound(b *bodyWriter, req *workload.Request, free func(string) bool) {
	limit, nest := c.grammar.limit, c.grammar.nest
	wanted := limit != "" && req.OutputTokens > 0
	if nest == "" {
		if wanted && free(limit) {
			b.field(limit, strconv.AppendInt(nil, int64(req.OutputTokens), 10))
		}
		return
	}
	if !free(nest) {
		return
	}
	inner := bodyWriter{}
	for _, f := range c.nested {
		inner.field(f.name, f.value)
	}
	if wanted && c.opts.Sampling[limit] == nil {
		inner.field(limit, strconv.AppendInt(nil, int64(req.OutputTokens), 10))
	}
	b.field(nest, inner.end())
}

// sizeOf is the length of fields in a body.
func sizeOf(fields []field) (n int) {
	for _, f := range fields {
		n += len(`"":,`) + len(f.name) + len(f.value)
	}
	return n
}

// bodySize is a guess at the length of a body without its fixed fields, large enough for
// its media.
func bodySize(req *workload.Request) int {
	n := 128 + len(req.Text)*5/4 + len(req.Messages) + len(req.Parts) + 7*len(req.Tokens)
	for _, m := range req.Media {
		n += 100 + base64.StdEncoding.EncodedLen(len(m.Data)) + len(m.URL)
	}
	for name, value := range req.Extra {
		n += len(`"":,`) + len(name) + len(value)
	}
	for _, text := range req.Batch {
		n += 8 + len(text)*5/4
	}
	return n
}

// A bodyWriter appends the members of one JSON object, or the parts of a form.
type bodyWriter struct {
	body []byte
	form bool
}

func (b *bodyWriter) name(name string) *bodyWriter {
	if b.form {
		b.body = appendPart(b.body, name)
		return b
	}
	if len(b.body) == 0 {
		b.body = append(b.body, '{')
	} else {
		b.body = append(b.body, ',')
	}
	b.text(name)
	b.body = append(b.body, ':')
	return b
}

// field writes a member with its value encoded as JSON.
func (b *bodyWriter) field(name string, value []byte) {
	if !b.form {
		b.name(name).raw(value)
		return
	}
	if plain, ok := formValue(value); ok {
		b.name(name).rawString(plain)
		b.done()
	}
}

// done ends a member.
func (b *bodyWriter) done() {
	if b.form {
		b.rawString("\r\n")
	}
}

// end is the finished body.
func (b *bodyWriter) end() []byte {
	switch {
	case b.form:
		return append(b.body, "--"+formBoundary+"--\r\n"...)
	case len(b.body) == 0:
		return []byte("{}")
	}
	return append(b.body, '}')
}

func (b *bodyWriter) raw(value []byte) { b.body = append(b.body, value...) }

func (b *bodyWriter) rawString(value string) { b.body = append(b.body, value...) }

// text writes s as a JSON string, in which invalid UTF-8 becomes U+FFFD, or in a
// form as it is.
func (b *bodyWriter) text(s string) {
	if b.form {
		b.rawString(s)
		return
	}
	if plain(s) {
		b.body = append(append(append(b.body, '"'), s...), '"')
		return
	}
	q, _ := json.Marshal(s) // of a string: cannot fail
	b.body = append(b.body, q...)
}

// plain reports whether json.Marshal puts s between quotes as it is.
func plain(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c >= utf8.RuneSelf, c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

// texts writes a list of strings.
func (b *bodyWriter) texts(list []string) {
	b.rawString("[")
	for i, s := range list {
		if i > 0 {
			b.rawString(",")
		}
		b.text(s)
	}
	b.rawString("]")
}

// ids writes a list of token ids.
func (b *bodyWriter) ids(tokens []int32) {
	b.rawString("[")
	for i, id := range tokens {
		if i > 0 {
			b.rawString(",")
		}
		b.body = strconv.AppendInt(b.body, int64(id), 10)
	}
	b.rawString("]")
}
