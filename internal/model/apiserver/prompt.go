package apiserver

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// textPrompt reads the prompt of a completion: a string, a list of token ids,
// or a list of one of these.
func (d *decoder) textPrompt() {
	v := d.prompt
	if v.IsArray() {
		switch elements := v.Array(); {
		case len(elements) == 0:
			v = gjson.Result{}
		case elements[0].Type == gjson.Number:
			d.tokenPrompt("body.prompt", elements)
			return
		case len(elements) > 1:
			d.refuse(badRequest("", nil, "this server takes one prompt per request, got a list of %d.", len(elements)))
			return
		case elements[0].IsArray():
			d.tokenPrompt("body.prompt.0", elements[0].Array())
			return
		default:
			v = elements[0]
		}
	}
	var text string
	d.str("body.prompt", v, &text)
	if text == "" && (v.Type == gjson.Null || v.Type == gjson.String) {
		d.refuseEmpty()
	}
	d.req.prompt = d.v.encode(nil, text)
}

func (d *decoder) refuseEmpty() {
	d.refuse(ruleError("prompt", "Either prompt or prompt_embeds must be provided and non-empty."))
}

// tokenPrompt takes ids beyond the vocabulary too: a client may well have
// another tokenizer, and only their number and identity matter here.
func (d *decoder) tokenPrompt(loc string, ids []gjson.Result) {
	if len(ids) == 0 {
		d.refuseEmpty()
	}
	d.req.prompt = d.tokenIDs(loc, ids)
}

func (s *schema) tokenIDs(loc string, ids []gjson.Result) []int32 {
	out := make([]int32, 0, len(ids))
	for i, e := range ids {
		id := -1
		before := len(s.bad)
		at := loc + "." + strconv.Itoa(i)
		if e.Type != gjson.Number {
			s.note(at, "int_type", "Input should be a valid integer")
			continue
		}
		s.integer(at, e, &id, nil)
		if len(s.bad) == before && (id < 0 || id > math.MaxInt32) {
			s.note(at, "greater_than_equal", "Input should be greater than or equal to 0 and fit 31 bits")
		}
		out = append(out, int32(id))
	}
	return out
}

// chatPrompt reads the messages of a chat and renders them.
func (d *decoder) chatPrompt() {
	c := conversation{schema: &d.schema}
	c.read(d.messages)
	if c.refused != nil {
		d.refuse(c.refused)
	}
	d.req.prompt = d.v.encode(nil, c.render(true))
	d.req.images = c.images
}

// A conversation is the messages of a chat, rendered as
//
//	user: What is in this picture?
//	assistant: A pitot tube.
//	user: And behind it?
//	assistant:
//
// There are no special tokens; an image adds tokens but no text.
type conversation struct {
	*schema
	text    strings.Builder
	images  []engine.Image
	refused *apiError
}

func (c *conversation) refuse(e *apiError) {
	if c.refused == nil {
		c.refused = e
	}
}

// render is the prompt, with the opening of the answer if asked for.
func (c *conversation) render(generation bool) string {
	if generation {
		return c.text.String() + "assistant:"
	}
	return c.text.String()
}

func (c *conversation) read(v gjson.Result) {
	const loc = "body.messages"
	switch {
	case v.Type == gjson.Null && v.Raw == "":
		c.note(loc, "missing", "Field required")
	case !v.IsArray():
		c.note(loc, "list_type", "Input should be a valid list")
	}
	for i, m := range v.Array() {
		if v.IsArray() {
			c.message(loc+"."+strconv.Itoa(i), m)
		}
	}
	if v.IsArray() && c.text.Len() == 0 && len(c.bad) == 0 {
		c.refuse(badRequest("", nil, "messages must hold at least one message."))
	}
}

func (c *conversation) message(loc string, m gjson.Result) {
	if !m.IsObject() {
		c.note(loc, "dict_type", "Input should be a valid dictionary")
		return
	}
	role, content := m.Get("role"), m.Get("content")
	var name string
	c.str(loc+".role", role, &name)
	if role.Type == gjson.Null {
		c.note(loc+".role", "missing", "Field required")
	}
	c.text.WriteString(name)
	c.text.WriteString(": ")
	switch {
	case content.IsArray():
		for i, part := range content.Array() {
			if i > 0 {
				c.text.WriteByte('\n')
			}
			c.part(loc+".content."+strconv.Itoa(i), part)
		}
	default:
		var text string
		c.str(loc+".content", content, &text)
		c.text.WriteString(text)
	}
	c.text.WriteByte('\n')
}

func (c *conversation) part(loc string, p gjson.Result) {
	if p.Type == gjson.String {
		c.text.WriteString(p.Str)
		return
	}
	switch kind := p.Get("type").String(); kind {
	case "text", "input_text", "output_text":
		var text string
		c.str(loc+".text", p.Get("text"), &text)
		c.text.WriteString(text)
	case "image_url", "input_image":
		c.image(loc, p.Get("image_url"))
	case "image":
		c.source(loc, p.Get("source"))
	case "input_audio":
		c.sound(p.Get("input_audio.data").Str)
	case "video_url", "audio_url":
		media, _, _ := strings.Cut(strings.TrimPrefix(kind, "input_"), "_")
		c.refuse(badRequest("", nil, "At most 0 %s(s) may be provided in one prompt.", media))
	default:
		c.refuse(badRequest("", nil, "Unknown part type: %s", kind))
	}
}

// source takes a picture of the messages API.
func (c *conversation) source(loc string, v gjson.Result) {
	url := v.Get("url").Str
	if v.Get("type").Str == "base64" {
		url = "data:" + v.Get("media_type").Str + ";base64," + v.Get("data").Str
	}
	image, err := readImage(url)
	if err != nil {
		c.refuse(badRequest("", nil, "%s.source: %v", loc, err))
		return
	}
	c.images = append(c.images, image)
}

// sound takes one in base64.
func (c *conversation) sound(data string) {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(b) == 0 {
		c.refuse(badRequest("", nil, "input_audio.data: %v", errNotBase64Sound))
		return
	}
	media, _ := readSound(b)
	c.images = append(c.images, media)
}

// image takes {"url": "data:…"} or the bare URL.
func (c *conversation) image(loc string, v gjson.Result) {
	if v.IsObject() {
		v = v.Get("url")
		loc += ".url"
	}
	if v.Type != gjson.String {
		c.note(loc, "string_type", "Input should be a valid string")
		return
	}
	image, err := readImage(v.Str)
	if err != nil {
		c.refuse(badRequest("", nil, "%v", err))
		return
	}
	c.images = append(c.images, image)
}
