package apiserver

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// generate reads a request in SGLang's own form. Lists, which make it a batch
// there, are refused.
func (d *decoder) generate(object gjson.Result) {
	d.req.maxTokens = 128
	object.ForEach(func(key, value gjson.Result) bool {
		d.generateField(key.Str, value)
		return true
	})
	switch text, ids := d.text.Type != gjson.Null, d.ids.Type != gjson.Null; {
	case text == ids:
		d.refuse(badRequest("", nil, "Give either text or input_ids."))
	case text && d.text.IsArray() || ids && d.ids.Get("0").IsArray():
		d.refuse(badRequest("", nil, "this server takes one prompt per request."))
	case text:
		var text string
		d.str("body.text", d.text, &text)
		d.req.prompt = d.v.encode(nil, text)
	case !d.ids.IsArray():
		d.note("body.input_ids", "list_type", "Input should be a valid list")
	default:
		d.req.prompt = d.tokenIDs("body.input_ids", d.ids.Array())
	}
	if len(d.req.prompt) == 0 {
		d.refuse(badRequest("", nil, "The prompt is empty."))
	}
}

// generateField takes one field; those without effect on this server are
// ignored.
func (d *decoder) generateField(name string, v gjson.Result) {
	r, loc := &d.req, "body."+name
	switch name {
	case "text":
		d.text = v
	case "input_ids":
		d.ids = v
	case "sampling_params":
		d.samplingParams(loc, v)
	case "image_data":
		d.imageData(loc, v)
	case "rid", "request_id":
		d.str(loc, v, &r.id)
		r.id = strings.Clone(r.id)
	case "lora_path":
		d.str(loc, v, &r.model)
		r.model = strings.Clone(r.model) // do not hold on to the body
	case "priority":
		d.integer(loc, v, &r.priority, nil)
	case "stream":
		d.boolean(loc, v, &r.stream)
	case "input_embeds", "video_data", "audio_data", "session_params":
		d.unsupported(name, v, `[]`)
	case "return_logprob", "return_hidden_states", "return_routed_experts":
		d.unsupported(name, v)
	}
}

// samplingParams reads about length and stop strings. A max_new_tokens of null
// is no limit.
func (d *decoder) samplingParams(loc string, v gjson.Result) {
	if v.Type != gjson.Null && !v.IsObject() {
		d.note(loc, "dict_type", "Input should be a valid dictionary")
		return
	}
	r := &d.req
	v.ForEach(func(key, v gjson.Result) bool {
		loc := loc + "." + key.Str
		switch key.Str {
		case "max_new_tokens":
			r.fill = v.Type == gjson.Null
			d.integer(loc, v, &r.maxTokens, nil)
		case "min_new_tokens":
			d.integer(loc, v, &r.minTokens, nil)
		case "no_stop_trim":
			d.boolean(loc, v, &r.includeStop)
		default:
			d.sampling(key.Str, loc, v)
		}
		return true
	})
}

// imageData takes one picture or a list of them: data: URLs, or base64 alone.
func (d *decoder) imageData(loc string, v gjson.Result) {
	d.req.images = nil
	if v.IsArray() {
		for i, e := range v.Array() {
			d.picture(loc+"."+strconv.Itoa(i), e)
		}
		return
	}
	if v.Type != gjson.Null {
		d.picture(loc, v)
	}
}

func (d *decoder) picture(loc string, v gjson.Result) {
	if v.Type != gjson.String {
		d.note(loc, "string_type", "Input should be a valid string")
		return
	}
	url := v.Str
	if !strings.Contains(url, ":") {
		url = "data:;base64," + url
	}
	image, err := readImage(url)
	if err != nil {
		d.refuse(badRequest("", nil, "%v", err))
		return
	}
	d.req.images = append(d.req.images, image)
}

// A generated formats answers of /generate, field for field as SGLang's. Every
// event of a stream tells all of the answer again, so that n tokens make O(n²)
// bytes.
type generated struct {
	*exchange
	bare
	shown []byte // text so far
	from  int    // where the text of the open event begins
}

func newGenerated(x *exchange) *generated {
	x.text.keep = true
	return &generated{exchange: x}
}

