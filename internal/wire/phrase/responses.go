package phrase

import (
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"
)

// Responses is OpenAI's newer protocol, as vLLM serves it: events with names and
// numbers, and all of the text once more at the end.
var Responses = &Protocol{
	Name: "responses", Routes: []string{"/v1/responses"}, Limit: "max_output_tokens", Least: "min_tokens",
	prefix: "resp_", read: readResponses,
	fields: fields{
		"input": later, "instructions": later, "max_output_tokens": readLimit, "model": readModel, "request_id": readID,
		"stream": readStream, "priority": readPriority, "ignore_eos": readEOS, "stop": readStop,
		"previous_response_id": unserved(), "background": unserved(),
	},
	failure: "event: error\n" +
		`data: {"type":"error","code":"server_error","message":"Internal server error","param":null}`,
	accept: func(w *Writer, dst []byte) []byte {
		for _, name := range []string{"response.created", "response.in_progress"} {
			dst = w.numbered(dst, name, `"response":`+w.response("in_progress", "null", "", "null"), "")
		}
		return dst
	},
	begin: func(w *Writer, dst []byte) []byte {
		dst = w.numbered(dst, "response.output_item.added", `"item":`+w.item("in_progress", "")+`,"output_index":0`, "")
		return w.numbered(dst, "response.content_part.added", w.place()+`,"part":`+part(""), "")
	},
	frame: func(w *Writer) frame {
		return frame{
			open:  "event: response.output_text.delta\n" + `data: {"content_index":0,"delta":"`,
			close: `","item_id":` + w.itemID() + `,"logprobs":[],"output_index":0,"sequence_number":`,
		}
	},
	event: func(w *Writer, dst []byte, n int, _ bool) []byte {
		dst = append(dst, w.open...)
		from := len(dst)
		dst = w.tokens(dst, n)
		w.shown = append(w.shown, dst[from:]...)
		dst = appendInt(dst, w.close, w.sequence)
		w.sequence++
		return append(dst, `,"type":"response.output_text.delta"}`...)
	},
	conclude: func(w *Writer, dst []byte) []byte {
		text := string(w.shown)
		dst = w.numbered(dst, "response.output_text.done", `"content_index":0,"item_id":`+w.itemID()+
			`,"logprobs":[],"output_index":0`, `,"text":"`+text+`"`)
		dst = w.numbered(dst, "response.content_part.done", w.place()+`,"part":`+part(text), "")
		dst = w.numbered(dst, "response.output_item.done", `"item":`+w.item("completed", part(text))+`,"output_index":0`, "")
		return w.numbered(dst, "response.completed", `"response":`+w.finished(text), "")
	},
	unstreamed: func(w *Writer, dst []byte) []byte {
		return append(dst, w.finished(string(w.tokens(nil, w.Tokens)))...)
	},
}

// numbered appends an event with a name and a number, which stands between fields.
func (w *Writer) numbered(dst []byte, name, before, after string) []byte {
	w.sequence++
	return w.named(dst, name, `%s,"sequence_number":%d%s,"type":"%s"`, before, w.sequence-1, after, name)
}

func (w *Writer) itemID() string { return quote("msg_" + w.ID) }

// place is where the text stands in the response.
func (w *Writer) place() string {
	return `"content_index":0,"item_id":` + w.itemID() + `,"output_index":0`
}

func part(text string) string {
	return `{"annotations":[],"logprobs":[],"text":"` + text + `","type":"output_text"}`
}

func (w *Writer) item(status, content string) string {
	return `{"content":[` + content + `],"id":` + w.itemID() + `,"role":"assistant","status":"` + status +
		`","type":"message"}`
}

func (w *Writer) response(status, incomplete, output, usage string) string {
	return fmt.Sprintf(`{"background":false,"created_at":%d,"id":%s,"incomplete_details":%s,"max_output_tokens":%d,`+
		`"metadata":null,"model":%s,"object":"response","output":[%s],"parallel_tool_calls":true,`+
		`"previous_response_id":null,"service_tier":"auto","status":"%s","tool_choice":"auto","tools":[],`+
		`"truncation":"disabled","usage":%s}`,
		w.Created, w.id, incomplete, w.MaxTokens, quote(w.Model), output, status, usage)
}

// finished is all of the response. One that was cut at its limit is completed, and
// says that it is not complete.
func (w *Writer) finished(text string) string {
	status, incomplete := "completed", "null"
	if w.Finish == "length" {
		status, incomplete = "incomplete", `{"reason":"max_output_tokens"}`
	}
	return w.response(status, incomplete, w.item("completed", part(text)),
		fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,`+
			`"output_tokens_details":{"reasoning_tokens":0,"tool_output_tokens":0},"total_tokens":%d}`,
			w.PromptTokens, max(w.Cached, 0), w.Tokens, w.PromptTokens+w.Tokens))
}

func readResponses(r *reader) {
	input, instructions := r.lastValue("input"), r.lastValue("instructions")
	r.req.Fill = !r.req.Limited
	if instructions.Type == gjson.String && instructions.Str != "" {
		r.addMessage("system", instructions.Str)
	}
	switch {
	case input.Type == gjson.String:
		r.addMessage("user", input.Str)
	case input.IsArray():
		r.items(input)
	case input.Type == gjson.Null:
		r.note("input", "missing", "Field required")
	default:
		r.note("input", "string_type", notString)
	}
}

// items reads the messages among a list of items; others say nothing to a model that
// calls no tools.
func (r *reader) items(list gjson.Result) {
	for i, item := range list.Array() {
		if item.Get("role").Exists() {
			r.message("input."+strconv.Itoa(i), item)
		}
	}
	r.wantMessages("input")
}
