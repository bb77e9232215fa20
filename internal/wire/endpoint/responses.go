package endpoint

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// What the events of OpenAI's responses protocol carry, by their type. Others say
// where parts of the answer begin and end, or repeat it.
var responsesKinds = map[string]trace.Kind{
	"response.output_text.delta":                trace.Text,
	"response.refusal.delta":                    trace.Text,
	"response.reasoning_text.delta":             trace.Reasoning,
	"response.reasoning_summary_text.delta":     trace.Reasoning,
	"response.reasoning.delta":                  trace.Reasoning,
	"response.reasoning_summary.delta":          trace.Reasoning,
	"response.audio.transcript.delta":           trace.Text,
	"response.output_audio_transcript.delta":    trace.Text,
	"response.function_call_arguments.delta":    trace.ToolCall,
	"response.custom_tool_call_input.delta":     trace.ToolCall,
	"response.mcp_call_arguments.delta":         trace.ToolCall,
	"response.code_interpreter_call_code.delta": trace.ToolCall,
}

// responsesEvent reads an event of a stream of OpenAI's responses protocol:
//
//	{"type":"response.output_text.delta","delta":"The"}
//	{"type":"response.completed","response":{"status":"completed","usage":{…}}}
func responsesEvent(root gjson.Result) delta {
	name := root.Get("type").Str
	if kind, ok := responsesKinds[name]; ok {
		d := delta{token: true}
		d.add(root.Get("delta"), kind)
		return d
	}
	switch name {
	case "response.output_item.added":
		return itemAdded(root.Get("item"))
	case "response.completed", "response.incomplete", "response.failed":
		d := response(root.Get("response"))
		d.token, d.kind, d.text, d.hidden, d.pieces = false, 0, "", "", nil // events before it had all of it
		d.last = d.err == ""
		return d
	case "error":
		d := delta{err: serverError(root)}
		if d.err == "" {
			d.err = root.Get("message").String()
		}
		return d
	}
	d := delta{err: serverError(root)}
	if strings.HasSuffix(name, ".delta") && holdsText(root.Get("delta")) {
		d.unread = name
	}
	return d
}

// itemAdded is the name of a function that is about to be called, which is output;
// other items begin empty.
func itemAdded(item gjson.Result) delta {
	if !strings.HasSuffix(item.Get("type").Str, "_call") {
		return delta{}
	}
	name := item.Get("name").Str
	return delta{token: true, kind: trace.ToolCall, hidden: name, pieces: []fragment{{trace.ToolNamePart, name}}}
}

// response reads a response object, an unstreamed answer.
func response(r gjson.Result) delta {
	d := delta{err: serverError(r)}
	d.use(&counts{
		"input_tokens", "output_tokens", "input_tokens_details.cached_tokens", "output_tokens_details.reasoning_tokens",
	}, r.Get("usage"))
	status := r.Get("status").Str
	switch {
	case status == "failed" && d.err == "":
		d.err = "the response failed"
	case r.Get("incomplete_details.reason").Str == "max_output_tokens":
		d.finish = "length"
	case status == "incomplete":
		d.finish = "incomplete"
	case status == "completed":
		d.finish = "stop"
	}
	output := r.Get("output")
	if !output.IsArray() {
		return d
	}
	d.token = true
	if d.finish != "" {
		d.kind |= trace.Finish
	}
	for _, item := range output.Array() {
		d.item(item)
	}
	if d.kind&(trace.Text|trace.Reasoning|trace.ToolCall) == 0 {
		d.kind |= trace.Bare
	}
	return d
}

// item reads one of the things that an answer consists of.
func (d *delta) item(item gjson.Result) {
	switch kind := item.Get("type").Str; {
	case kind == "message":
		for _, part := range item.Get("content").Array() {
			d.add(part.Get("text"), trace.Text)
			d.add(part.Get("refusal"), trace.Text)
		}
	case kind == "reasoning":
		for _, part := range append(item.Get("content").Array(), item.Get("summary").Array()...) {
			d.add(part.Get("text"), trace.Reasoning)
		}
	case strings.HasSuffix(kind, "_call"):
		d.call(item)
	}
}
