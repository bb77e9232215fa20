package apiserver

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/tidwall/gjson"
)

// tgiErrorEvent is what text-generation-inference sends when generation fails in
// mid-stream.
const tgiErrorEvent = `data:{"error":"Request failed during generation: Server error","error_type":"generation"}`

// asksTGI tells the one of the two requests that have the route /generate.
func asksTGI(body []byte) bool {
	found := gjson.GetManyBytes(body, "inputs", "text", "input_ids")
	return found[0].Exists() && !found[1].Exists() && !found[2].Exists()
}

// tgi reads a request of text-generation-inference.
func (d *decoder) tgi(object gjson.Result) {
	d.req.maxTokens = 100
	text := ""
	d.str("body.inputs", object.Get("inputs"), &text)
	d.req.prompt = d.v.encode(nil, text)
	if len(d.req.prompt) == 0 {
		d.refuse(badRequest("", nil, "`inputs` cannot be empty"))
	}
	d.boolean("body.stream", object.Get("stream"), &d.req.stream)
	object.Get("parameters").ForEach(func(key, v gjson.Result) bool {
		loc := "body.parameters." + key.Str
		switch key.Str {
		case "max_new_tokens":
			d.req.fill = v.Type == gjson.Null
			d.integer(loc, v, &d.req.maxTokens, nil)
		case "stop":
			d.stopStrings(loc, v)
		case "ignore_eos_token":
			d.boolean(loc, v, &d.req.ignoreEOS)
		case "details":
			d.boolean(loc, v, &d.req.details)
		case "adapter_id":
			d.str(loc, v, &d.req.model)
		case "best_of":
			d.integer(loc, v, &d.n, nil)
		}
		return true
	})
}

// tgi words an answer as text-generation-inference does: a token an event.
type tgi struct {
	*exchange
	bare
	shown []byte // text so far
	from  int    // where the text of the open event begins
	list  []byte // of the tokens, where they are wanted in one piece
}

func newTGI(x *exchange) *tgi {
	x.text.keep = true
	return &tgi{exchange: x}
}

func (t *tgi) open(c *chunks) {
	c.buf = append(c.buf, `data:{"index":`...)
	c.buf = strconv.AppendInt(c.buf, int64(len(t.text.ids)+1), 10)
	c.buf = append(c.buf, `,"token":`...)
	c.events++
	t.openToken(c)
}

// openToken begins a token; its text follows.
func (t *tgi) openToken(c *chunks) {
	c.buf = append(c.buf, `{"text":"`...)
	t.from = len(c.buf)
}

func (t *tgi) closeToken(c *chunks) {
	t.shown = append(t.shown, c.buf[t.from:]...)
	c.buf = append(c.buf, `","id":`...)
	c.buf = strconv.AppendInt(c.buf, int64(t.text.ids[len(t.text.ids)-1]), 10)
	c.buf = append(c.buf, `,"logprob":-0.5,"special":false}`...)
}

func (t *tgi) close(c *chunks, tokens int, last bool) {
	t.closeToken(c)
	if !last {
		c.buf = append(c.buf, `,"generated_text":null,"details":null}`...)
		c.end()
		return
	}
	c.buf = append(c.buf, `,"generated_text":"`...)
	c.buf = append(c.buf, t.shown...)
	c.buf = append(c.buf, `","details":`...)
	c.buf = append(t.details(c.buf, tokens), '}')
	c.end()
}

// details say how the answer ended, if that is wanted.
func (t *tgi) details(dst []byte, tokens int) []byte {
	if !t.req.details {
		return append(dst, "null"...)
	}
	reason := "length"
	switch {
	case t.plan.stopReason != "":
		reason = "stop_sequence"
	case t.plan.finish == "stop":
		reason = "eos_token"
	}
	dst = append(dst, `{"finish_reason":"`+reason+`","generated_tokens":`...)
	dst = strconv.AppendInt(dst, int64(tokens), 10)
	dst = append(dst, `,"seed":null,"input_length":`...)
	dst = strconv.AppendInt(dst, int64(t.plan.promptTokens), 10)
	if t.list != nil {
		dst = append(append(append(dst, `,"prefill":[],"tokens":[`...), t.list...), ']')
	}
	return append(dst, '}')
}

func (t *tgi) whole() []byte {
	tokens := chunks{buf: []byte{}}
	for i := range t.plan.tokens {
		if i > 0 {
			tokens.buf = append(tokens.buf, ',')
		}
		t.openToken(&tokens)
		tokens.buf = t.text.appendText(tokens.buf, 1)
		t.closeToken(&tokens)
	}
	t.list = tokens.buf
	b := append([]byte(`{"generated_text":"`), t.shown...)
	b = append(b, '"')
	if t.req.details {
		b = t.details(append(b, `,"details":`...), t.plan.tokens)
	}
	return append(b, '}')
}

// tgiBody tells an error as text-generation-inference does.
func (e *apiError) tgiBody() []byte {
	kind := "generation"
	switch e.Code {
	case http.StatusBadRequest:
		kind = "validation"
	case http.StatusTooManyRequests:
		kind = "overloaded"
	}
	b, _ := json.Marshal(map[string]string{"error": e.Message, "error_type": kind})
	return b
}

// tgiStatus is the status it has there.
func tgiStatus(e *apiError) int {
	if e.Code == http.StatusBadRequest {
		return http.StatusUnprocessableEntity
	}
	return e.Code
}
