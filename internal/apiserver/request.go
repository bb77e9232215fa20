package apiserver

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/engine"
)

// A request is what a client asked for, checked and with its prompt in tokens.
type request struct {
	chat     bool
	model    string  // as asked for; once it is known to be served, never empty
	id       string  // of the request, if it names one
	prompt   []int32 // text tokens
	images   []engine.Image
	priority int

	maxTokens    int
	hasMaxTokens bool
	minTokens    int
	ignoreEOS    bool
	stop         []string
	includeStop  bool // the stop string is part of the text shown

	stream          bool
	usage           bool // a last chunk tells the usage
	continuousUsage bool // so does every chunk
}

func (r *request) promptTokens() int {
	n := len(r.prompt)
	for _, i := range r.images {
		n += i.Tokens
	}
	return n
}

// A decoder reads one request body, field by field in the order they come.
type decoder struct {
	schema
	v       *vocabulary
	req     request
	refused *apiError // the first thing that fits the schema but is not served

	n                   int
	completionTokens    int  // chat's max_completion_tokens, which goes before max_tokens
	hasCompletionTokens bool // it was given
	prompt, messages    gjson.Result
	options             gjson.Result
}

func (d *decoder) refuse(e *apiError) {
	if d.refused == nil {
		d.refused = e
	}
}

// decodeRequest reads the body of a completion or chat request.
func decodeRequest(v *vocabulary, body []byte, chat bool) (*request, *apiError) {
	object, err := parseObject(body)
	if err != nil {
		return nil, err
	}
	d := &decoder{v: v, n: 1, req: request{chat: chat, maxTokens: 16}}
	object.ForEach(func(key, value gjson.Result) bool {
		d.field(key.Str, value)
		return true
	})
	if chat {
		d.chatPrompt()
	} else {
		d.textPrompt()
	}
	d.streamOptions()
	if err := d.err(); err != nil {
		return nil, err
	}
	d.check()
	if d.refused != nil {
		return nil, d.refused
	}
	req := d.req // a copy: d holds on to the body
	return &req, nil
}

// field takes one field; those without effect on this server are ignored.
func (d *decoder) field(name string, v gjson.Result) {
	r, loc := &d.req, "body."+name
	switch name {
	case "model":
		d.str(loc, v, &r.model)
		r.model = strings.Clone(r.model) // do not hold on to the body
	case "request_id":
		d.str(loc, v, &r.id)
		r.id = strings.Clone(r.id)
	case "prompt":
		d.prompt = v
	case "messages":
		d.messages = v
	case "max_tokens":
		d.integer(loc, v, &r.maxTokens, &r.hasMaxTokens)
	case "max_completion_tokens":
		d.integer(loc, v, &d.completionTokens, &d.hasCompletionTokens)
	case "min_tokens":
		d.integer(loc, v, &r.minTokens, nil)
	case "priority":
		d.integer(loc, v, &r.priority, nil)
	case "ignore_eos":
		d.boolean(loc, v, &r.ignoreEOS)
	case "stop":
		d.stopStrings(loc, v)
	case "include_stop_str_in_output":
		d.boolean(loc, v, &r.includeStop)
	case "n":
		d.integer(loc, v, &d.n, nil)
	case "stream":
		d.boolean(loc, v, &r.stream)
	case "stream_options":
		d.options = v
	case "echo", "use_beam_search", "logprobs", "prompt_logprobs", "return_token_ids":
		d.unsupported(name, v)
	case "suffix":
		d.unsupported(name, v, `""`)
	case "tool_choice":
		d.unsupported(name, v, `"none"`, `"auto"`)
	case "truncate_prompt_tokens":
		d.unsupported(name, v, `-1`)
	}
}

// unsupported refuses a field that would change the answer. False and null,
// which ask for nothing, are fine, and so are the values in harmless.
func (d *decoder) unsupported(name string, v gjson.Result, harmless ...string) {
	if v.Type != gjson.Null && v.Type != gjson.False && !slices.Contains(harmless, v.Raw) {
		d.refuse(badRequest(name, v.String(), "%s is not supported by this server.", name))
	}
}

func (d *decoder) stopStrings(loc string, v gjson.Result) {
	d.req.stop = nil
	add := func(loc string, v gjson.Result) {
		var s string
		if v.Type == gjson.Null {
			d.note(loc, "string_type", "Input should be a valid string")
		}
		d.str(loc, v, &s)
		d.req.stop = append(d.req.stop, strings.Clone(s))
	}
	switch {
	case v.Type == gjson.Null:
	case v.IsArray():
		for i, e := range v.Array() {
			add(loc+"."+strconv.Itoa(i), e)
		}
	default:
		add(loc, v)
	}
}

// streamOptions needs the stream field, which may come after it.
func (d *decoder) streamOptions() {
	v := d.options
	if v.Type == gjson.Null {
		return
	}
	if !v.IsObject() {
		d.note("body.stream_options", "model_attributes_type", "Input should be a valid dictionary or object to extract fields from")
		return
	}
	if !d.req.stream && len(v.Map()) > 0 {
		d.refuse(ruleError("stream_options", "Stream options can only be defined when `stream=True`."))
		return
	}
	usage, continuous := true, false
	d.boolean("body.stream_options.include_usage", v.Get("include_usage"), &usage)
	d.boolean("body.stream_options.continuous_usage_stats", v.Get("continuous_usage_stats"), &continuous)
	d.req.usage, d.req.continuousUsage = usage, usage && continuous
}

// check refuses values that no request may have.
func (d *decoder) check() {
	r := &d.req
	param := "max_tokens"
	if r.chat && d.hasCompletionTokens {
		r.maxTokens, r.hasMaxTokens = d.completionTokens, true
	}
	if r.chat && !r.hasMaxTokens {
		param = "" // the rest of the context
	}
	switch {
	case d.n < 1:
		d.refuse(badRequest("n", d.n, "n must be at least 1, got %d.", d.n))
	case d.n > 1:
		d.refuse(badRequest("n", d.n, "this server makes one choice per request, got n=%d.", d.n))
	case param != "" && r.maxTokens < 1:
		d.refuse(badRequest(param, r.maxTokens, "max_tokens must be at least 1, got %d.", r.maxTokens))
	case r.minTokens < 0:
		d.refuse(badRequest("min_tokens", r.minTokens, "min_tokens must be greater than or equal to 0, got %d.", r.minTokens))
	case param != "" && r.minTokens > r.maxTokens:
		d.refuse(badRequest("min_tokens", r.minTokens, "min_tokens must be less than or equal to max_tokens=%d, got %d.", r.maxTokens, r.minTokens))
	}
	for _, s := range r.stop {
		if s == "" {
			d.refuse(badRequest("", nil, "stop cannot contain an empty string."))
		}
	}
}
