package apiserver

import (
	"encoding/json"
	"strconv"
)

// A phrasing is how an API words an answer, where it is not as OpenAI's two older
// ones do. Its methods add to the events of c.
type phrasing interface {
	accept(c *chunks)                       // says that the request is taken
	begin(c *chunks)                        // goes ahead of the first output
	open(c *chunks)                         // starts an event of output; the text is appended next
	close(c *chunks, tokens int, last bool) // ends it, after so many tokens in all
	conclude(c *chunks)                     // follows the last output
	whole() []byte                          // is the response that is no stream
}

// bare is what a phrasing has that puts nothing around the output.
type bare struct{}

func (bare) accept(*chunks)   {}
func (bare) begin(*chunks)    {}
func (bare) conclude(*chunks) {}

// chunks formats the events of one stream, field for field as vLLM's:
//
//	data: {"id":…,"object":…,"created":…,"model":…,"choices":[ ┃ {…}]} ⏎⏎
//	└──────────────── prefix, formatted once ──────────────────┘
//
// An event is a few appends to a buffer that is reused, and no allocation.
type chunks struct {
	prefix []byte
	buf    []byte // the events formatted since clear
	events int    // how many
	chat   bool
	crlf   bool
	usage  bool // every chunk tells the usage so far
	prompt int  // prompt tokens, for the usage
	cached int  // of them, found in a prefix cache; negative where there is none

	other phrasing // not nil for an API whose events are of another kind
}

// newChunks makes the formatter of the response id of a model.
func newChunks(chat bool, id, model string, created int64) chunks {
	object := "text_completion"
	if chat {
		object = "chat.completion.chunk"
	}
	prefix := appendIdentity([]byte("data: "), id, object, model, created)
	prefix = append(prefix, `,"choices":[`...)
	return chunks{chat: chat, prefix: prefix, cached: -1, buf: make([]byte, 0, len(prefix)+256)}
}

// appendIdentity opens the JSON object of a response or chunk.
func appendIdentity(dst []byte, id, object, model string, created int64) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, id)
	dst = append(dst, `,"object":"`+object+`","created":`...)
	dst = strconv.AppendInt(dst, created, 10)
	dst = append(dst, `,"model":`...)
	return appendString(dst, model)
}

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	b, _ := json.Marshal(s) // a string always can be
	return append(dst, b...)
}

// clear starts a new write.
func (c *chunks) clear() {
	c.buf = c.buf[:0]
	c.events = 0
}

// open starts a chunk.
func (c *chunks) open() {
	c.buf = append(c.buf, c.prefix...)
	c.events++
}

func (c *chunks) end() {
	if c.crlf {
		c.buf = append(c.buf, "\r\n\r\n"...)
	} else {
		c.buf = append(c.buf, "\n\n"...)
	}
}

// role formats the first chunk of a chat.
func (c *chunks) role() {
	c.open()
	c.buf = append(c.buf, `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`...)
	c.usageSoFar(0)
	c.buf = append(c.buf, `,"prompt_token_ids":null}`...)
	c.end()
}

// openText starts an event of output; the text is appended to buf next.
func (c *chunks) openText() {
	if c.other != nil {
		c.other.open(c)
		return
	}
	c.open()
	switch {
	case c.chat:
		c.buf = append(c.buf, `{"index":0,"delta":{"content":"`...)
	default:
		c.buf = append(c.buf, `{"index":0,"text":"`...)
	}
}

// closeText ends an event of output that is not the last; tokens is how many
// the stream has sent with it.
func (c *chunks) closeText(tokens int) {
	if c.other != nil {
		c.other.close(c, tokens, false)
		return
	}
	if c.chat {
		c.buf = append(c.buf, `"},"logprobs":null,"finish_reason":null,"token_ids":null}]`...)
	} else {
		c.buf = append(c.buf, `","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]`...)
	}
	c.usageSoFar(tokens)
	c.buf = append(c.buf, '}')
	c.end()
}

// finishText ends the last event of output.
func (c *chunks) finishText(tokens int, finish, stopReason string) {
	if c.other != nil {
		c.other.close(c, tokens, true)
		return
	}
	if c.chat {
		c.buf = append(c.buf, '"', '}')
	} else {
		c.buf = append(c.buf, '"')
	}
	c.buf = append(c.buf, `,"logprobs":null,"finish_reason":"`...)
	c.buf = append(c.buf, finish...)
	c.buf = append(c.buf, `","stop_reason":`...)
	c.buf = appendStopReason(c.buf, stopReason)
	if !c.chat {
		c.buf = append(c.buf, `,"prompt_token_ids":null`...)
	}
	c.buf = append(c.buf, `,"token_ids":null}]`...)
	c.usageSoFar(tokens)
	c.buf = append(c.buf, '}')
	c.end()
}

func appendStopReason(dst []byte, reason string) []byte {
	if reason == "" {
		return append(dst, "null"...)
	}
	return appendString(dst, reason)
}

func (c *chunks) usageSoFar(tokens int) {
	if c.usage {
		c.buf = appendUsage(c.buf, c.prompt, tokens)
	}
}

// appendUsage appends a usage object as a further member; the order of its
// fields is vLLM's.
func appendUsage(dst []byte, prompt, tokens int) []byte {
	dst = append(dst, `,"usage":{"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(prompt), 10)
	dst = append(dst, `,"total_tokens":`...)
	dst = strconv.AppendInt(dst, int64(prompt+tokens), 10)
	dst = append(dst, `,"completion_tokens":`...)
	dst = strconv.AppendInt(dst, int64(tokens), 10)
	return append(dst, '}')
}

// appendCached adds to the usage at the end of dst how much of the prompt was
// cached: vLLM with --enable-prompt-tokens-details, but 0 is told too.
func appendCached(dst []byte, cached int) []byte {
	dst = append(dst[:len(dst)-1], `,"prompt_tokens_details":{"cached_tokens":`...)
	dst = strconv.AppendInt(dst, int64(cached), 10)
	return append(dst, '}', '}')
}

// total formats the chunk that tells only the usage.
func (c *chunks) total(tokens int) {
	c.open()
	c.buf = append(c.buf, ']')
	c.buf = appendUsage(c.buf, c.prompt, tokens)
	if c.cached >= 0 {
		c.buf = appendCached(c.buf, c.cached)
	}
	c.buf = append(c.buf, '}')
	c.end()
}

// line formats an event that is no chunk.
func (c *chunks) line(text string) {
	c.events++
	c.comment(text)
}

// comment formats lines that are no event.
func (c *chunks) comment(text string) {
	c.buf = append(c.buf, text...)
	c.end()
}
