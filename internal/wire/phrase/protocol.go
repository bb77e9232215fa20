package phrase

import (
	"net/http"
	"slices"
)

// A Protocol is a way to ask for tokens, or for what a model makes of texts, and the
// way the answer is worded.
type Protocol struct {
	Name   string
	Routes []string // of POST requests
	Limit  string   // the field that bounds the length of an answer
	Least  string   // the field with its least length

	Silent bool // answers have no text: embeddings, scores
	Form   bool // a request is a form and not JSON
	Single bool // an event is one token
	Timed  bool // the last event says how long the answer took
	Roles  bool // a stream begins with the role of the answer
	Counts bool // an unstreamed answer has the usage, and can do without
	Marked bool // a stream ends with [DONE]

	// Of a request: the fields of its body, what follows from them once all are read,
	// and the limit of an answer if it names none (16 if 0).
	fields fields
	read   func(*reader)
	usual  int

	// Of an error: a response in place of the answer, and the event that says in the
	// midst of a stream that generation failed.
	refuse  func(e *Error, stream bool) Reply // as OpenAI does if nil
	failure string

	// Of an answer: the prefix of its id, then what a stream says with the headers,
	// ahead of the first token and after the last. An event is the text in its frame,
	// unless the protocol has a way of its own.
	prefix                  string
	accept, begin, conclude func(*Writer, []byte) []byte
	frame                   func(*Writer) frame
	event                   func(w *Writer, dst []byte, n int, last bool) []byte
	unstreamed              func(*Writer, []byte) []byte
	mediaType               func(*Answer) string // of an unstreamed answer; JSON if nil
}

var protocols = []*Protocol{
	Completions, Chat, Responses, Messages, Generate, TGI, Triton, Transcription, Embeddings, Pooling, Rerank,
}

// All are the protocols there are.
func All() []*Protocol { return slices.Clone(protocols) }

// At is the protocol of a route, or nil.
func At(route string) *Protocol {
	for _, p := range protocols {
		if slices.Contains(p.Routes, route) {
			return p
		}
	}
	return nil
}

// Named is the protocol of that name, or nil.
func Named(name string) *Protocol {
	for _, p := range protocols {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Opens tells whether a stream says something before its first token.
func (p *Protocol) Opens() bool { return p.accept != nil || p.begin != nil }

// The media types of replies.
const (
	JSON        = "application/json"
	EventStream = "text/event-stream; charset=utf-8"
)

// A Reply is a response in one piece.
type Reply struct {
	Status    int
	MediaType string
	Metadata  string // the header of that name, unless empty
	Body      []byte
	Events    int // in Body, where it is a stream
}

// JSONReply is a response of JSON.
func JSONReply(status int, body []byte) Reply {
	return Reply{Status: status, MediaType: JSON, Body: body}
}

// Refuse words an error, to a client that asked for a stream or not.
func (p *Protocol) Refuse(e *Error, stream bool) Reply {
	if p.refuse != nil {
		return p.refuse(e, stream)
	}
	return JSONReply(e.Code, e.Body())
}

// Unstreamed words an answer that is no stream.
func (p *Protocol) Unstreamed(a Answer) Reply {
	w := p.writer(a)
	r := JSONReply(http.StatusOK, p.unstreamed(w, make([]byte, 0, 512+8*a.Tokens)))
	if p.mediaType != nil {
		r.MediaType = p.mediaType(&a)
	}
	if p.Silent {
		r.Metadata = w.metadata()
	}
	return r
}

// Triton is the way to ask an ensemble of TensorRT-LLM behind Triton: the answer is the
// outputs of a model, by name.
var Triton = &Protocol{
	Name: "trt", Routes: []string{"/v2/models/ensemble/generate", "/v2/models/ensemble/generate_stream"},
	Limit: "max_tokens", Least: "min_length",
	failure: `data: {"error":"Internal server error"}`,
	fields: fields{
		"text_input": readText, "max_tokens": readLimit, "min_length": readLeast,
		"stop_words": readStop, "stream": readStream,
		"end_id": readInteger(func(q *Request) *int { return &q.EndID }),
	},
	read: func(r *reader) { r.wantText("text_input is missing or empty") },
	refuse: func(e *Error, _ bool) Reply {
		return JSONReply(e.Code, marshal(map[string]string{"error": e.Message}))
	},
	frame: func(*Writer) frame { return frame{open: "data: " + tensors, close: `"`, last: `"`} },
	unstreamed: func(w *Writer, dst []byte) []byte {
		return append(w.tokens(append(dst, tensors...), w.Tokens), '"', '}')
	},
}

const tensors = `{"context_logits":0.0,"cum_log_probs":0.0,"generation_logits":0.0,"model_name":"ensemble",` +
	`"model_version":"1","output_log_probs":0.0,"sequence_end":false,"sequence_id":0,"sequence_start":false,` +
	`"text_output":"`
