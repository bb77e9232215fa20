package phrase

import "github.com/tidwall/gjson"

// openAIFailure is what vLLM sends when generation fails in mid-stream.
const openAIFailure = `data: {"error": {"message": "Internal server error", "type": "InternalServerError", ` +
	`"param": null, "code": 500}}`

// nullPrompt are fields of an unstreamed answer: of its choice, or of the answer itself in a chat.
const nullPrompt = `,"prompt_logprobs":null,"prompt_token_ids":null`

// Completions is OpenAI's oldest way to ask for text, as vLLM serves it.
var Completions = &Protocol{
	Name: "completions", Routes: []string{"/v1/completions", "/v1/models/model:predict"}, // Truss has the second
	Limit: "max_tokens", Least: "min_tokens", Counts: true, Marked: true,
	prefix: "cmpl-", failure: openAIFailure,
	fields: openAIFields, read: func(r *reader) {
		r.textPrompt()
		r.streamOptions()
	},
	frame: func(w *Writer) frame {
		const logprobs, ids = `","logprobs":null,"finish_reason":`, `,"prompt_token_ids":null,"token_ids":null}]`
		return frame{
			head: "data: " + w.identity("text_completion") + `,"choices":[`, open: `{"index":0,"text":"`,
			close: logprobs + `null,"stop_reason":null` + ids, last: logprobs + w.finish() + ids,
		}
	},
	unstreamed: func(w *Writer, dst []byte) []byte {
		dst = append(append(dst, w.identity("text_completion")...), `,"choices":[{"index":0,"text":"`...)
		dst = append(w.tokens(dst, w.Tokens), '"')
		return w.conclusion(dst, nullPrompt, "")
	},
}

// Chat is OpenAI's chat, as vLLM serves it.
var Chat = &Protocol{
	Name: "chat", Routes: []string{"/v1/chat/completions"},
	Limit: "max_tokens", Least: "min_tokens", Roles: true, Counts: true, Marked: true,
	prefix: "chatcmpl-", failure: openAIFailure,
	fields: openAIFields, read: func(r *reader) {
		r.conversation()
		readLimit(r, "max_completion_tokens", r.lastValue("max_completion_tokens")) // goes before max_tokens
		r.req.Fill = !r.req.Limited
		r.streamOptions()
	},
	begin: func(w *Writer, dst []byte) []byte {
		dst = append(dst, w.head...)
		dst = append(dst, `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`...)
		if w.Continuous {
			dst = appendUsage(dst, w.PromptTokens, 0)
		}
		return w.closeEvent(append(dst, `,"prompt_token_ids":null`...))
	},
	frame: func(w *Writer) frame {
		const logprobs, ids = `"},"logprobs":null,"finish_reason":`, `,"token_ids":null}]`
		return frame{
			head: "data: " + w.identity("chat.completion.chunk") + `,"choices":[`, open: `{"index":0,"delta":{"content":"`,
			close: logprobs + `null` + ids, last: logprobs + w.finish() + ids,
		}
	},
	unstreamed: func(w *Writer, dst []byte) []byte {
		dst = append(append(dst, w.identity("chat.completion")...),
			`,"choices":[{"index":0,"message":{"role":"assistant","content":"`...)
		dst = append(w.tokens(dst, w.Tokens),
			`","refusal":null,"annotations":null,"audio":null,"function_call":null,"tool_calls":[],"reasoning":null}`...)
		return w.conclusion(dst, "", nullPrompt)
	},
}

// finish is why the answer ends.
func (w *Writer) finish() string { return `"` + w.Finish + `","stop_reason":` + orNull(w.Stop) }

// conclusion appends the end of an unstreamed answer after its text, with further fields of the
// choice and of the answer.
func (w *Writer) conclusion(dst []byte, ofChoice, ofAnswer string) []byte {
	dst = append(dst, `,"logprobs":null,"finish_reason":`+w.finish()+`,"token_ids":null`+ofChoice+
		`}],"service_tier":null,"system_fingerprint":null`...)
	if w.Usage {
		dst = appendUsage(dst, w.PromptTokens, w.Tokens)
		if w.Cached >= 0 {
			dst = appendCached(dst, w.Cached)
		} else {
			dst = append(dst[:len(dst)-1], `,"prompt_tokens_details":null}`...)
		}
	}
	return append(append(dst, ofAnswer...), `,"kv_transfer_params":null}`...)
}

// openAIFields are those of a completion and of a chat.
var openAIFields = fields{
	"model": readModel, "request_id": readID, "prompt": later, "messages": later,
	"max_tokens": readLimit, "max_completion_tokens": later, "min_tokens": readLeast,
	"n": readChoices, "ignore_eos": readEOS, "stop": readStop, "priority": readPriority,
	"include_stop_str_in_output": readBoolean(func(q *Request) *bool { return &q.IncludeStop }),
	"stream":                     readStream, "stream_options": later,
	"echo": unserved(), "use_beam_search": unserved(), "logprobs": unserved(), "prompt_logprobs": unserved(),
	"return_token_ids": unserved(), "suffix": unserved(`""`), "tool_choice": unserved(`"none"`, `"auto"`),
	"truncate_prompt_tokens": unserved(`-1`),
}

// textPrompt reads the prompt of a completion: a string, a list of token ids, or a
// list of one of these.
func (r *reader) textPrompt() {
	v := r.lastValue("prompt")
	if v.IsArray() {
		switch first := v.Get("0"); {
		case first.Type == gjson.Number:
			r.req.IDs = r.ids("prompt", v)
			return
		case v.Get("1").Exists():
			r.refusef("", nil, "this server takes one prompt per request, got a list of %d.", v.Get("#").Int())
			return
		case first.IsArray():
			if r.req.IDs = r.ids("prompt.0", first); len(r.req.IDs) == 0 {
				r.refuseEmpty()
			}
			return
		default:
			v = first
		}
	}
	r.str("prompt", v, &r.req.Text)
	if r.req.Text == "" && (v.Type == gjson.Null || v.Type == gjson.String) {
		r.refuseEmpty()
	}
}

func (r *reader) refuseEmpty() {
	r.refuse(ruleError("prompt", "Either prompt or prompt_embeds must be provided and non-empty."))
}

// streamOptions needs the stream field, which may come after it.
func (r *reader) streamOptions() {
	v, q := r.lastValue("stream_options"), &r.req
	switch {
	case v.Type == gjson.Null:
		return
	case !v.IsObject():
		r.note("stream_options", "model_attributes_type", notObject)
		return
	case !q.Stream:
		if len(v.Map()) > 0 {
			r.refuse(ruleError("stream_options", "Stream options can only be defined when `stream=True`."))
		}
		return
	}
	q.Usage = true
	r.boolean("stream_options.include_usage", v.Get("include_usage"), &q.Usage)
	r.boolean("stream_options.continuous_usage_stats", v.Get("continuous_usage_stats"), &q.Continuous)
	q.Continuous = q.Continuous && q.Usage
}
