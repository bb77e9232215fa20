package phrase

import (
	"net/http"
)

// TGI is text-generation-inference's protocol; each token is an event. Its route for unstreamed
// answers is also SGLang's: [Generate] distinguishes the two.
var TGI = &Protocol{
	Name: "tgi", Routes: []string{"/generate_stream"}, Limit: "max_new_tokens", Least: "min_new_tokens", Single: true,
	failure: `data:{"error":"Request failed during generation: Server error","error_type":"generation"}`,
	refuse:  refuseTGI, usual: 100,
	fields: fields{"inputs": readText, "stream": readStream, "parameters": tgiParameters.read},
	read:   func(r *reader) { r.wantText("`inputs` cannot be empty") },
	event: func(w *Writer, dst []byte, _ int, last bool) []byte {
		dst = appendInt(dst, `data:{"index":`, w.Sent+1)
		dst = w.token(append(dst, `,"token":`...))
		if !last {
			return append(dst, `,"generated_text":null,"details":null}`...)
		}
		dst = append(append(dst, `,"generated_text":"`...), w.shown...)
		if !w.Details {
			return append(dst, `","details":null}`...)
		}
		return append(w.details(append(dst, `","details":`...)), '}', '}')
	},
	unstreamed: func(w *Writer, dst []byte) []byte {
		var tokens []byte
		for i := range w.Tokens {
			if i > 0 {
				tokens = append(tokens, ',')
			}
			tokens = w.token(tokens)
		}
		dst = append(append(append(dst, `{"generated_text":"`...), w.shown...), '"')
		if w.Details {
			dst = append(w.details(append(dst, `,"details":`...)), `,"prefill":[],"tokens":[`...)
			dst = append(append(dst, tokens...), ']', '}')
		}
		return append(dst, '}')
	},
}

func (w *Writer) token(dst []byte) []byte {
	dst = append(dst, `{"text":"`...)
	from := len(dst)
	dst = w.tokens(dst, 1)
	w.shown = append(w.shown, dst[from:]...)
	dst = appendInt(dst, `","id":`, int(w.Source.ID()))
	return append(dst, `,"logprob":-0.5,"special":false}`...)
}

// details appends how the answer ended, an object that is not closed.
func (w *Writer) details(dst []byte) []byte {
	reason := "length"
	switch {
	case w.Stop != "":
		reason = "stop_sequence"
	case w.Finish == "stop":
		reason = "eos_token"
	}
	dst = appendInt(dst, `{"finish_reason":"`+reason+`","generated_tokens":`, w.Sent)
	return appendInt(dst, `,"seed":null,"input_length":`, w.PromptTokens)
}

func refuseTGI(e *Error, _ bool) Reply {
	kind, status := "generation", e.Code
	switch e.Code {
	case http.StatusBadRequest:
		kind, status = "validation", http.StatusUnprocessableEntity
	case http.StatusTooManyRequests:
		kind = "overloaded"
	}
	return JSONReply(status, marshal(map[string]string{"error": e.Message, "error_type": kind}))
}

var tgiParameters = fields{
	"max_new_tokens": readLimitOrNull, "stop": readStop, "ignore_eos_token": readEOS,
	"adapter_id": readModel, "best_of": readChoices,
	"details": readBoolean(func(q *Request) *bool { return &q.Details }),
}
