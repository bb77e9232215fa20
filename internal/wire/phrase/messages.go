package phrase

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// Messages is Anthropic's way to ask, as vLLM serves it.
var Messages = &Protocol{
	Name: "messages", Routes: []string{"/v1/messages"}, Limit: "max_tokens", Least: "min_tokens",
	prefix: "chatcmpl-", read: readAnthropic,
	fields: fields{
		"system": later, "messages": later, "max_tokens": readLimit, "model": readModel,
		"stream": readStream, "priority": readPriority, "ignore_eos": readEOS, "stop_sequences": readStop,
	},
	failure: "event: error\n" +
		`data: {"type":"error","error":{"type":"internal_error","message":"Internal server error"}}`,
	refuse: func(e *Error, _ bool) Reply {
		body := marshal(map[string]any{"type": "error", "error": map[string]string{"type": e.Type, "message": e.Message}})
		return JSONReply(e.Code, body)
	},
	begin: func(w *Writer, dst []byte) []byte {
		dst = w.named(dst, "message_start", `"message":%s,"type":"message_start"`, w.message("", "null", 0))
		return w.named(dst, "content_block_start",
			`"content_block":{"text":"","type":"text"},"index":0,"type":"content_block_start"`)
	},
	frame: func(*Writer) frame {
		return frame{
			open:  "event: content_block_delta\n" + `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"`,
			close: `"},"index":0`, last: `"},"index":0`,
		}
	},
	conclude: func(w *Writer, dst []byte) []byte {
		dst = w.named(dst, "content_block_stop", `"index":0,"type":"content_block_stop"`)
		dst = w.named(dst, "message_delta", `"delta":{"stop_reason":%s},"type":"message_delta","usage":%s`, w.stopReason(),
			w.tokensUsed(w.Tokens))
		return w.named(dst, "message_stop", `"type":"message_stop"`)
	},
	unstreamed: func(w *Writer, dst []byte) []byte {
		text := w.tokens(nil, w.Tokens)
		return append(dst, w.message(`{"text":"`+string(text)+`","type":"text"}`, w.stopReason(), w.Tokens)...)
	},
}

func (w *Writer) message(content, reason string, tokens int) string {
	return fmt.Sprintf(`{"content":[%s],"id":%s,"model":%s,"role":"assistant","stop_reason":%s,"stop_sequence":null,`+
		`"type":"message","usage":%s}`,
		content, w.id, quote(w.Model), reason, w.tokensUsed(tokens))
}

func (w *Writer) tokensUsed(tokens int) string {
	return fmt.Sprintf(`{"input_tokens":%d,"output_tokens":%d}`, w.PromptTokens, tokens)
}

func (w *Writer) stopReason() string {
	if w.Finish == "length" {
		return `"max_tokens"`
	}
	return `"end_turn"`
}

func readAnthropic(r *reader) {
	if !r.req.Limited {
		r.note("max_tokens", "missing", "Field required")
	}
	switch system := r.lastValue("system"); {
	case system.Type == gjson.String:
		r.addMessage("system", system.Str)
	case system.IsArray():
		var text strings.Builder
		for _, block := range system.Array() {
			text.WriteString(block.Get("text").Str)
		}
		r.addMessage("system", text.String())
	}
	r.conversation()
}