// whole is the response that is no stream.
func (g *generated) whole() []byte {
	c := chunks{buf: make([]byte, 0, 512+12*g.plan.tokens)}
	g.object(&c)
	c.buf = g.text.appendText(c.buf, g.plan.tokens)
	g.closeObject(&c, g.plan.tokens, true)
	return c.buf
}

// open starts an event with the text so far; more of it is appended next.
func (g *generated) open(c *chunks) {
	c.open()
	g.object(c)
}

func (g *generated) object(c *chunks) {
	c.buf = append(c.buf, `{"text":"`...)
	g.from = len(c.buf)
	c.buf = append(c.buf, g.shown...)
}

func (g *generated) close(c *chunks, tokens int, last bool) {
	g.closeObject(c, tokens, last)
	c.end()
}

// closeObject ends an answer after so many tokens, the last of them or not.
func (g *generated) closeObject(c *chunks, tokens int, last bool) {
	dst := c.buf
	g.shown = append(g.shown[:0], dst[g.from:]...)
	dst = append(dst, `","output_ids":[`...)
	for i, id := range g.text.ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(id), 10)
	}
	dst = append(dst, `],"meta_info":{"id":`...)
	dst = appendString(dst, g.id)
	dst = append(dst, `,"finish_reason":`...)
	dst = g.finish(dst, last)
	dst = append(dst, `,"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(g.plan.promptTokens), 10)
	dst = append(dst, `,"weight_version":"default","completion_tokens":`...)
	dst = strconv.AppendInt(dst, int64(tokens), 10)
	dst = append(dst, `,"cached_tokens":`...)
	dst = strconv.AppendInt(dst, int64(max(g.cached(), 0)), 10)
	if last {
		dst = append(dst, `,"e2e_latency":`...)
		dst = strconv.AppendFloat(dst, (g.s.loop.now() - g.rec.received).Seconds(), 'f', -1, 64)
		dst = g.accepted(dst, tokens)
	}
	c.buf = append(dst, '}', '}')
}

// accepted tells how many tokens a step gave, where drafts are tried.
func (g *generated) accepted(dst []byte, tokens int) []byte {
	if g.s.cfg.Drafts() == 0 || g.ticket.steps == 0 {
		return dst
	}
	dst = append(dst, `,"spec_verify_ct":`...)
	dst = strconv.AppendInt(dst, int64(g.ticket.steps), 10)
	dst = append(dst, `,"spec_accept_length":`...)
	return strconv.AppendFloat(dst, float64(tokens)/float64(g.ticket.steps), 'f', -1, 64)
}

// finish says why the answer ended. What it says matched is the stop string;
// the natural end of an answer has no token here.
func (g *generated) finish(dst []byte, last bool) []byte {
	switch {
	case !last:
		return append(dst, "null"...)
	case g.plan.finish == "length":
		dst = append(dst, `{"type":"length","length":`...)
		dst = strconv.AppendInt(dst, int64(g.plan.tokens), 10)
	default:
		dst = append(dst, `{"type":"stop","matched":`...)
		dst = appendStopReason(dst, g.plan.stopReason)
	}
	return append(dst, '}')
}

// refuseGenerate tells an error as SGLang does. One in the values of a request
// for a stream is an event of a stream, and its status is 200.
func (x *exchange) refuseGenerate(e *apiError) error {
	if e.Code != http.StatusBadRequest || e.Type != "BadRequestError" {
		b, _ := json.Marshal(map[string]any{"object": "error", "message": e.Message, "type": e.Type, "param": nil, "code": e.Code})
		return x.respond(e.Code, b)
	}
	b, _ := json.Marshal(map[string]any{"error": map[string]string{"message": e.Message}})
	if x.req == nil || !x.req.stream {
		return x.respond(e.Code, b)
	}
	x.head(http.StatusOK, "text/event-stream; charset=utf-8", -1)
	for _, event := range []string{"data: " + string(b), doneEvent} {
		if err := x.write([]byte(event+"\n\n"), 0, 1); err != nil {
			return err
		}
	}
	return nil
}
