package endpoint

import (
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/trace"
)

// A delta is what one event, or one whole answer, says.
type delta struct {
	token  bool // its choices are not empty
	kind   trace.Kind
	text   string // visible text
	finish string
	usage  *trace.Usage
	err    string // the server's error message
}

var (
	errNotJSON = errors.New("not a JSON object")
	errNoDelta = errors.New("choices[0] has no delta")
)

// decode reads an event of a stream, or with whole the body of an answer that
// is not streamed.
func decode(p Protocol, whole bool, data []byte) (delta, error) {
	if !gjson.ValidBytes(data) {
		return delta{}, fmt.Errorf("%w: %.200q", errNotJSON, data)
	}
	root := gjson.ParseBytes(data)
	if !root.IsObject() {
		return delta{}, fmt.Errorf("%w: %.200q", errNotJSON, data)
	}
	d := delta{usage: usage(root.Get("usage")), err: serverError(root)}
	choice := root.Get("choices.0")
	if !choice.Exists() {
		return d, nil
	}
	d.token = true
	if f := choice.Get("finish_reason"); f.Type == gjson.String && f.Str != "" {
		d.finish = f.Str
		d.kind |= trace.Finish
	}
	if p == Completions {
		d.say(choice.Get("text"), trace.Text)
		return d, nil
	}
	return d, d.message(choice, whole)
}

// message reads choices[0] of the chat protocol.
func (d *delta) message(choice gjson.Result, whole bool) error {
	m := choice.Get("delta")
	if whole {
		m = choice.Get("message")
	}
	if !m.IsObject() {
		return errNoDelta
	}
	d.say(m.Get("content"), trace.Text)
	d.say(m.Get("refusal"), trace.Text)
	d.say(m.Get("reasoning_content"), trace.Reasoning)
	d.say(m.Get("reasoning"), trace.Reasoning)
	if calls := m.Get("tool_calls"); calls.IsArray() && len(calls.Array()) > 0 {
		d.kind |= trace.ToolCall
	}
	if m.Get("role").Type == gjson.String && d.kind&(trace.Text|trace.Reasoning|trace.ToolCall) == 0 {
		d.kind |= trace.Role
	}
	return nil
}

// say adds the text of a field, if it has any.
func (d *delta) say(field gjson.Result, kind trace.Kind) {
	if field.Type != gjson.String || field.Str == "" {
		return
	}
	d.kind |= kind
	if kind == trace.Text {
		d.text += field.Str
	}
}

func usage(u gjson.Result) *trace.Usage {
	if !u.IsObject() {
		return nil
	}
	return &trace.Usage{
		Prompt:     int(u.Get("prompt_tokens").Int()),
		Completion: int(u.Get("completion_tokens").Int()),
		Cached:     int(u.Get("prompt_tokens_details.cached_tokens").Int()),
		Reasoning:  int(u.Get("completion_tokens_details.reasoning_tokens").Int()),
		At:         trace.Never,
	}
}

// serverError is the message of an error object: {"error": {"message": ...}},
// {"error": "..."}, or {"object": "error", "message": ...}.
func serverError(root gjson.Result) string {
	e := root.Get("error")
	switch {
	case e.IsObject():
		if m := e.Get("message"); m.Exists() {
			return m.String()
		}
		return e.Raw
	case e.Exists() && e.Type != gjson.Null:
		return e.String()
	case root.Get("object").Str == "error":
		return root.Get("message").String()
	}
	return ""
}
