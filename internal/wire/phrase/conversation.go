package phrase

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// addMessage adds a message to the chat that is the prompt.
func (r *reader) addMessage(role, text string) {
	r.req.Messages = append(r.req.Messages, Message{role, text})
}

func (r *reader) conversation() {
	const loc = "messages"
	v := r.lastValue(loc)
	switch {
	case !v.Exists():
		r.note(loc, "missing", "Field required")
	case !v.IsArray():
		r.note(loc, "list_type", notList)
	default:
		for i, m := range v.Array() {
			r.message(loc+"."+strconv.Itoa(i), m)
		}
		r.wantMessages("messages")
	}
}

func (r *reader) wantMessages(field string) {
	if len(r.req.Messages)+len(r.bad) == 0 {
		r.refusef("", nil, "%s must hold at least one message.", field)
	}
}

func (r *reader) message(loc string, m gjson.Result) {
	if !m.IsObject() {
		r.note(loc, "dict_type", notDict)
		return
	}
	role, content := m.Get("role"), m.Get("content")
	var name, text string
	r.str(loc+".role", role, &name)
	if role.Type == gjson.Null {
		r.note(loc+".role", "missing", "Field required")
	}
	if content.IsArray() {
		var parts []string
		for i, part := range content.Array() {
			parts = append(parts, r.part(loc+".content."+strconv.Itoa(i), part))
		}
		text = strings.Join(parts, "\n")
	} else {
		r.str(loc+".content", content, &text)
	}
	r.addMessage(name, text)
}

// part is the text of a part of a message, empty for one that is media.
func (r *reader) part(loc string, p gjson.Result) (text string) {
	if p.Type == gjson.String {
		return p.Str
	}
	switch kind := p.Get("type").String(); kind {
	case "text", "input_text", "output_text":
		r.str(loc+".text", p.Get("text"), &text)
	case "image_url", "input_image":
		r.image(loc, p.Get("image_url"))
	case "image":
		r.source("body."+loc+".source: ", p.Get("source"))
	case "input_audio":
		r.sound(p.Get("input_audio.data").Str)
	case "video_url", "audio_url":
		r.refusef("", nil, "At most 0 %s(s) may be provided in one prompt.", strings.TrimSuffix(kind, "_url"))
	default:
		r.refusef("", nil, "Unknown part type: %s", kind)
	}
	return text
}

// image takes {"url": "data:…"} or the bare URL.
func (r *reader) image(loc string, v gjson.Result) {
	if v.IsObject() {
		v = v.Get("url")
		loc += ".url"
	}
	r.picture(loc, v)
}

func (r *reader) picture(loc string, v gjson.Result) {
	if v.Type != gjson.String {
		r.note(loc, "string_type", notString)
		return
	}
	r.req.Media = append(r.req.Media, Media{URL: v.Str})
}

// source takes a picture of the messages API.
func (r *reader) source(place string, v gjson.Result) {
	url := v.Get("url").Str
	if v.Get("type").Str == "base64" {
		url = "data:" + v.Get("media_type").Str + ";base64," + v.Get("data").Str
	}
	r.req.Media = append(r.req.Media, Media{Place: place, URL: url})
}

func (r *reader) sound(data string) {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(b) == 0 {
		r.refusef("", nil, "input_audio.data: want a sound in base64")
		return
	}
	r.req.Media = append(r.req.Media, Media{Sound: b})
}
