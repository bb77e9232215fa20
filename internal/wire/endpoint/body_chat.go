package endpoint

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

func chatPrompt(b *bodyWriter, o *Options, req *workload.Request, free func(string) bool) error {
	if !free("messages") {
		return nil
	}
	return openAIMessages(b.name("messages"), o, req)
}

// openAIMessages writes a chat: as it is given, or of one message of the user's.
func openAIMessages(b *bodyWriter, o *Options, req *workload.Request) error {
	if req.Messages != nil {
		b.raw(req.Messages)
		return nil
	}
	b.user(o, req, openAIPart)
	return nil
}

// user writes a chat of one message of the user's, each part of it in a protocol's way.
func (b *bodyWriter) user(o *Options, req *workload.Request, part func(*bodyWriter, string, *workload.Media)) {
	b.rawString(`[{"role":"user","content":`)
	switch {
	case req.Parts != nil:
		b.raw(req.Parts)
	case len(req.Media) == 0 && !o.PartsAlways:
		b.text(req.Text)
	default:
		b.parts(o, req, part)
	}
	b.rawString("}]")
}

// parts writes the text and the media, each as a typed part in a protocol's way; a
// nil medium stands for the text.
func (b *bodyWriter) parts(o *Options, req *workload.Request, part func(*bodyWriter, string, *workload.Media)) {
	b.rawString("[")
	if !o.MediaFirst {
		part(b, req.Text, nil)
	}
	for i := range req.Media {
		if i > 0 || !o.MediaFirst {
			b.rawString(",")
		}
		part(b, "", &req.Media[i])
	}
	if o.MediaFirst {
		if len(req.Media) > 0 {
			b.rawString(",")
		}
		part(b, req.Text, nil)
	}
	b.rawString("]")
}

// openAIPart writes a part of a chat: vLLM's and SGLang's names for what OpenAI has
// no part for, video and the address of a sound.
func openAIPart(b *bodyWriter, text string, m *workload.Media) {
	if m == nil {
		b.rawString(`{"type":"text","text":`)
		b.text(text)
		b.rawString("}")
		return
	}
	kind := mediaKind(*m)
	if kind == "audio" && m.URL == "" {
		b.rawString(`{"type":"input_audio","input_audio":{"data":"`)
		b.base64(m.Data)
		b.rawString(`","format":"` + soundFormat(m.MIME) + `"}}`)
		return
	}
	b.rawString(`{"type":"` + kind + `_url","` + kind + `_url":{"url":`)
	b.address(*m)
	b.rawString("}}")
}

// address writes where a medium is, or a data URL of it.
func (b *bodyWriter) address(m workload.Media) {
	if m.URL != "" {
		b.text(m.URL)
		return
	}
	b.rawString(`"data:` + m.MIME + `;base64,`)
	b.base64(m.Data)
	b.rawString(`"`)
}

func (b *bodyWriter) base64(data []byte) { b.body = base64.StdEncoding.AppendEncode(b.body, data) }

// mediaKind is image, video or audio; what does not say is a picture.
func mediaKind(m workload.Media) string {
	switch kind, _, _ := strings.Cut(m.MIME, "/"); kind {
	case "video", "audio":
		return kind
	}
	return "image"
}

// soundFormat is the name that the OpenAI API has for a type of sound.
func soundFormat(contentType string) string {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = contentType
	}
	_, format, _ := strings.Cut(kind, "/")
	switch format = strings.TrimPrefix(format, "x-"); format {
	case "mpeg":
		return "mp3"
	case "wave", "vnd.wave":
		return "wav"
	}
	return format
}

// responsesPrompt writes OpenAI's newer form of a chat: a text, or a list of items.
func responsesPrompt(b *bodyWriter, o *Options, req *workload.Request, free func(string) bool) error {
	switch {
	case !free("input"):
	case req.Messages != nil:
		b.name("input").raw(req.Messages)
	case len(req.Media) == 0 && !o.PartsAlways:
		b.name("input").text(req.Text)
	default:
		b.name("input").user(o, req, responsesPart)
	}
	return nil
}

func responsesPart(b *bodyWriter, text string, m *workload.Media) {
	if m == nil {
		b.rawString(`{"type":"input_text","text":`)
		b.text(text)
		b.rawString("}")
		return
	}
	b.rawString(`{"type":"input_image","image_url":`)
	b.address(*m)
	b.rawString("}")
}

// defaultMaxTokens bounds answers of the messages protocol, which needs a bound, of
// requests without one.
const defaultMaxTokens = "4096"

// messagesPrompt writes Anthropic's form of a chat, in which the system prompt is not one of the
// messages.
func messagesPrompt(b *bodyWriter, o *Options, req *workload.Request, free func(string) bool) error {
	if req.OutputTokens <= 0 && free("max_tokens") {
		b.name("max_tokens").rawString(defaultMaxTokens)
	}
	switch {
	case !free("messages"):
	case req.Messages != nil:
		return withoutSystem(b, req.Messages, free)
	default:
		b.name("messages").user(o, req, messagesPart)
	}
	return nil
}

func messagesPart(b *bodyWriter, text string, m *workload.Media) {
	switch {
	case m == nil:
		b.rawString(`{"type":"text","text":`)
		b.text(text)
	case m.URL != "":
		b.rawString(`{"type":"image","source":{"type":"url","url":`)
		b.text(m.URL)
		b.rawString("}")
	default:
		b.rawString(`{"type":"image","source":{"type":"base64","media_type":"` + m.MIME + `","data":"`)
		b.base64(m.Data)
		b.rawString(`"}`)
	}
	b.rawString("}")
}

// withoutSystem writes OpenAI's messages as Anthropic's: the system's words, which
// come first there, have a field of their own.
func withoutSystem(b *bodyWriter, messages json.RawMessage, free func(string) bool) error {
	var list []json.RawMessage
	if err := json.Unmarshal(messages, &list); err != nil {
		return fmt.Errorf("messages: %w", err)
	}
	var first struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if len(list) > 0 && json.Unmarshal(list[0], &first) == nil && first.Role == "system" {
		if free("system") {
			b.name("system").raw(first.Content)
		}
		list = list[1:]
	}
	b.name("messages").rawString("[")
	for i, m := range list {
		if i > 0 {
			b.rawString(",")
		}
		b.raw(m)
	}
	b.rawString("]")
	return nil
}
