package apiserver

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// An api is a way to ask for a generation, by the name the truth has for it.
type api string

const (
	completionsAPI   api = "completions"
	chatAPI          api = "chat"
	generateAPI      api = "generate"      // SGLang's own
	responsesAPI     api = "responses"     // OpenAI's newer one
	messagesAPI      api = "messages"      // Anthropic's
	tgiAPI           api = "tgi"           // of text-generation-inference
	tritonAPI        api = "triton"        // TensorRT-LLM behind Triton
	transcriptionAPI api = "transcription" // of speech
	embeddingsAPI    api = "embeddings"
	poolingAPI       api = "pooling" // vLLM's own
	rerankAPI        api = "rerank"
)

// marked tells whether streams end with [DONE].
func (a api) marked() bool {
	return a != responsesAPI && a != messagesAPI && a != tgiAPI && a != tritonAPI
}

// silent tells whether answers have no text.
func (a api) silent() bool { return a == embeddingsAPI || a == poolingAPI || a == rerankAPI }

// idPrefix begins the ids of responses.
func (a api) idPrefix() string {
	switch a {
	case completionsAPI:
		return "cmpl-"
	case chatAPI, messagesAPI:
		return "chatcmpl-"
	case responsesAPI:
		return "resp_"
	case transcriptionAPI:
		return "trsc-"
	case embeddingsAPI:
		return "embd-"
	case poolingAPI:
		return "pool-"
	case rerankAPI:
		return "rerank-"
	}
	return ""
}

// A request is what a client asked for, checked and with its prompt in tokens.
type request struct {
	api      api
	model    string  // or adapter, as asked for; once it is known to be served, never empty
	id       string  // of the request, if it names one
	prompt   []int32 // text tokens
	images   []engine.Image
	priority int

	maxTokens   int
	fill        bool // no limit was given: as many as the context has room for
	minTokens   int
	ignoreEOS   bool
	stop        []string
	includeStop bool // the stop string is part of the text shown

	stream          bool
	usage           bool    // a last chunk tells the usage
	continuousUsage bool    // so does every chunk
	details         bool    // TGI: the answer says how it ended
	plainText       bool    // a transcription is wanted as a text, without JSON
	seconds         float64 // of the sound to be transcribed
}

func (r *request) promptTokens() int {
	n := len(r.prompt)
	for _, i := range r.images {
		n += i.Tokens
	}
	return n
}

// limits are the names of the fields that bound the length of the answer.
func (r *request) limits() (most, least string) {
	switch r.api {
	case generateAPI, tgiAPI:
		return "max_new_tokens", "min_new_tokens"
	case responsesAPI:
		return "max_output_tokens", "min_tokens"
	case tritonAPI:
		return "max_tokens", "min_length"
	}
	return "max_tokens", "min_tokens"
}

// contentType is that of the response that is no stream.
func (r *request) contentType() string {
	if r.plainText {
		return "text/plain; charset=utf-8"
	}
	return "application/json"
}

// A decoder reads one request body, field by field in the order they come.
type decoder struct {
	schema
	v       *vocabulary
	req     request
	refused *apiError // the first thing that fits the schema but is not served

	n                   int
	hasMaxTokens        bool // max_tokens was given
	completionTokens    int  // chat's max_completion_tokens, which goes before max_tokens
	hasCompletionTokens bool // it was given
	prompt, messages    gjson.Result
	text, ids           gjson.Result // of a generate request
	options             gjson.Result
}

func (d *decoder) refuse(e *apiError) {
	if d.refused == nil {
		d.refused = e
	}
}

// decodeRequest reads the body of a request. One that fits the schema is there
// even if it is refused.
func decodeRequest(v *vocabulary, body []byte, a api) (*request, *apiError) {
	object, err := parseObject(body)
	if err != nil {
		return nil, err
	}
	d := &decoder{v: v, n: 1, req: request{api: a, maxTokens: 16}}
	switch a {
	case generateAPI:
		d.generate(object)
	case responsesAPI:
		d.responses(object)
	case messagesAPI:
		d.messagesBody(object)
	case tgiAPI:
		d.tgi(object)
	case tritonAPI:
		d.triton(object)
	default:
		d.openAI(object)
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	d.check()
	req := d.req // a copy: d holds on to the body
	return &req, d.refused
}

// openAI reads a completion or chat request.
func (d *decoder) openAI(object gjson.Result) {
	object.ForEach(func(key, value gjson.Result) bool {
		d.field(key.Str, value)
		return true
	})
	if d.req.api == chatAPI {
		d.chatPrompt()
		if d.hasCompletionTokens {
			d.req.maxTokens, d.hasMaxTokens = d.completionTokens, true
		}
		d.req.fill = !d.hasMaxTokens
	} else {
		d.textPrompt()
	}
	d.streamOptions()
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
		d.integer(loc, v, &r.maxTokens, &d.hasMaxTokens)
	case "max_completion_tokens":
		d.integer(loc, v, &d.completionTokens, &d.hasCompletionTokens)
	case "min_tokens":
		d.integer(loc, v, &r.minTokens, nil)
	case "priority":
		d.integer(loc, v, &r.priority, nil)
	case "include_stop_str_in_output":
		d.boolean(loc, v, &r.includeStop)
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
	default:
		d.sampling(name, loc, v)
	}
}

// sampling takes the fields about answers that go by the same names in OpenAI's
// and in SGLang's requests.
func (d *decoder) sampling(name, loc string, v gjson.Result) {
	switch name {
	case "ignore_eos":
		d.boolean(loc, v, &d.req.ignoreEOS)
	case "stop":
		d.stopStrings(loc, v)
	case "n":
		d.integer(loc, v, &d.n, nil)
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
	most, least := r.limits()
	switch {
	case d.n < 1:
		d.refuse(badRequest("n", d.n, "n must be at least 1, got %d.", d.n))
	case d.n > 1:
		d.refuse(badRequest("n", d.n, "this server makes one choice per request, got n=%d.", d.n))
	case !r.fill && r.maxTokens < 1:
		d.refuse(badRequest(most, r.maxTokens, "%s must be at least 1, got %d.", most, r.maxTokens))
	case r.minTokens < 0:
		d.refuse(badRequest(least, r.minTokens, "%s must be greater than or equal to 0, got %d.", least, r.minTokens))
	case !r.fill && r.minTokens > r.maxTokens:
		d.refuse(badRequest(least, r.minTokens, "%s must be less than or equal to %s=%d, got %d.", least, most, r.maxTokens, r.minTokens))
	}
	for _, s := range r.stop {
		if s == "" {
			d.refuse(badRequest("", nil, "stop cannot contain an empty string."))
		}
	}
}
