package apiserver

import (
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// A form is the fields of a transcription's request and its sound.
type form struct {
	fields map[string]string
	sound  []byte
}

// readForm reads a body of parts.
func readForm(w http.ResponseWriter, r *http.Request) (form, *apiError) {
	f := form{fields: map[string]string{}}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "multipart/form-data" {
		return f, badRequest("", nil, "want multipart/form-data, with the sound as the field file")
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	parts, err := r.MultipartReader()
	if err != nil {
		return f, badRequest("", nil, "read the form: %v", err)
	}
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		var value []byte
		if err == nil {
			value, err = io.ReadAll(part)
		}
		if err != nil {
			e := badRequest("", nil, "read the form: %v", err)
			e.gone = r.Context().Err() != nil
			return f, e
		}
		if part.FormName() == "file" {
			f.sound = value
		} else {
			f.fields[part.FormName()] = string(value)
		}
	}
}

// decodeTranscription reads a request for a transcription. The prompt is the sound,
// and the few tokens that tell the model its task.
func decodeTranscription(f form) (*request, *apiError) {
	d := &decoder{n: 1, req: request{api: transcriptionAPI, fill: true}}
	r := &d.req
	for name, value := range f.fields {
		v, loc := gjson.Result{Type: gjson.String, Str: value, Raw: value}, "body."+name
		switch name {
		case "model":
			r.model = strings.Clone(value)
		case "stream":
			d.boolean(loc, v, &r.stream)
		case "stream_include_usage":
			d.boolean(loc, v, &r.usage)
		case "stream_continuous_usage_stats":
			d.boolean(loc, v, &r.continuousUsage)
		case "ignore_eos":
			d.boolean(loc, v, &r.ignoreEOS)
		case "max_completion_tokens":
			d.integer(loc, v, &r.maxTokens, nil)
			r.fill = false
		case "response_format":
			switch value {
			case "json":
			case "text":
				r.plainText = true
			default:
				d.refuse(badRequest(name, value, "this server transcribes as json or text."))
			}
		}
	}
	r.usage, r.continuousUsage = r.usage && r.stream, r.continuousUsage && r.stream
	if len(f.sound) == 0 {
		d.note("body.file", "missing", "Field required")
	}
	media, seconds := readSound(f.sound)
	r.images, r.seconds, r.prompt = []engine.Image{media}, seconds, make([]int32, taskTokens)
	if err := d.err(); err != nil {
		return nil, err
	}
	d.check()
	return r, d.refused
}

// taskTokens is how many tokens tell a model of speech the language and what to do.
const taskTokens = 4

// transcribed words an answer as vLLM's /v1/audio/transcriptions does: a chat's
// chunks without what does not change.
type transcribed struct {
	*exchange
	bare
	created int64
}

func (t *transcribed) open(c *chunks) {
	c.open()
	c.buf = appendIdentity(c.buf, t.id, "transcription.chunk", t.req.model, t.created)
	c.buf = append(c.buf, `,"choices":[{"delta":{"content":"`...)
}

func (t *transcribed) close(c *chunks, tokens int, last bool) {
	c.buf = append(c.buf, `"}`...)
	if last {
		c.buf = append(c.buf, `,"finish_reason":"`+t.plan.finish+`","stop_reason":null`...)
	}
	c.buf = append(c.buf, `}]`...)
	if t.req.continuousUsage && !t.traits.noUsage {
		c.buf = appendUsage(c.buf, t.plan.promptTokens, tokens)
	}
	c.buf = append(c.buf, '}')
	c.end()
}

func (t *transcribed) conclude(c *chunks) {
	if !t.req.usage || t.traits.noUsage {
		return
	}
	c.open()
	c.buf = appendIdentity(c.buf, t.id, "transcription.chunk", t.req.model, t.created)
	c.buf = append(c.buf, `,"choices":[]`...)
	c.buf = append(appendUsage(c.buf, t.plan.promptTokens, t.plan.tokens), '}')
	c.end()
}

func (t *transcribed) whole() []byte {
	if t.req.plainText {
		return append(t.text.appendText(nil, t.plan.tokens), '\n')
	}
	b := append(t.text.appendText([]byte(`{"text":"`), t.plan.tokens), `","usage":{"type":"duration","seconds":`...)
	b = strconv.AppendInt(b, int64(math.Ceil(t.req.seconds)), 10)
	return append(b, '}', '}')
}
