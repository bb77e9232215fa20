package phrase

import (
	"bytes"
	"errors"
	"io"
	"math"
	"mime"
	"mime/multipart"

	"github.com/tidwall/gjson"
)

// Transcription is OpenAI's way to have speech written down, as vLLM serves it. The
// request is a form; an event is a chat's without what does not change.
var Transcription = &Protocol{
	Name: "transcription", Routes: []string{"/v1/audio/transcriptions"}, Form: true, Marked: true,
	Limit: "max_tokens", Least: "min_tokens", prefix: "trsc-", failure: openAIFailure,
	fields: formFields, read: readSpeech,
	frame: func(w *Writer) frame {
		return frame{
			head: "data: " + w.identity("transcription.chunk") + `,"choices":[`, open: `{"delta":{"content":"`,
			close: `"}}]`, last: `"},"finish_reason":"` + w.Finish + `","stop_reason":null}]`,
		}
	},
	unstreamed: func(w *Writer, dst []byte) []byte {
		if w.Plain {
			return append(w.tokens(dst, w.Tokens), '\n')
		}
		dst = w.tokens(append(dst, `{"text":"`...), w.Tokens)
		return append(appendInt(dst, `","usage":{"type":"duration","seconds":`, int(math.Ceil(w.Seconds))), '}', '}')
	},
	mediaType: func(a *Answer) string {
		if a.Plain {
			return "text/plain; charset=utf-8"
		}
		return JSON
	},
}

func (r *reader) form(mediaType string, body []byte) *Error {
	kind, options, _ := mime.ParseMediaType(mediaType)
	if kind != "multipart/form-data" {
		return BadRequest("", nil, "want multipart/form-data, with the sound as the field file")
	}
	for parts := multipart.NewReader(bytes.NewReader(body), options["boundary"]); ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		var value []byte
		if err == nil {
			value, err = io.ReadAll(part)
		}
		if err != nil {
			return BadRequest("", nil, "read the form: %v", err)
		}
		name, text := part.FormName(), string(value)
		if read := r.req.Protocol.fields[name]; read != nil {
			read(r, name, gjson.Result{Type: gjson.String, Str: text, Raw: text})
		}
	}
	r.req.Protocol.read(r)
	return nil
}

var formFields = fields{
	"model": readModel, "stream": readStream, "ignore_eos": readEOS, "max_completion_tokens": readLimit,
	"stream_include_usage":          readBoolean(func(q *Request) *bool { return &q.Usage }),
	"stream_continuous_usage_stats": readBoolean(func(q *Request) *bool { return &q.Continuous }),
	"response_format": func(r *reader, _ string, v gjson.Result) {
		if r.req.Plain = v.Str == "text"; !r.req.Plain && v.Str != "json" {
			r.refusef("response_format", v.Str, "this server transcribes as json or text.")
		}
	},
	"file": func(r *reader, _ string, v gjson.Result) { r.req.Media = []Media{{Sound: []byte(v.Str)}} },
}

// readSpeech settles what depends on other fields.
func readSpeech(r *reader) {
	q := &r.req
	q.Fill, q.Usage, q.Continuous = !q.Limited, q.Usage && q.Stream, q.Continuous && q.Stream
	if len(q.Media) == 0 || len(q.Media[0].Sound) == 0 {
		r.note("file", "missing", "Field required")
	}
}
