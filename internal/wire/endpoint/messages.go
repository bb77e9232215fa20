package endpoint

import (
	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// messagesEvent reads an event of a stream of Anthropic's messages protocol:
//
//	{"type":"message_start","message":{"usage":{"input_tokens":7,…}}}
//	{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"The"}}
//	{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}
//	{"type":"message_stop"}
func messagesEvent(root gjson.Result) delta {
	d := delta{err: serverError(root)}
	switch root.Get("type").Str {
	case "message_start":
		d.counted(root.Get("message.usage"))
	case "content_block_start":
		if block := root.Get("content_block"); block.Get("type").Str == "tool_use" {
			d.token = true
			d.call(block)
			d.pieces = d.pieces[:1] // its input follows
		}
	case "content_block_delta":
		d.piece(root.Get("delta"))
	case "message_delta":
		d.finish = root.Get("delta.stop_reason").Str
		d.counted(root.Get("usage"))
	case "message_stop":
		d.last = true
	}
	return d
}

// piece reads a part of a block; signatures are no output.
func (d *delta) piece(part gjson.Result) {
	switch part.Get("type").Str {
	case "text_delta":
		d.token = true
		d.add(part.Get("text"), trace.Text)
	case "thinking_delta":
		d.token = true
		d.add(part.Get("thinking"), trace.Reasoning)
	case "input_json_delta":
		d.token = true
		d.add(part.Get("partial_json"), trace.ToolCall)
	case "signature_delta", "citations_delta":
	default:
		d.unread = unknownIn(part)
	}
}

// counted reads a usage object; tokens from a cache are not in input_tokens there.
func (d *delta) counted(u gjson.Result) {
	d.use(&counts{"input_tokens", "output_tokens", "cache_read_input_tokens", ""}, u)
	d.usage.Prompt += d.usage.Cached + integerOf(u.Get("cache_creation_input_tokens"))
}

// messageDelta reads an unstreamed answer.
func messageDelta(root gjson.Result) delta {
	d := delta{err: serverError(root)}
	d.counted(root.Get("usage"))
	content := root.Get("content")
	if !content.IsArray() {
		return d
	}
	d.token = true
	d.finished(root.Get("stop_reason"))
	for _, block := range content.Array() {
		switch block.Get("type").Str {
		case "text":
			d.add(block.Get("text"), trace.Text)
		case "thinking":
			d.add(block.Get("thinking"), trace.Reasoning)
		case "tool_use":
			d.call(block)
			d.hidden += block.Get("input").Raw
		}
	}
	if d.kind&(trace.Text|trace.Reasoning|trace.ToolCall) == 0 {
		d.kind |= trace.Bare
	}
	return d
}
