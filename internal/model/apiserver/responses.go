package apiserver

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// responsesErrorEvent is what the responses API sends when generation fails in
// mid-stream.
const responsesErrorEvent = "event: error\n" + `data: {"type":"error","code":"server_error","message":"Internal server error","param":null}`

// responses reads a request of OpenAI's newer API.
func (d *decoder) responses(object gjson.Result) {
	var input, instructions gjson.Result
	object.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "input":
			input = value
		case "instructions":
			instructions = value
		case "max_output_tokens":
			d.integer("body.max_output_tokens", value, &d.req.maxTokens, &d.hasMaxTokens)
		case "previous_response_id", "background":
			d.unsupported(key.Str, value)
		case "model", "request_id", "stream", "priority", "ignore_eos", "stop":
			d.field(key.Str, value)
		}
		return true
	})
	d.req.fill = !d.hasMaxTokens
	c := conversation{schema: &d.schema}
	if instructions.Type == gjson.String && instructions.Str != "" {
		c.text.WriteString("system: " + instructions.Str + "\n")
	}
	switch {
	case input.Type == gjson.String:
		c.text.WriteString("user: " + input.Str + "\n")
	case input.IsArray():
		c.items(input)
	case input.Type == gjson.Null:
		d.note("body.input", "missing", "Field required")
	default:
		d.note("body.input", "string_type", "Input should be a valid string")
	}
	d.take(&c)
}

// items reads the messages among a list of items; others say nothing to a model that
// calls no tools.
func (c *conversation) items(list gjson.Result) {
	for i, item := range list.Array() {
		if item.Get("role").Exists() {
			c.message("body.input."+strconv.Itoa(i), item)
		}
	}
	if c.text.Len() == 0 && len(c.bad) == 0 {
		c.refuse(badRequest("", nil, "input must hold at least one message."))
	}
}

// take makes a conversation the prompt.
func (d *decoder) take(c *conversation) {
	if c.refused != nil {
		d.refuse(c.refused)
	}
	d.req.prompt = d.v.encode(nil, c.render(true))
	d.req.images = c.images
}

// responded words an answer as vLLM's /v1/responses does: events with names, the text
// told once more at the end.
type responded struct {
	*exchange
	created  int64
	sequence int
	shown    bytes.Buffer // the text so far
	from     int          // where the text of the open event begins
}

func (r *responded) item() string { return "msg_" + strings.TrimPrefix(r.id, "resp_") }

// event adds one that is no output; its fields lie in v.
func (r *responded) event(c *chunks, name string, v map[string]any) {
	v["type"], v["sequence_number"] = name, r.sequence
	r.sequence++
	b, _ := json.Marshal(v) // strings, numbers and maps of them
	c.line("event: " + name + "\ndata: " + string(b))
}

func (r *responded) accept(c *chunks) {
	for _, name := range []string{"response.created", "response.in_progress"} {
		r.event(c, name, map[string]any{"response": r.object("in_progress")})
	}
}

// place is where the text stands in the response.
func (r *responded) place(more map[string]any) map[string]any {
	more["item_id"], more["output_index"], more["content_index"] = r.item(), 0, 0
	return more
}

func (r *responded) part(text string) map[string]any {
	return map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

func (r *responded) message(status string, content ...any) map[string]any {
	if content == nil {
		content = []any{}
	}
	return map[string]any{"id": r.item(), "type": "message", "role": "assistant", "status": status, "content": content}
}

func (r *responded) begin(c *chunks) {
	r.event(c, "response.output_item.added", map[string]any{"output_index": 0, "item": r.message("in_progress")})
	r.event(c, "response.content_part.added", r.place(map[string]any{"part": r.part("")}))
}

func (r *responded) open(c *chunks) {
	c.buf = append(c.buf, "event: response.output_text.delta\n"+`data: {"content_index":0,"delta":"`...)
	c.events++
	r.from = len(c.buf)
}

func (r *responded) close(c *chunks, _ int, _ bool) {
	r.shown.Write(c.buf[r.from:])
	c.buf = append(c.buf, `","item_id":`...)
	c.buf = appendString(c.buf, r.item())
	c.buf = append(c.buf, `,"logprobs":[],"output_index":0,"sequence_number":`...)
	c.buf = strconv.AppendInt(c.buf, int64(r.sequence), 10)
	c.buf = append(c.buf, `,"type":"response.output_text.delta"}`...)
	r.sequence++
	c.end()
}

func (r *responded) conclude(c *chunks) {
	text := r.shown.String()
	r.event(c, "response.output_text.done", r.place(map[string]any{"text": text, "logprobs": []any{}}))
	r.event(c, "response.content_part.done", r.place(map[string]any{"part": r.part(text)}))
	r.event(c, "response.output_item.done", map[string]any{"output_index": 0, "item": r.message("completed", r.part(text))})
	r.event(c, "response.completed", map[string]any{"response": r.finished(text)})
}

func (r *responded) whole() []byte {
	b, _ := json.Marshal(r.finished(string(r.text.appendText(nil, r.plan.tokens))))
	return b
}

// object is the response without its answer.
func (r *responded) object(status string) map[string]any {
	return map[string]any{
		"id": r.id, "object": "response", "created_at": r.created, "model": r.req.model, "status": status,
		"incomplete_details": nil, "output": []any{}, "max_output_tokens": r.plan.maxTokens, "usage": nil,
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}, "metadata": nil, "previous_response_id": nil,
		"background": false, "truncation": "disabled", "service_tier": "auto",
	}
}

// finished is all of the response. One that was cut at its limit is completed, and
// says that it is not complete.
func (r *responded) finished(text string) map[string]any {
	o := r.object("completed")
	if r.plan.finish == "length" {
		o["status"], o["incomplete_details"] = "incomplete", map[string]string{"reason": "max_output_tokens"}
	}
	o["output"] = []any{r.message("completed", r.part(text))}
	o["usage"] = map[string]any{
		"input_tokens": r.plan.promptTokens, "input_tokens_details": map[string]int{"cached_tokens": max(r.cached(), 0)},
		"output_tokens": r.plan.tokens, "output_tokens_details": map[string]int{"reasoning_tokens": 0, "tool_output_tokens": 0},
		"total_tokens": r.plan.promptTokens + r.plan.tokens,
	}
	return o
}
