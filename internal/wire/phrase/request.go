package phrase

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// A Request is what a client asks for, checked.
type Request struct {
	Protocol *Protocol
	Model    string // or adapter; empty if none is named
	ID       string // of the request, if it names one
	Prompt
	Media    []Media // in addition to the prompt, in order
	Priority int

	MaxTokens   int  // the limit, or the default of the protocol
	Limited     bool // a limit was given
	Fill        bool // none was, and the default is as many as the context has room for
	MinTokens   int
	EndID       int // the token that ends an answer, if the request names one; or -1
	IgnoreEOS   bool
	Stop        []string
	IncludeStop bool // the stop string is part of the text shown

	Stream     bool
	Usage      bool // the stream ends with the usage
	Continuous bool // every event has it too
	Details    bool // TGI: the answer says how it ended
	Plain      bool // a transcription is wanted as a text, without JSON

	Texts *Texts // to be embedded or ranked

	// Unserved refuses the first field that asks for more than text, such as
	// logprobs. A server may go on without it.
	Unserved *Error
}

// A Prompt has one of its fields.
type Prompt struct {
	Text     string
	IDs      []int32
	Messages []Message // the last is to be answered
}

// A Message is one of a chat. Text has its parts, a line each; a part that is no text
// is an empty one.
type Message struct{ Role, Text string }

func (p *Prompt) empty() bool { return p.Text == "" && len(p.IDs)+len(p.Messages) == 0 }

// A Media is a picture or a sound.
type Media struct {
	Place string // where it stands in the body, if an error is to say so
	URL   string // of a picture
	Sound []byte
}

// A reader reads one request, field by field in the order they come.
type reader struct {
	schema
	body    gjson.Result
	req     Request
	late    []lateField // values that need other fields
	choices int
	refused *Error // the first thing that fits the schema but is not served
}

// Read reads the body that came to the route of a protocol. The request has its
// protocol even if it does not fit the schema; one that fits is all there, also if it
// is refused. It may hold on to the body by its prompt and media, and by nothing else.
//
// One prompt and one choice are all that is answered.
func Read(route, mediaType string, body []byte) (*Request, *Error) {
	r := newReader(At(route))
	read := r.json
	if r.req.Protocol.Form {
		read = r.form
	}
	err := read(mediaType, body)
	if err == nil {
		err = r.err()
	}
	if err != nil {
		return &Request{Protocol: r.req.Protocol}, err
	}
	r.check()
	r.req.Stream = r.req.Stream || strings.HasSuffix(route, "_stream")
	req := r.req // a copy: r holds on to the body
	return &req, r.refused
}

func newReader(p *Protocol) *reader {
	r := &reader{
		choices: 1, late: make([]lateField, 0, 4), req: Request{Protocol: p, MaxTokens: cmp.Or(p.usual, 16), EndID: -1},
	}
	if p.Silent {
		r.req.Texts = &Texts{Dimensions: dimensions, Encoding: "float"}
	}
	return r
}

func (r *reader) json(_ string, body []byte) (err *Error) {
	if r.body, err = parseObject(body); err == nil {
		r.read()
	}
	return err
}

// read reads an object by the request's protocol.
func (r *reader) read() {
	p := r.req.Protocol
	p.fields.read(r, "", r.body)
	p.read(r)
}

func (r *reader) refuse(e *Error) {
	if r.refused == nil {
		r.refused = e
	}
}

func (r *reader) refusef(param string, value any, format string, args ...any) {
	r.refuse(BadRequest(param, value, format, args...))
}

// wantText refuses an empty prompt.
func (r *reader) wantText(message string) {
	if r.req.empty() {
		r.refusef("", nil, "%s", message)
	}
}

// check refuses values that no request may have.
func (r *reader) check() {
	q := &r.req
	most, least := q.Protocol.Limit, q.Protocol.Least
	switch {
	case r.choices < 1:
		r.refusef("n", r.choices, "n must be at least 1, got %d.", r.choices)
	case r.choices > 1:
		r.refusef("n", r.choices, "this server makes one choice per request, got n=%d.", r.choices)
	case !q.Fill && q.MaxTokens < 1:
		r.refusef(most, q.MaxTokens, "%s must be at least 1, got %d.", most, q.MaxTokens)
	case q.MinTokens < 0:
		r.refusef(least, q.MinTokens, "%s must be greater than or equal to 0, got %d.", least, q.MinTokens)
	case !q.Fill && q.MinTokens > q.MaxTokens:
		r.refusef(least, q.MinTokens, "%s must be less than or equal to %s=%d, got %d.", least, most, q.MaxTokens,
			q.MinTokens)
	}
	if slices.Contains(q.Stop, "") {
		r.refusef("", nil, "stop cannot contain an empty string.")
	}
}
