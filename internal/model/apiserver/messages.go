package apiserver

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// messagesErrorEvent is what the messages API sends when generation fails in
// mid-stream.
const messagesErrorEvent = "event: error\n" + `data: {"type":"error","error":{"type":"internal_error","message":"Internal server error"}}`

// messagesBody reads a request of Anthropic's API, as vLLM serves it.
func (d *decoder) messagesBody(object gjson.Result) {
	var system gjson.Result
	object.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "system":
			system = value
		case "stop_sequences":
			d.stopStrings("body.stop_sequences", value)
		case "max_tokens":
			d.integer("body.max_tokens", value, &d.req.maxTokens, &d.hasMaxTokens)
		case "model", "messages", "stream", "ignore_eos", "priority":
			d.field(key.Str, value)
		}
		return true
	})
	if !d.hasMaxTokens {
		d.note("body.max_tokens", "missing", "Field required")
	}
	c := conversation{schema: &d.schema}
	switch {
	case system.Type == gjson.String:
		c.text.WriteString("system: " + system.Str + "\n")
	case system.IsArray():
		c.text.WriteString("system: ")
		for _, block := range system.Array() {
			c.text.WriteString(block.Get("text").Str)
		}
		c.text.WriteString("\n")
	}
	c.read(d.messages)
	d.take(&c)
}

// said words an answer as vLLM's /v1/messages does.
type said struct{ *exchange }

// event adds one that is no output; its fields lie in v.
func (s *said) event(c *chunks, name string, v map[string]any) {
	v["type"] = name
	b, _ := json.Marshal(v) // strings, numbers and maps of them
	c.line("event: " + name + "\ndata: " + string(b))
}

func (s *said) accept(*chunks) {}

func (s *said) begin(c *chunks) {
	s.event(c, "message_start", map[string]any{"message": s.message([]any{}, nil, 0)})
	s.event(c, "content_block_start", map[string]any{"index": 0, "content_block": map[string]string{"type": "text", "text": ""}})
}

func (s *said) open(c *chunks) {
	c.buf = append(c.buf, "event: content_block_delta\n"+`data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"`...)
	c.events++
}

func (s *said) close(c *chunks, _ int, _ bool) {
	c.buf = append(c.buf, `"},"index":0}`...)
	c.end()
}

func (s *said) conclude(c *chunks) {
	s.event(c, "content_block_stop", map[string]any{"index": 0})
	s.event(c, "message_delta", map[string]any{"delta": map[string]any{"stop_reason": s.reason()}, "usage": s.usage(s.plan.tokens)})
	s.event(c, "message_stop", map[string]any{})
}

func (s *said) whole() []byte {
	text := string(s.text.appendText(nil, s.plan.tokens))
	b, _ := json.Marshal(s.message([]any{map[string]string{"type": "text", "text": text}}, s.reason(), s.plan.tokens))
	return b
}

func (s *said) message(content []any, reason any, tokens int) map[string]any {
	return map[string]any{
		"id": s.id, "type": "message", "role": "assistant", "content": content, "model": s.req.model,
		"stop_reason": reason, "stop_sequence": nil, "usage": s.usage(tokens),
	}
}

func (s *said) usage(tokens int) map[string]int {
	return map[string]int{"input_tokens": s.plan.promptTokens, "output_tokens": tokens}
}

func (s *said) reason() string {
	if s.plan.finish == "length" {
		return "max_tokens"
	}
	return "end_turn"
}

// messagesBody tells an error as the messages API does.
func (e *apiError) messagesBody() []byte {
	b, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": e.Type, "message": e.Message}})
	return b
}
